"""What differs between two versions of a value."""

from kubevirt.api.machine import VirtualMachineStatus
from kubevirt.virt.changes import Change, between


def test_only_what_differs_is_told() -> None:
    before = VirtualMachineStatus(created=True, printable_status="Starting", desired_generation=1)
    after = VirtualMachineStatus(printable_status="Running", desired_generation=1, ready=True)
    assert set(between(before, after)) == {
        Change("created", True, None),
        Change("printableStatus", "Starting", "Running"),
        Change("ready", None, True),
    }
    assert between(after, after) == ()
