"""The sound card."""

from typing import Final

from kubevirt.virt.convert.guest import Guest, alias
from kubevirt.virt.domain.sound import Sound
from kubevirt.virt.errors import SpecError

MODELS: Final = ("ich9", "ac97")


def sounds(guest: Guest) -> tuple[Sound, ...]:
    spec = guest.devices.sound
    if spec is None:
        return ()
    model = spec.model or "ich9"
    if model not in MODELS:
        raise SpecError("Sound device type is not supported. Options: 'ich9' or 'ac97'")
    return (Sound(model=model, alias=alias("sound device", spec.name)),)
