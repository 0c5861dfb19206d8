"""Events go by themselves, some time after they were last written. On a server with little patience."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
import pytest_asyncio
from tests.contract.conftest import Server, config_of
from tests.contract.family import Family

from clusterup.light import LightCluster
from clusterup.light_embedded import EmbeddedServer
from kubevirt.api.resource import Resource
from kubevirt.kube.client import Client
from kubevirt.kube.errors import NotFound

EVENTS = Resource("", "v1", "events", "Event", True, dict[str, Any])
TTL_S = 8
"""Long enough for a machine that stalls while it is written."""
ABOUT = {"kind": "ConfigMap", "name": "thing", "namespace": "default"}


@pytest_asyncio.fixture
async def forgetting(server_name: str, _programs_are_there: None) -> AsyncIterator[Server]:
    own: AbstractAsyncContextManager[Server] = (
        EmbeddedServer(event_ttl_s=TTL_S)
        if server_name == "embedded"
        else LightCluster(api_flags={"event-ttl": f"{TTL_S}s"})
    )
    async with own as started:
        yield started


async def test_an_event_goes_some_time_after_it_was_last_written(forgetting: Server) -> None:
    loop = asyncio.get_running_loop()
    async with Client(config_of(forgetting.kubeconfig)) as client:
        family = Family(client, "default")
        told = loop.time()
        for name in ("once", "again"):
            await family.create(name, kind=EVENTS, involvedObject=ABOUT, finalizers=["a.b/hold"])
        await asyncio.sleep(TTL_S / 4)
        told_again = loop.time()
        await family.patch("again", {"annotations": {"told": "again"}}, EVENTS)
        await family.has_gone("once", kind=EVENTS)
        assert loop.time() - told > TTL_S - 1
        await family.has_gone("again", kind=EVENTS)
        assert loop.time() - told_again > TTL_S - 1
        with pytest.raises(NotFound):
            await client.get(EVENTS, "again", "default")
