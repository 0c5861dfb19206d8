"""Sets of fields: their algebra and their JSON."""

from typing import Any

from kubevirt.apiserver.apply.fieldset import FieldSet

BOTH: dict[str, Any] = {
    "f:spec": {".": {}, "f:a": {}, "f:list": {".": {}, 'k:{"name":"x"}': {".": {}, "f:b": {}}}}
}


def test_a_set_comes_back_from_its_json() -> None:
    assert FieldSet.from_json(BOTH).to_json() == BOTH


def test_a_dot_at_the_top_means_nothing() -> None:
    assert FieldSet.from_json({".": {}, "f:a": {}}) == FieldSet.of(("f:a",))


def test_an_object_of_steps_nobody_knows_is_a_leaf() -> None:
    assert FieldSet.from_json({"f:a": {"z:1": {}}}) == FieldSet.of(("f:a",))


def test_a_parent_that_is_taken_away_keeps_its_children() -> None:
    both = FieldSet.of(("f:a",), ("f:a", "f:b"))
    assert both - FieldSet.of(("f:a",)) == FieldSet.of(("f:a", "f:b"))
    assert both.without(FieldSet.of(("f:a",))) == FieldSet()


def test_no_empty_node_stays_behind() -> None:
    deep = FieldSet.of(("f:a", "f:b", "f:c"))
    assert not deep - deep
    assert not (deep - deep).children
    assert not (deep & FieldSet.of(("f:a", "f:b", "f:d"))).children


def test_an_operation_changes_none_of_its_operands() -> None:
    one, other = FieldSet.of(("f:a",), ("f:b", "f:c")), FieldSet.of(("f:b", "f:d"), ("f:e",))
    _ = one | other, one - other, one & other, one.without(other)
    assert one == FieldSet.of(("f:a",), ("f:b", "f:c"))
    assert other == FieldSet.of(("f:b", "f:d"), ("f:e",))


def test_members_of_a_node_come_before_those_below_it() -> None:
    fields = FieldSet.of(("f:b",), ("f:a", "f:c"), ("f:a",))
    assert list(fields.paths()) == [("f:a",), ("f:b",), ("f:a", "f:c")]


def test_membership_is_not_inherited() -> None:
    fields = FieldSet.of(("f:a", "f:b"))
    assert fields.has("f:a", "f:b")
    assert not fields.has("f:a")
    assert not fields.has("f:a", "f:b", "f:c")
    assert not fields.has()
