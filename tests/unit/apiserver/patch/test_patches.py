"""Patches without a server: what they leave alone, and their limits. Their meaning is held against
a real server in tests/contract/test_patch_oracle.py.
"""

from typing import Any

import pytest

from kubevirt.apiserver.patch import json_patch, merge, strategic
from kubevirt.apiserver.patch.errors import BadPatch, PatchDoesNotApply, PatchTooLarge
from kubevirt.apiserver.schema.structural import compile_schema

OBJECT = {"spec": {"a": {"b": [1, {"c": 2}]}, "d": {"e": 1}}}


def run(*operations: dict[str, Any]) -> Any:
    return json_patch.apply(OBJECT, json_patch.parse(list(operations)))


def test_a_json_patch_shares_what_it_does_not_touch() -> None:
    before = repr(OBJECT)
    made = run({"op": "replace", "path": "/spec/a/b/1/c", "value": 3})
    assert made["spec"]["a"]["b"] == [1, {"c": 3}]
    assert made["spec"]["d"] is OBJECT["spec"]["d"]
    assert repr(OBJECT) == before


def test_a_copy_is_not_tied_to_its_source() -> None:
    made = run(
        {"op": "copy", "from": "/spec/a", "path": "/spec/f"},
        {"op": "replace", "path": "/spec/f/b/0", "value": 9},
    )
    assert made["spec"]["f"]["b"][0] == 9
    assert made["spec"]["a"]["b"][0] == 1


def test_an_object_may_be_copied_into_itself() -> None:
    made = run(
        {"op": "copy", "from": "/spec/d", "path": "/spec/d/d"},
        {"op": "copy", "from": "/spec/d", "path": "/spec/d/f"},
    )
    assert made["spec"]["d"] == {"e": 1, "d": {"e": 1}, "f": {"e": 1, "d": {"e": 1}}}


def test_copies_cannot_grow_without_limit() -> None:
    doubling = [{"op": "copy", "from": "/spec", "path": f"/spec/{n}"} for n in range(40)]
    with pytest.raises(PatchDoesNotApply):
        run(*doubling)


def test_too_many_operations_are_refused() -> None:
    with pytest.raises(
        PatchTooLarge, match="maximum operations in a JSON patch is 10000, got 10001"
    ):
        json_patch.parse([{"op": "test", "path": ""}] * 10_001)


def test_unknown_fields_of_operations_are_named() -> None:
    patch = json_patch.parse([{"op": "test", "path": "", "values": 1}])
    assert patch.unknown == ("[0].values",)


def test_a_failed_test_says_what_kubernetes_says() -> None:
    with pytest.raises(PatchDoesNotApply) as caught:
        run({"op": "test", "path": "/spec/d/e", "value": 2})
    assert str(caught.value) == "the server rejected our request due to an error in our request"
    assert "testing value /spec/d/e failed" in str(caught.value.__cause__)


def test_true_is_not_one_in_a_test() -> None:
    with pytest.raises(PatchDoesNotApply):
        run({"op": "test", "path": "/spec/d/e", "value": True})


def test_a_merge_patch_leaves_its_object_alone() -> None:
    before = repr(OBJECT)
    made = merge.merge(OBJECT, {"spec": {"d": {"e": None, "f": {"g": None}}}})
    assert made == {"spec": {"a": OBJECT["spec"]["a"], "d": {"f": {}}}}
    assert made["spec"]["a"] is OBJECT["spec"]["a"]
    assert repr(OBJECT) == before


def test_a_merge_patch_is_an_object() -> None:
    with pytest.raises(BadPatch, match="cannot unmarshal array into Go value"):
        merge.merge(OBJECT, [])


LIST = compile_schema(
    {
        "type": "object",
        "properties": {
            "items": {
                "type": "array",
                "x-kubernetes-patch-strategy": "merge",
                "x-kubernetes-patch-merge-key": "name",
                "items": {"type": "object", "properties": {"name": {"type": "string"}}},
            },
            "texts": {
                "type": "array",
                "x-kubernetes-patch-strategy": "merge",
                "items": {"type": "string"},
            },
        },
    }
)


def test_a_strategic_merge_leaves_its_object_alone() -> None:
    old = {"items": [{"name": "a", "x": 1}, {"name": "b"}], "texts": ["p", "q"]}
    before = repr(old)
    patch = {"items": [{"name": "b", "y": 2}, {"name": "c"}], "texts": ["r", "p"]}
    made = strategic.merge(old, patch, LIST)
    assert made["items"] == [{"name": "a", "x": 1}, {"name": "b", "y": 2}, {"name": "c"}]
    assert made["texts"] == ["r", "p", "q"]
    assert repr(old) == before


def test_lists_of_lists_do_not_merge() -> None:
    with pytest.raises(PatchDoesNotApply):
        strategic.merge({"texts": [["a"]]}, {"texts": [["b"]]}, LIST)
