"""Who a guest is to itself: the UUID and the serial number of its board.

Licences, inventories and cloud-init go by them, so a machine gets its own when it is made and has them for good, also
under another name; two machines of one name, in two namespaces or one after the other, have different ones.
To draw them is the caller's part: nothing here is left to chance.
"""

import msgspec
from msgspec.structs import replace

from kubevirt.api.firmware import Firmware
from kubevirt.api.instance import VirtualMachineInstanceSpec

Spec = VirtualMachineInstanceSpec


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    uuid: str | None = None
    serial: str | None = None


NONE = Identity()


def identity_in(spec: Spec | None) -> Identity:
    firmware = spec.domain.firmware if spec else None
    return Identity(uuid=firmware.uuid, serial=firmware.serial) if firmware else NONE


def with_identity(spec: Spec, identity: Identity) -> Spec:
    """What the spec says of itself goes first."""
    own = identity_in(spec)
    uuid, serial = own.uuid or identity.uuid, own.serial or identity.serial
    if (uuid, serial) == (own.uuid, own.serial):
        return spec
    firmware = replace(spec.domain.firmware or Firmware(), uuid=uuid, serial=serial)
    return replace(spec, domain=replace(spec.domain, firmware=firmware))
