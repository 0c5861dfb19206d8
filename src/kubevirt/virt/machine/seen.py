"""What virt-controller sees of a machine and decides by."""

from collections.abc import Mapping

import msgspec

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.machine import VirtualMachineSpec
from kubevirt.api.struct import NO_ENTRIES
from kubevirt.virt.happening import Failure


class MachineSeen(msgspec.Struct, frozen=True, kw_only=True):
    instance: VirtualMachineInstance | None = None
    """The one of the machine's name, whoever owns it."""
    revisions: Mapping[str, VirtualMachineSpec] = NO_ENTRIES
    """ControllerRevisions that the machine owns, by name, with the spec that each keeps."""
    has_unbound_claims: bool = False
    """Whether a claim of the instance's volumes is there and has no volume yet."""
    failure: Failure | None = None
    """What the last try to do something for the machine came to, if it was refused."""
