"""The wish: the little that the manager itself reads of an instance.

Everything else is read by the preparer, in a process that is gone once the guest runs. A whole VMI would cost the
manager a megabyte, for as long as the guest lives.
"""

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


class Wish(_Part, frozen=True, kw_only=True):
    metadata: Identity = Identity()
    spec: Spec

    @property
    def starts_paused(self) -> bool:
        return self.spec.start_strategy == "Paused"


def wish_in(instance: bytes) -> Wish:
    try:
        return msgspec.json.decode(instance, type=Wish)
    except msgspec.DecodeError as error:
        raise UserError(f"the instance cannot be understood: {error}") from None
