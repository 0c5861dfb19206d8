"""A cache that knows what was just written, and takes no echo for news."""

from typing import Any, cast

import msgspec
import pytest

from kubevirt.api.core.namespace import ConfigMap
from kubevirt.api.meta import ObjectMeta
from kubevirt.components.controller.fresh import Fresh
from kubevirt.kube.cache.store import Change
from kubevirt.kube.informer import Informer
from kubevirt.kube.key import Key

KEY = Key("home", "lamp")


def a_lamp(version: int, uid: str = "lamp-1") -> ConfigMap:
    metadata = ObjectMeta(
        name=KEY.name, namespace=KEY.namespace, uid=uid, resource_version=str(version)
    )
    return ConfigMap(metadata=metadata, data={"version": str(version)})


class Copies:
    """What an informer has, and what it tells."""

    def __init__(self, *present: ConfigMap) -> None:
        self.present = {Key.of(each): each for each in present}
        self.fresh: Fresh[ConfigMap] = Fresh(cast("Informer[ConfigMap]", self))
        self.again: list[Key] = []

    def get(self, key: Key) -> ConfigMap | None:
        return self.present.get(key)

    def owned_by(self, _: str) -> list[ConfigMap]:
        return list(self.present.values())

    def show(self, new: ConfigMap | None) -> bool:
        """Whether it is news."""
        old = self.present.pop(KEY, None)
        if new is not None:
            self.present[KEY] = new
        return self.fresh.is_news(Change(old, new))

    async def write(self, answer: ConfigMap | None, *meanwhile: ConfigMap | None) -> None:
        async with self.fresh.writing(KEY, self.again.append) as write:
            for each in meanwhile:
                assert not self.show(each)
            write.answer = answer


async def test_what_was_written_is_read_before_the_cache_shows_it() -> None:
    copies = Copies(a_lamp(1))
    await copies.write(a_lamp(2))
    assert copies.fresh.get(KEY) == a_lamp(2)
    assert copies.fresh.owned_by("x") == [a_lamp(2)]


async def test_an_echo_is_no_news_and_what_comes_after_it_is() -> None:
    copies = Copies(a_lamp(1))
    await copies.write(a_lamp(2))
    assert not copies.show(a_lamp(2))
    assert copies.show(a_lamp(3))
    assert copies.fresh.get(KEY) == a_lamp(3)
    assert copies.again == []


async def test_what_others_wrote_before_is_news_and_does_not_hide_ones_own_write() -> None:
    copies = Copies(a_lamp(1))
    await copies.write(a_lamp(3))
    assert copies.show(a_lamp(2))
    assert copies.fresh.get(KEY) == a_lamp(3)
    assert not copies.show(a_lamp(3))


async def test_a_cache_that_has_passed_a_write_counts() -> None:
    copies = Copies(a_lamp(1))
    await copies.write(a_lamp(2))
    assert copies.show(a_lamp(4))
    assert copies.fresh.get(KEY) == a_lamp(4)


async def test_an_echo_that_is_faster_than_the_answer_wakes_nobody() -> None:
    copies = Copies(a_lamp(1))
    await copies.write(a_lamp(2), a_lamp(2))
    assert copies.again == []
    assert copies.fresh.get(KEY) == a_lamp(2)
    assert copies.show(a_lamp(3))


@pytest.mark.parametrize("answer", [a_lamp(3), None])
async def test_what_else_happens_during_a_write_is_looked_at_afterwards(
    answer: ConfigMap | None,
) -> None:
    copies = Copies(a_lamp(1))
    await copies.write(answer, a_lamp(2))
    assert copies.again == [KEY]


async def test_an_object_that_ends_during_a_write_is_forgotten() -> None:
    copies = Copies(a_lamp(1))
    await copies.write(a_lamp(2), None)
    assert copies.again == []
    assert copies.fresh.get(KEY) is None


async def test_another_object_of_that_name_is_news_and_is_read() -> None:
    copies = Copies(a_lamp(1))
    await copies.write(a_lamp(9))
    assert copies.show(a_lamp(10, uid="lamp-2"))
    assert copies.fresh.get(KEY) == a_lamp(10, uid="lamp-2")


async def test_a_write_that_fails_changes_nothing() -> None:
    copies = Copies(a_lamp(1))
    with pytest.raises(ConnectionError):
        async with copies.fresh.writing(KEY, copies.again.append):
            raise ConnectionError
    assert copies.fresh.get(KEY) == a_lamp(1)
    assert copies.show(a_lamp(2))


def test_nothing_is_kept_of_what_was_never_written() -> None:
    copies: Any = Copies(a_lamp(1))
    assert copies.show(a_lamp(2))
    assert msgspec.to_builtins(copies.fresh._written) == {}
