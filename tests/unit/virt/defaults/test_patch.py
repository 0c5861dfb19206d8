"""The difference of two values, as a patch that the server takes."""

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from kubevirt.apiserver.patch import json_patch
from kubevirt.virt.defaults.patch import Operation, difference

KEYS = st.text(st.sampled_from("ab/~-é"), max_size=3)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=4)


def applied(value: Any, patch: tuple[Operation, ...]) -> Any:
    """As the server applies what came over the wire."""
    return json_patch.apply(
        value, json_patch.parse(msgspec.json.decode(msgspec.json.encode(patch)))
    )


@given(OBJECTS, OBJECTS)
def test_the_difference_leads_from_the_one_to_the_other(
    before: dict[str, Any], after: dict[str, Any]
) -> None:
    assert applied(before, difference(before, after)) == after


@given(OBJECTS)
def test_there_is_no_difference_between_equals(value: dict[str, Any]) -> None:
    assert difference(value, value) == ()


def test_a_list_that_grew_keeps_what_it_had() -> None:
    assert difference({"a": [{"b": 1}]}, {"a": [{"b": 1, "c": 2}, 3]}) == (
        Operation("add", "/a/0/c", 2),
        Operation("add", "/a/-", 3),
    )


def test_true_is_not_one() -> None:
    assert difference({"a": 1}, {"a": True}) == (Operation("replace", "/a", True),)


def test_a_removal_carries_no_value() -> None:
    assert msgspec.json.encode(difference({"a/b": 1}, {})) == b'[{"op":"remove","path":"/a~1b"}]'
