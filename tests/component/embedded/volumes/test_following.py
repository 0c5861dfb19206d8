"""Many objects: as many as are reasonable are watched, the others asked for."""

from collections.abc import AsyncIterator

import pytest
from tests.component.embedded.volumes.conftest import World, until

from kubevirt.api.scheme import CONFIG_MAPS
from kubevirt.base.clock import SystemClock
from kubevirt.embedded.node.volumes import asked
from kubevirt.embedded.node.volumes.contents import NotThere
from kubevirt.embedded.node.volumes.following import Following
from kubevirt.embedded.node.volumes.things import Thing


def a_map(name: str) -> Thing:
    return Thing(False, "default", name)


@pytest.fixture
async def following(world: World, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Following]:
    """Two are watched, and whatever comes after them is asked for soon."""
    monkeypatch.setattr(asked, "EVERY_S", 0.05)
    monkeypatch.setattr(asked, "_WAITING_S", 0.05)
    made = Following(world.admin, SystemClock(), world.news.append, most_watched=2)
    async with made.running():
        yield made


async def test_what_is_not_watched_is_found_and_followed_all_the_same(
    world: World, following: Following
) -> None:
    for name in ("a", "b", "c"):
        await world.config_map(name, value="old")
    things = [a_map(name) for name in ("a", "b", "c", "d")]
    following.use("u1", things)
    await following.known(things)
    found = following.config_maps("default")
    assert {name: dict(each.data) for name, each in found.items()} == {
        name: {"value": "old"} for name in ("a", "b", "c")
    }

    await world.change(CONFIG_MAPS, "c", {"data": {"value": "new"}})
    await until(
        lambda: following.config_maps("default")["c"].data["value"] == "new", "c has changed"
    )
    assert "u1" in world.news
    world.news.clear()
    await world.config_map("d", value="late")
    await until(lambda: "u1" in world.news, "d has come")
    await world.admin.delete(CONFIG_MAPS, "d", "default")
    await until(lambda: "d" not in following.config_maps("default"), "d has gone")


async def test_what_nobody_uses_any_more_is_not_followed(following: Following) -> None:
    following.use("u1", [a_map("a"), a_map("b")])
    following.use("u2", [a_map("b"), a_map("c")])
    assert following.count == 3
    following.forget("u1")
    assert following.count == 2
    following.forget("u2")
    assert following.count == 0


async def test_an_object_that_may_not_be_read_is_named_with_the_reason(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No pod of the node names it."""
    monkeypatch.setattr("kubevirt.embedded.node.volumes.following._FIRST_S", 0.5)
    async with world.server.client("node") as node:
        made = Following(node, SystemClock(), world.news.append)
        async with made.running():
            made.use("u1", [a_map("theirs")])
            with pytest.raises(NotThere, match=r'configmap "theirs" cannot be read: .*forbidden'):
                await made.known([a_map("theirs")])
