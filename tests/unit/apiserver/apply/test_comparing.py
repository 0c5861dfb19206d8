"""Comparing: what a real server lets nobody store, but an old object may hold."""

from typing import Any

import pytest

from kubevirt.apiserver.apply.comparing import compare
from kubevirt.apiserver.apply.fieldset import FieldSet
from kubevirt.apiserver.apply.owning import fields_of
from kubevirt.apiserver.apply.types import NUMERIC, STRING, ListType, MapType, Type

ITEM = Type(map=MapType(fields={"k": STRING, "v": NUMERIC}))
KIND = Type(
    map=MapType(fields={"list": Type(list=ListType(ITEM, is_associative=True, keys=("k",)))})
)
STEP = 'k:{"k":"a"}'


def of(*items: dict[str, Any]) -> dict[str, Any]:
    return {"list": list(items)}


ONE, TWO = {"k": "a", "v": 1}, {"k": "a", "v": 2}
MARK = FieldSet.of(("f:list", STEP))
WHOLE = FieldSet.of(("f:list", STEP), ("f:list", STEP, "f:k"), ("f:list", STEP, "f:v"))


@pytest.mark.parametrize(
    ("old", "new", "removed", "modified", "added"),
    [
        ([ONE, TWO], [ONE, TWO], FieldSet(), FieldSet(), FieldSet()),
        ([ONE, TWO], [TWO, ONE], FieldSet(), MARK, FieldSet()),
        ([ONE, TWO], [ONE], MARK, FieldSet(), WHOLE),
        ([ONE], [ONE, TWO], WHOLE, FieldSet(), MARK),
        ([{"k": "b"}, ONE, TWO], [{"k": "b"}], MARK, FieldSet(), FieldSet()),
    ],
)
def test_items_that_are_there_twice_are_one_field(
    old: list[Any], new: list[Any], removed: FieldSet, modified: FieldSet, added: FieldSet
) -> None:
    changes = compare(of(*old), of(*new), KIND)
    assert (changes.removed, changes.modified, changes.added) == (removed, modified, added)


def test_only_that_they_are_there_is_owned() -> None:
    assert fields_of(of(ONE, TWO), KIND) == MARK


def test_true_for_one_is_a_change() -> None:
    kind = Type(map=MapType(fields={"v": NUMERIC, "w": NUMERIC}))
    changes = compare({"v": 1, "w": 1.0}, {"v": True, "w": 1}, kind)
    assert changes.modified == FieldSet.of(("f:v",))
