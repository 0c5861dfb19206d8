"""Laws of server-side apply that hold for any object, whatever a real server does."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kubevirt.apiserver.apply import writes
from kubevirt.apiserver.apply.comparing import compare
from kubevirt.apiserver.apply.fieldset import FieldSet
from kubevirt.apiserver.apply.merging import merge
from kubevirt.apiserver.apply.ownership import Kind
from kubevirt.apiserver.apply.owning import fields_of
from kubevirt.apiserver.apply.types import type_of_object
from kubevirt.apiserver.schema.plain import is_same
from kubevirt.apiserver.schema.structural import compile_schema

_UNIT = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "size": {"type": "integer"}},
}
_SPEC = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "map": {"type": "object", "additionalProperties": {"type": "string"}},
        "set": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
        "units": {
            "type": "array",
            "items": _UNIT,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
        },
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        "lines": {"type": "array", "items": {"type": "string"}},
    },
}
TYPE = type_of_object(compile_schema({"type": "object", "properties": {"spec": _SPEC}}))
KIND = Kind(api_version="a/v1", kind="A", types={"a/v1": TYPE})


def _name(unit: Any) -> str:
    return str(unit["name"])


_names = st.sampled_from("abcd")
_plain = st.none() | st.booleans() | st.integers(0, 2) | _names
_anything = st.recursive(
    _plain,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_names, inner, max_size=2),
    max_leaves=5,
)
_specs = st.fixed_dictionaries(
    {},
    optional={
        "text": _names,
        "map": st.dictionaries(_names, _names, max_size=3),
        "set": st.lists(_names, unique=True, max_size=4),
        "units": st.lists(
            st.fixed_dictionaries({"name": _names}, optional={"size": st.integers(1, 2)}),
            unique_by=_name,
            max_size=4,
        ),
        "free": st.dictionaries(_names, _anything, max_size=3),
        "lines": st.lists(_names, max_size=2),
    },
)
_objects = _specs.map(
    lambda spec: {"apiVersion": "a/v1", "kind": "A", "metadata": {"name": "x"}, "spec": spec}
)
_steps = st.sampled_from(["f:a", "f:b", 'k:{"name":"a"}', 'v:"x"', "v:1"])
_sets = st.lists(st.lists(_steps, min_size=1, max_size=4).map(tuple), max_size=6).map(
    lambda paths: FieldSet.of(*paths)
)
Object = dict[str, Any]


@given(one=_sets, other=_sets)
def test_sets_of_fields_are_sets(one: FieldSet, other: FieldSet) -> None:
    mine, theirs = set(one.paths()), set(other.paths())
    assert set((one | other).paths()) == mine | theirs
    assert set((one & other).paths()) == mine & theirs
    assert set((one - other).paths()) == mine - theirs
    assert one.covers(other) == (theirs <= mine)
    left = {
        path
        for path in mine
        if not any(path[: length + 1] in theirs for length in range(len(path)))
    }
    assert set(one.without(other).paths()) == left


@given(fields=_sets)
def test_a_set_comes_back_from_its_json(fields: FieldSet) -> None:
    assert FieldSet.from_json(fields.to_json()) == fields


@given(one=_objects, other=_objects)
def test_no_change_is_found_only_between_the_same(one: Object, other: Object) -> None:
    assert not compare(one, one, TYPE)
    changes = compare(one, other, TYPE)
    reordered = not changes and not is_same(one, other)
    if reordered:
        assert sorted(repr(one)) == sorted(repr(other))


@given(one=_objects, other=_objects)
def test_what_one_way_adds_the_other_way_removes(one: Object, other: Object) -> None:
    there, back = compare(one, other, TYPE), compare(other, one, TYPE)
    assert there.added == back.removed
    assert there.removed == back.added
    assert there.modified == back.modified


@given(live=_objects, said=_objects)
def test_merging_twice_is_merging_once(live: Object, said: Object) -> None:
    once = merge(live, said, TYPE)
    assert is_same(merge(once, said, TYPE), once)


@given(live=_objects, said=_objects)
def test_everything_that_is_said_is_there_afterwards(live: Object, said: Object) -> None:
    merged = merge(live, said, TYPE)
    missing = fields_of(said, TYPE) - fields_of(merged, TYPE)
    # A null or an empty object that meets something is said, and changes nothing.
    assert all(_value(said, path) in (None, {}, []) for path in missing.paths())


def _value(value: Any, path: tuple[str, ...]) -> Any:
    for step in path:
        if not step.startswith("f:") or not isinstance(value, dict):
            return None
        value = value.get(step[2:])
    return value


@given(first=_objects, second=_objects)
def test_an_apply_after_itself_changes_nothing(first: Object, second: Object) -> None:
    made = writes.apply(None, first, KIND, by="ann", now="2026-01-01T00:00:00Z")
    live = {**made, "metadata": {**made["metadata"], "uid": "1"}}
    once = writes.apply(live, second, KIND, by="ann", now="2026-01-01T00:00:01Z")
    again = writes.apply(once, second, KIND, by="ann", now="2026-01-01T00:00:02Z")
    assert _said(once.get("spec")) == _said(again.get("spec"))


def _said(value: Any) -> Any:
    """An object that lost its last field is null or gone the first time and empty the next: so it is
    in Kubernetes, where validation then refuses the null.
    """
    if isinstance(value, dict):
        kept = {name: _said(child) for name, child in value.items()}
        return {name: child for name, child in kept.items() if child is not None} or None
    return ([_said(item) for item in value] or None) if isinstance(value, list) else value


@given(live=_objects, said=_objects)
def test_neither_side_is_changed(live: Object, said: Object) -> None:
    before = repr((live, said))
    merge(live, said, TYPE)
    writes.apply({**live}, said, KIND, by="ann", now="2026-01-01T00:00:00Z", force=True)
    assert repr((live, said)) == before
