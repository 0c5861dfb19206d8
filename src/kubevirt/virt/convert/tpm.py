"""The trusted platform module."""

from kubevirt.virt.convert.guest import Guest, is_on
from kubevirt.virt.domain.tpm import Tpm, TpmBackend


def tpms(guest: Guest) -> tuple[Tpm, ...]:
    spec = guest.devices.tpm
    if spec is None or not is_on(spec.enabled):
        return ()
    is_kept = bool(spec.persistent)
    backend = TpmBackend(type="emulator", version="2.0", persistent_state=True if is_kept else None)
    # Upstream chose the newer interface together with persistence; guests remember it by now.
    return (Tpm(model="tpm-crb" if is_kept else "tpm-tis", backend=backend),)
