"""Events go by themselves, some time after they were last written. On a server with little patience."""

import asyncio
from typing import Any

import pytest
from tests.contract.conftest import EVENT_TTL_S, Mortal, config_of
from tests.contract.family import Family

from kubevirt.api.resource import Resource
from kubevirt.kube.client import Client
from kubevirt.kube.errors import NotFound

EVENTS = Resource("", "v1", "events", "Event", True, dict[str, Any])
ABOUT = {"kind": "ConfigMap", "name": "thing", "namespace": "default"}


async def test_an_event_goes_some_time_after_it_was_last_written(forgetful: Mortal) -> None:
    loop = asyncio.get_running_loop()
    async with Client(config_of(forgetful.kubeconfig)) as client:
        family = Family(client, "default")
        told = loop.time()
        for name in ("once", "again"):
            await family.create(name, kind=EVENTS, involvedObject=ABOUT, finalizers=["a.b/hold"])
        await asyncio.sleep(EVENT_TTL_S / 4)
        told_again = loop.time()
        await family.patch("again", {"annotations": {"told": "again"}}, EVENTS)
        await family.has_gone("once", kind=EVENTS)
        assert loop.time() - told > EVENT_TTL_S - 1
        await family.has_gone("again", kind=EVENTS)
        assert loop.time() - told_again > EVENT_TTL_S - 1
        with pytest.raises(NotFound):
            await client.get(EVENTS, "again", "default")
