"""What virt-controller can do for a machine. `life.py` says which, and in which order."""

import msgspec

from kubevirt.api.core.workloads import ControllerRevision
from kubevirt.api.instance import VirtualMachineInstance


class AddFinalizer(msgspec.Struct, frozen=True):
    """virt-api does it as the machine is created; this is for one that came past it."""


class RemoveFinalizer(msgspec.Struct, frozen=True):
    """The machine may go."""


class SetAlways(msgspec.Struct, frozen=True):
    """A start of a machine that is Halted changes its strategy, by the field that it uses."""

    has_running_field: bool


class Adopt(msgspec.Struct, frozen=True):
    """An instance of the machine's name that has no controller."""

    uid: str


class CreateRevision(msgspec.Struct, frozen=True):
    revision: ControllerRevision


class DeleteRevision(msgspec.Struct, frozen=True):
    """No start will use it again."""

    name: str


class CreateInstance(msgspec.Struct, frozen=True):
    instance: VirtualMachineInstance


class DeleteInstance(msgspec.Struct, frozen=True):
    name: str
    uid: str
    """A precondition: an instance of that name may be another by now."""
    version: str | None = None
    """Another, where there is one: that whose instance it is was looked at in this version."""


Action = (
    AddFinalizer
    | RemoveFinalizer
    | SetAlways
    | Adopt
    | CreateRevision
    | DeleteRevision
    | CreateInstance
    | DeleteInstance
)
