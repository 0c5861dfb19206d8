"""Which keys a change concerns."""

from typing import Any

import pytest
from msgspec import convert
from tests.lamps import LAMPS, Lamp, key, lamp

from kubevirt.api.resource import Resource
from kubevirt.kube.cache.store import Change
from kubevirt.kube.errors import UndecodableObject
from kubevirt.kube.key import Key
from kubevirt.kube.triggers import own, owner_in

HOUSES = Resource("example.io", "v1", "houses", "House", namespaced=False, type=Lamp)


class Cache:
    """Owners by key: what an informer is to a trigger."""

    def __init__(self, resource: Resource[Any], *owners: Lamp) -> None:
        self.resource = resource
        self._owners = {Key.of(owner): owner for owner in owners}

    def get(self, key: Key) -> Lamp | None:
        if key.name == "broken":
            raise UndecodableObject("broken", "no fun")
        return self._owners.get(key)


def a_lamp(name: str, *, owner: str = "", owner_uid: str = "", **more: Any) -> Lamp:
    reference = {"apiVersion": "example.io/v1", "kind": "Lamp", "name": owner, "uid": owner_uid}
    other = reference | {"name": "somebody", "uid": "9", "controller": False}
    owners = [other, reference | {"controller": True}] if owner else []
    return convert(lamp(name, ownerReferences=owners, **more), Lamp)


def test_a_changed_object_concerns_itself() -> None:
    assert own(Change(None, a_lamp("desk"))) == (key("desk"),)
    assert own(Change(a_lamp("desk"), None)) == (key("desk"),)


def test_a_changed_child_concerns_the_owner_that_controls_it() -> None:
    trigger = owner_in(Cache(LAMPS, a_lamp("chandelier", uid="1")))
    child = a_lamp("candle", owner="chandelier", owner_uid="1")
    assert list(trigger(Change(None, child))) == [key("chandelier")]
    assert list(trigger(Change(child, child))) == [key("chandelier")]
    assert list(trigger(Change(child, None))) == [key("chandelier")]


def test_a_child_of_a_deleted_owner_does_not_concern_another_of_its_name() -> None:
    trigger = owner_in(Cache(LAMPS, a_lamp("chandelier", uid="2")))
    assert list(trigger(Change(None, a_lamp("candle", owner="chandelier", owner_uid="1")))) == []


def test_an_adoption_concerns_both_owners() -> None:
    trigger = owner_in(Cache(LAMPS, a_lamp("old", uid="1"), a_lamp("new", uid="2")))
    before = a_lamp("candle", owner="old", owner_uid="1")
    after = a_lamp("candle", owner="new", owner_uid="2")
    assert list(trigger(Change(before, after))) == [key("old"), key("new")]


@pytest.mark.parametrize("child", [a_lamp("candle"), a_lamp("candle", owner="x", owner_uid="1")])
def test_a_child_without_a_known_owner_concerns_nobody(child: Lamp) -> None:
    assert list(owner_in(Cache(LAMPS))(Change(None, child))) == []


def test_an_owner_that_cannot_be_read_is_still_an_owner() -> None:
    trigger = owner_in(Cache(LAMPS))
    child = a_lamp("candle", owner="broken", owner_uid="1")
    assert list(trigger(Change(None, child))) == [key("broken")]


def test_an_owner_may_belong_to_the_whole_cluster() -> None:
    house = convert({"metadata": {"name": "villa", "uid": "1"}}, Lamp)
    trigger = owner_in(Cache(HOUSES, house))
    child = a_lamp("candle", owner="villa", owner_uid="1")
    assert list(trigger(Change(None, child))) == [Key("", "villa")]
