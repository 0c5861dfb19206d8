"""The wish: the little that the manager itself reads of an instance.

Everything else is read by the preparer, in a process that is gone once the guest runs. A whole VMI would cost the
manager a megabyte, for as long as the guest lives.
"""

from collections.abc import Mapping

import msgspec

from kubevirt.base.errors import UserError


class _Part(msgspec.Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    pass


class Identity(_Part, frozen=True, kw_only=True):
    name: str = ""
    namespace: str | None = None
    uid: str = ""


class Card(_Part, frozen=True, kw_only=True):
    name: str
    state: str | None = None
    """up, down or absent."""


class Devices(_Part, frozen=True, kw_only=True):
    interfaces: tuple[Card, ...] = ()


class Domain(_Part, frozen=True, kw_only=True):
    devices: Devices = Devices()


class Spec(_Part, frozen=True, kw_only=True):
    domain: Domain
    start_strategy: str | None = None


class Claim(_Part, frozen=True, kw_only=True):
    capacity: Mapping[str, str | float] = {}


class VolumeState(_Part, frozen=True, kw_only=True):
    name: str
    persistent_volume_claim_info: Claim | None = None


class Status(_Part, frozen=True, kw_only=True):
    volume_status: tuple[VolumeState, ...] = ()


class Wish(_Part, frozen=True, kw_only=True):
    metadata: Identity = Identity()
    spec: Spec
    status: Status = Status()

    @property
    def starts_paused(self) -> bool:
        return self.spec.start_strategy == "Paused"

    @property
    def claims(self) -> Mapping[str, str | float | None]:
        """By volume, how large its claim is, as far as that is known."""
        infos = (
            (each.name, each.persistent_volume_claim_info) for each in self.status.volume_status
        )
        return {name: info.capacity.get("storage") for name, info in infos if info}


def wish_in(instance: bytes) -> Wish:
    try:
        return msgspec.json.decode(instance, type=Wish)
    except msgspec.DecodeError as error:
        raise UserError(f"the instance cannot be understood: {error}") from None
