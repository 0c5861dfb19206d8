"""Writes and owners: the cases that a real server is not needed for. The others are in
tests/contract/test_apply_oracle.py.
"""

from typing import Any

import pytest

from kubevirt.apiserver.apply import writes
from kubevirt.apiserver.apply.conflicts import ApplyConflicts
from kubevirt.apiserver.apply.fieldset import FieldSet
from kubevirt.apiserver.apply.ownership import Kind
from kubevirt.apiserver.apply.types import DEDUCED, type_of_object
from kubevirt.apiserver.schema.structural import compile_schema

EARLIER, NOW = "2026-01-01T00:00:00Z", "2026-01-01T00:00:05Z"

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {
                "size": {"type": "integer"},
                "tags": {
                    "type": "array",
                    "items": {"type": "string"},
                    "x-kubernetes-list-type": "set",
                },
                "door": {"type": "object", "properties": {"colour": {"type": "string"}}},
            },
        },
        "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    },
}
BOXES = Kind(
    api_version="box.example/v1",
    kind="Box",
    types={"box.example/v1": type_of_object(compile_schema(SCHEMA))},
    ignored={"box.example/v1": FieldSet.of(("f:status",))},
)


def a_box(**spec: Any) -> writes.Object:
    metadata = {"name": "a", "namespace": "default"}
    return {"apiVersion": "box.example/v1", "kind": "Box", "metadata": metadata, "spec": spec}


def stored(box: writes.Object) -> writes.Object:
    return {**box, "metadata": {**box["metadata"], "uid": "1"}}


def owners(box: writes.Object) -> dict[str, Any]:
    return {entry["manager"]: entry for entry in box["metadata"].get("managedFields", [])}


def test_whoever_creates_owns_everything() -> None:
    made = writes.update(None, a_box(size=1, door={"colour": "red"}), BOXES, by="ann", now=NOW)
    assert owners(made)["ann"] == {
        "apiVersion": "box.example/v1",
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:spec": {".": {}, "f:size": {}, "f:door": {".": {}, "f:colour": {}}}},
        "manager": "ann",
        "operation": "Update",
        "time": NOW,
    }


def test_what_it_is_given_stays_as_it_is() -> None:
    live = stored(writes.apply(None, a_box(tags=["a"]), BOXES, by="ann", now=EARLIER))
    before = repr(live)
    writes.apply(live, a_box(tags=["b"]), BOXES, by="ann", now=NOW)
    writes.update(live, a_box(size=1), BOXES, by="bob", now=NOW)
    assert repr(live) == before


def test_an_update_that_changes_nothing_keeps_all_times() -> None:
    live = stored(writes.update(None, a_box(size=1), BOXES, by="ann", now=EARLIER))
    again = writes.update(live, live, BOXES, by="bob", now=NOW)
    assert owners(again) == owners(live)


def test_an_apply_that_changes_only_a_time_is_taken_back() -> None:
    live = stored(writes.apply(None, a_box(size=1), BOXES, by="ann", now=EARLIER))
    touched = stored(writes.apply(live, a_box(size=1), BOXES, by="ann", now=NOW))
    touched["metadata"]["managedFields"][0]["time"] = NOW
    assert writes.keep_times_of_no_op(live, touched) == live
    changed = {**touched, "spec": {"size": 2}}
    assert writes.keep_times_of_no_op(live, changed) is changed


def test_a_conflict_names_the_manager_and_the_field() -> None:
    live = stored(writes.apply(None, a_box(size=1), BOXES, by="ann", now=EARLIER))
    with pytest.raises(ApplyConflicts) as caught:
        writes.apply(live, a_box(size=2), BOXES, by="bob", now=NOW)
    message = 'Apply failed with 1 conflict: conflict with "ann": .spec.size'
    assert str(caught.value) == message
    assert [(each.field, each.message) for each in caught.value.conflicts] == [
        (".spec.size", 'conflict with "ann"')
    ]


def test_force_takes_the_field() -> None:
    live = stored(writes.apply(None, a_box(size=1), BOXES, by="ann", now=EARLIER))
    forced = writes.apply(live, a_box(size=2), BOXES, by="bob", now=NOW, force=True)
    assert forced["spec"] == {"size": 2}
    assert set(owners(forced)) == {"bob"}


def test_a_field_that_only_defaults_set_is_owned_by_nobody() -> None:
    def default(box: writes.Object) -> writes.Object:
        return {**box, "spec": {"size": 7, **box["spec"]}}

    made = writes.apply(None, a_box(), BOXES, by="ann", now=NOW, default=default)
    assert made["spec"] == {"size": 7}
    assert owners(made)["ann"]["fieldsV1"] == {"f:spec": {}}


def test_the_status_is_never_owned_through_the_main_endpoint() -> None:
    box = {**a_box(size=1), "status": {"lit": True}}
    made = writes.update(None, box, BOXES, by="ann", now=NOW)
    assert "f:status" not in owners(made)["ann"]["fieldsV1"]


def test_an_object_without_owners_gets_one_before_it_is_applied_to() -> None:
    applied = writes.apply(stored(a_box(size=1)), a_box(tags=["a"]), BOXES, by="ann", now=NOW)
    assert set(owners(applied)) == {"before-first-apply", "ann"}


def test_owners_that_cannot_be_read_are_forgotten_by_an_update_and_refused_by_an_apply() -> None:
    box = stored(a_box(size=1))
    box["metadata"]["managedFields"] = [{"manager": "x", "operation": "Guess"}]
    assert owners(writes.update(box, a_box(size=2), BOXES, by="ann", now=NOW)) == {}
    with pytest.raises(writes.BadApply, match="failed to decode managed fields"):
        writes.apply(box, a_box(size=2), BOXES, by="ann", now=NOW)


def test_what_a_schema_made_atomic_is_owned_as_one() -> None:
    live = stored(writes.apply(None, a_box(door={"colour": "red"}), BOXES, by="ann", now=EARLIER))
    atomic = {
        **SCHEMA["properties"]["spec"]["properties"]["door"],
        "x-kubernetes-map-type": "atomic",
    }
    changed = {
        "type": "object",
        "properties": {"spec": {"type": "object", "properties": {"door": atomic}}},
    }
    kind = Kind(
        api_version="box.example/v1",
        kind="Box",
        types={"box.example/v1": type_of_object(compile_schema(changed))},
    )
    applied = writes.apply(live, a_box(door={"colour": "red"}), kind, by="ann", now=NOW)
    assert owners(applied)["ann"]["fieldsV1"] == {"f:spec": {"f:door": {}}}


def test_owners_in_a_version_that_is_gone_are_forgotten() -> None:
    live = stored(writes.apply(None, a_box(size=1), BOXES, by="ann", now=EARLIER))
    live["metadata"]["managedFields"][0]["apiVersion"] = "box.example/v0"
    applied = writes.apply(live, a_box(size=2), BOXES, by="bob", now=NOW)
    assert set(owners(applied)) == {"bob"}


def test_an_object_without_a_schema_merges_by_what_it_looks_like() -> None:
    kind = Kind(api_version="any.example/v1", kind="Any", types={"any.example/v1": DEDUCED})
    one = {"apiVersion": "any.example/v1", "kind": "Any", "metadata": {"name": "a"}}
    live = stored(writes.apply(None, one | {"a": {"b": [1]}}, kind, by="ann", now=EARLIER))
    made = writes.apply(live, one | {"a": {"c": 2}}, kind, by="bob", now=NOW)
    assert made["a"] == {"b": [1], "c": 2}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "Bag"}, "invalid object type: box.example/v1, Kind=Bag"),
        ({"apiVersion": "v1"}, "invalid object type: /v1, Kind=Box"),
        ({"spec": {"x": 1}}, r".spec.x: field not declared in schema"),
    ],
)
def test_what_is_no_configuration_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(writes.BadApply, match=message):
        writes.apply(None, a_box() | change, BOXES, by="ann", now=NOW)
