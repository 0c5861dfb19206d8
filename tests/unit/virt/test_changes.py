"""What differs between two versions of a value."""

from kubevirt.api.guest_os import VirtualMachineInstanceGuestOSInfo
from kubevirt.api.instance_status import VirtualMachineInstanceStatus as Status
from kubevirt.api.machine import VirtualMachineStatus
from kubevirt.api.meta import ObjectMeta
from kubevirt.virt.changes import Change, between, difference


def test_only_what_differs_is_told() -> None:
    before = VirtualMachineStatus(created=True, printable_status="Starting", desired_generation=1)
    after = VirtualMachineStatus(printable_status="Running", desired_generation=1, ready=True)
    assert set(between(before, after)) == {
        Change("created", True, None),
        Change("printableStatus", "Starting", "Running"),
        Change("ready", None, True),
    }
    assert between(after, after) == ()


def test_a_patch_says_nothing_where_nothing_differs() -> None:
    assert difference(Status(phase="Running"), Status(phase="Running")) == {}


def test_a_patch_says_only_fields_that_differ_and_names_those_that_go() -> None:
    before = Status(phase="Running", node_name="a", reason="x")
    assert difference(before, Status(phase="Running", node_name="b")) == {
        "nodeName": "b",
        "reason": None,
    }


def test_what_goes_is_named_also_in_the_middle_of_something() -> None:
    before = Status(guest_os_info=VirtualMachineInstanceGuestOSInfo(name="Linux", id="linux"))
    after = Status(guest_os_info=VirtualMachineInstanceGuestOSInfo(name="Linux"))
    assert difference(before, after) == {"guestOSInfo": {"id": None}}


def test_an_entry_that_goes_out_of_a_map_is_named_since_a_server_would_keep_it() -> None:
    before = Status(active_pods={"old": "a", "both": "a"})
    after = Status(active_pods={"new": "b", "both": "a"})
    assert difference(before, after) == {"activePods": {"old": None, "new": "b"}}


def test_a_patch_says_lists_whole() -> None:
    before, after = ObjectMeta(finalizers=("a", "b")), ObjectMeta(finalizers=("b",))
    assert difference(before, after) == {"finalizers": ("b",)}
    assert difference(before, ObjectMeta()) == {"finalizers": None}
