"""When a server gives memory back: once, a moment after the last change of its kinds."""

import msgspec
import pytest

from kubevirt.api import crds
from kubevirt.apiserver.kinds import custom
from kubevirt.apiserver.kinds.catalog import Catalog
from kubevirt.apiserver.resting import REST_S, Resting
from kubevirt.base.clock import Clock
from kubevirt.base.tasks import background

pytestmark = pytest.mark.virtual_time


def change(catalog: Catalog) -> None:
    crd = crds.load()[0]
    catalog.put(crd["metadata"]["name"], custom.read(msgspec.json.encode(crd)))


async def test_many_changes_are_followed_by_one_rest(clock: Clock) -> None:
    catalog, rests = Catalog(), list[float]()

    async def rest() -> None:
        rests.append(clock.monotonic())

    resting = Resting(catalog, clock, rest)
    async with background(resting.run()):
        await clock.sleep(3600)
        assert rests == [], "a server that nobody changes does nothing"
        for _ in range(50):
            change(catalog)
            await clock.sleep(REST_S / 2)
        await clock.sleep(3600)
        assert len(rests) == 1
        change(catalog)
        await clock.sleep(3600)
        assert len(rests) == 2
