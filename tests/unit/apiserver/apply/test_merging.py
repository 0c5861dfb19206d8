"""Merging: what the configuration says wins, the rest stays, lists keep an order that makes sense."""

import pytest

from kubevirt.apiserver.apply.merging import merge
from kubevirt.apiserver.apply.types import DEDUCED, STRING, ListType, MapType, Type

NAMES = Type(list=ListType(STRING, is_associative=True))


@pytest.mark.parametrize(
    ("old", "new", "merged"),
    [
        ("abc", "b", "abc"),
        ("abc", "cb", "acb"),
        ("abc", "d", "abcd"),
        ("abc", "ca", "bca"),
        ("abcde", "eXb", "acdeXb"),
        ("abc", "xbz", "axbcz"),
        ("", "ab", "ab"),
        ("ab", "", "ab"),
    ],
)
def test_items_of_a_set_are_ordered_like_a_real_server_orders_them(
    old: str, new: str, merged: str
) -> None:
    assert "".join(merge(list(old), list(new), NAMES)) == merged


def test_what_is_not_touched_is_shared() -> None:
    old = {"a": {"b": [1]}, "c": {"d": 1}}
    merged = merge(old, {"c": {"d": 2}}, DEDUCED)
    assert merged == {"a": {"b": [1]}, "c": {"d": 2}}
    assert merged["a"] is old["a"]
    assert old["c"] == {"d": 1}


def test_an_atomic_map_is_replaced() -> None:
    atomic = Type(map=MapType(element=STRING, is_atomic=True))
    assert merge({"a": "1"}, {"b": "2"}, atomic) == {"b": "2"}


def test_null_leaves_a_map_that_has_something_and_replaces_a_scalar() -> None:
    kind = Type(map=MapType(fields={"map": Type(map=MapType(element=STRING)), "text": STRING}))
    old = {"map": {"a": "b"}, "text": "x"}
    assert merge(old, {"map": None, "text": None}, kind) == {"map": {"a": "b"}, "text": None}


def test_items_that_are_there_twice_are_not_merged_with_anything() -> None:
    kind = Type(list=ListType(Type(map=MapType(element=STRING)), is_associative=True, keys=("k",)))
    old = [{"k": "a", "x": "1"}, {"k": "a", "x": "2"}]
    assert merge(old, [{"k": "a", "y": "3"}], kind) == [{"k": "a", "y": "3"}]
