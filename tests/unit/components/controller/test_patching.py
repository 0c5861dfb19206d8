"""Patches of what differs, under the condition that nothing else has changed."""

from kubevirt.api.instance_status import VirtualMachineInstanceStatus as Status
from kubevirt.api.meta import ObjectMeta, PartialObjectMetadata
from kubevirt.components.controller.patching import difference, only_if_unchanged


def test_nothing_is_said_where_nothing_differs() -> None:
    assert difference(Status(phase="Running"), Status(phase="Running")) == {}


def test_only_fields_that_differ_are_said_and_those_that_go_are_named() -> None:
    before = Status(phase="Running", node_name="a", reason="x")
    assert difference(before, Status(phase="Running", node_name="b")) == {
        "nodeName": "b",
        "reason": None,
    }


def test_an_entry_that_goes_out_of_a_map_is_named_since_a_server_would_keep_it() -> None:
    before = Status(active_pods={"old": "a", "both": "a"})
    after = Status(active_pods={"new": "b", "both": "a"})
    assert difference(before, after) == {"activePods": {"old": None, "new": "b"}}


def test_lists_are_said_whole() -> None:
    before, after = ObjectMeta(finalizers=("a", "b")), ObjectMeta(finalizers=("b",))
    assert difference(before, after) == {"finalizers": ("b",)}
    assert difference(before, ObjectMeta()) == {"finalizers": None}


def test_a_patch_holds_for_the_version_that_was_seen() -> None:
    seen = PartialObjectMetadata(metadata=ObjectMeta(name="a", resource_version="7"))
    patch = only_if_unchanged(seen, {"status": {}}, {"finalizers": None})
    assert patch.body == {
        "status": {},
        "metadata": {"finalizers": None, "resourceVersion": "7"},
    }
