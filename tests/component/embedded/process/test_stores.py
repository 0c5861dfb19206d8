"""A store that is damaged, or lost: it is told, and nothing goes on that nobody knows of."""

import asyncio

import pytest
from tests.component.embedded.process.conftest import Virtctl
from tests.component.embedded.process.leftovers import left_of
from tests.component.embedded.process.pods import COUNTING, api, comes_true, pod, ready
from tests.component.embedded.process.storm import sandboxes

from kubevirt.api.scheme import PODS

pytestmark = pytest.mark.timeout(180)


def test_a_store_that_was_damaged_is_refused_and_good_again_when_it_is_put_back(
    virtctl: Virtctl,
) -> None:
    virtctl.up()
    virtctl("down")
    home_id, good = virtctl.home.id, virtctl.home.store.read_bytes()
    damaged = bytearray(good)
    for page in range(2, len(damaged) >> 12):
        damaged[page << 12 : (page << 12) + 200] = b"\xff" * 200
    virtctl.home.store.write_bytes(damaged)
    refused = virtctl("up")
    assert refused.code == 1
    assert "is damaged" in refused.err.splitlines()[-1]
    assert "restore a backup" in refused.err.splitlines()[-1]
    assert left_of(virtctl.home.path, home_id) == []
    virtctl.home.store.write_bytes(good)
    assert virtctl("up").code == 0


async def test_a_home_that_begins_with_an_empty_store_ends_pods_that_nobody_knows(
    virtctl: Virtctl,
) -> None:
    virtctl.up()
    async with api(virtctl) as client:
        await client.create(PODS.raw, pod("lost", COUNTING), "default")
        await ready(client, "lost")
    virtctl.kill()
    assert sandboxes(virtctl.home.path)
    for each in virtctl.home.path.glob("store.db*"):
        each.unlink()
    done = await asyncio.to_thread(virtctl, "up")
    assert done.code == 0, done.err

    async def is_alone() -> bool:
        return not sandboxes(virtctl.home.path)

    await comes_true(is_alone)
    async with api(virtctl) as client:
        await client.create(PODS.raw, pod("next", COUNTING), "default")
        await ready(client, "next")
