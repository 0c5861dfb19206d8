"""What a store makes of objects that come twice, late, or from nowhere."""

from typing import Any

import msgspec
import pytest
from tests.lamps import Lamp, Listener, key

from kubevirt.kube.cache.store import Store
from kubevirt.kube.errors import UndecodableObject
from kubevirt.kube.watch import Undecodable


def lamp(name: str, version: int | str, colour: str = "white", uid: str = "1") -> Lamp:
    metadata = {"name": name, "namespace": "home", "resourceVersion": str(version), "uid": uid}
    return msgspec.convert({"metadata": metadata, "colour": colour}, Lamp)


def unreadable(name: str, version: int, uid: str = "1") -> Undecodable:
    return Undecodable(metadata=lamp(name, version, uid=uid).metadata, error="too bright")


@pytest.fixture
def listener() -> Listener:
    return Listener()


@pytest.fixture
def store(listener: Listener) -> Store[Lamp]:
    return Store("lamps", {"colour": lambda lamp: lamp.colour}, listener)


def test_the_same_version_again_is_no_change(store: Store[Lamp], listener: Listener) -> None:
    first = lamp("desk", 9)
    store.put(first)
    store.put(lamp("desk", 9))
    assert listener.heard == ["added desk white"]
    assert store.get(key("desk")) is first


def test_an_older_version_changes_nothing(store: Store[Lamp], listener: Listener) -> None:
    store.put(lamp("desk", 10, "new"))
    store.put(lamp("desk", 9, "old"))
    store.put(lamp("desk", 9, "older", uid="0"))
    assert listener.heard == ["added desk new"]


def test_versions_that_are_no_numbers_are_taken_as_they_come(
    store: Store[Lamp], listener: Listener
) -> None:
    store.put(lamp("desk", "b", "first"))
    store.put(lamp("desk", "a", "second"))
    assert listener.heard == ["added desk first", "updated desk second"]


def test_another_uid_is_another_object(store: Store[Lamp], listener: Listener) -> None:
    store.put(lamp("desk", 9, "old", uid="1"))
    store.put(lamp("desk", 10, "new", uid="2"))
    assert listener.heard == ["added desk old", "deleted desk old", "added desk new"]
    assert store.by_index("colour", "old") == []


def test_a_deletion_that_came_late_spares_what_came_after(
    store: Store[Lamp], listener: Listener
) -> None:
    store.put(lamp("desk", 12, uid="2"))
    store.remove(lamp("desk", 11, uid="1"))
    store.remove(lamp("desk", 11, uid="2"))
    assert listener.heard == ["added desk white"]


def test_a_deletion_ends_an_older_object_of_that_name_too(
    store: Store[Lamp], listener: Listener
) -> None:
    store.put(lamp("desk", 9, uid="1"))
    store.remove(lamp("desk", 11, uid="2"))
    assert listener.heard == ["added desk white", "deleted desk white"]


def test_a_deletion_without_a_version_of_its_own_counts(
    store: Store[Lamp], listener: Listener
) -> None:
    """Some servers show a deleted object as it was, with the version it had."""
    store.put(lamp("desk", 9))
    store.remove(lamp("desk", 9))
    assert listener.heard == ["added desk white", "deleted desk white"]


def test_a_deletion_of_what_is_not_known_is_no_change(
    store: Store[Lamp], listener: Listener
) -> None:
    store.remove(lamp("desk", 9))
    assert listener.heard == []


@pytest.mark.parametrize("known", [lamp("desk", 12, "red"), unreadable("desk", 12)])
def test_an_unreadable_version_from_the_past_hides_nothing(store: Store[Lamp], known: Any) -> None:
    if isinstance(known, Lamp):
        store.put(known)
    else:
        store.put_unreadable(known)
    store.put_unreadable(unreadable("desk", 11))
    assert {each.metadata.resource_version for each in store.unreadable.values()} <= {"12"}


def test_a_readable_version_from_the_past_does_not_unhide(
    store: Store[Lamp], listener: Listener
) -> None:
    store.put_unreadable(unreadable("desk", 12))
    store.put(lamp("desk", 11))
    store.remove(lamp("desk", 11))
    with pytest.raises(UndecodableObject):
        store.get(key("desk"))
    assert listener.heard == []


def test_an_object_under_several_values_of_an_index_is_found_under_each() -> None:
    store: Store[Lamp] = Store(
        "lamps", {"letter": lambda lamp: tuple(lamp.colour or "")}, lambda _: None
    )
    store.put(lamp("a", 1, "red"))
    store.put(lamp("b", 2, "reed"))
    store.put(lamp("c", 3, "blue"))

    def found(letter: str) -> str:
        return "".join(each.metadata.name for each in store.by_index("letter", letter))

    assert [found(letter) for letter in "redblu"] == ["ab", "abc", "ab", "c", "c", "c"]
    store.put(lamp("b", 4, "blue"))
    store.discard(key("c"))
    assert [found(letter) for letter in "redblu"] == ["a", "ab", "a", "b", "b", "b"]
    store.discard(key("a"))
    store.discard(key("b"))
    assert not any(found(letter) for letter in "redblu")


def test_an_index_that_was_not_declared_is_a_mistake(store: Store[Lamp]) -> None:
    with pytest.raises(KeyError):
        store.by_index("size", "big")
