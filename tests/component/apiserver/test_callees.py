"""Connections to those who answer for the server: shared, bounded, and closed when it ends."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest
from aiohttp import web
from tests import tls_servers
from tests.contract import hooks
from tests.contract.hooks import Hook, HookServer

from kubevirt.apiserver.callees.callee import Callee
from kubevirt.apiserver.callees.callees import Callees, CalleesSettings
from kubevirt.apiserver.callees.errors import CalleeAway
from kubevirt.apiserver.callees.posting import Posted, post
from kubevirt.apiserver.callees.services import Services
from kubevirt.apiserver.kinds.catalog import Catalog
from kubevirt.apiserver.storage.memory import MemoryDisk, memory_store
from kubevirt.base.clock import SystemClock

QUESTION = b'{"request":{"uid":"u"}}'


@pytest.fixture
async def callees() -> AsyncIterator[Callees]:
    """Who keeps connections to two callees."""
    async with memory_store(MemoryDisk(), clock=SystemClock()) as store:
        callees = Callees(Services(store, Catalog()), CalleesSettings(pools=2))
        yield callees
        await callees.close()


@pytest.fixture
async def servers() -> AsyncIterator[list[HookServer]]:
    async with AsyncExitStack() as stack:
        found = [await stack.enter_async_context(hooks.served()) for _ in range(4)]
        for server in found:
            server.hooks["/hook"] = Hook()
        yield found


def callee(
    server: HookServer, authority: bytes | None = None, *, is_unverified: bool = False
) -> Callee:
    if authority is None:
        authority = hooks.authority("hooks").pair.certificate
    return Callee(url=server.url(""), authority=authority, is_unverified=is_unverified)


async def ask(callees: Callees, whom: Callee) -> Posted:
    return await post(callees, whom, "/hook", QUESTION, limit=1000)


async def test_only_so_many_pools_are_kept(callees: Callees, servers: list[HookServer]) -> None:
    for server in servers:
        assert (await ask(callees, callee(server))).status == 200
    assert len(callees._pools) == 2


async def test_one_that_is_in_use_is_not_closed(
    callees: Callees, servers: list[HookServer]
) -> None:
    first, *others = servers
    async with callees.reached(callee(first)) as way:
        for server in others:
            await ask(callees, callee(server))
        async with way.session.post(f"{way.origin}/hook", data=QUESTION) as answer:
            assert answer.status == 200


async def test_who_is_trusted_otherwise_is_another_callee(
    callees: Callees, servers: list[HookServer]
) -> None:
    """Nobody talks over a connection that was made by other rules."""
    server = servers[0]
    assert (await ask(callees, callee(server, authority=b"", is_unverified=True))).status == 200
    strange = hooks.authority("strange").pair.certificate
    with pytest.raises(CalleeAway, match="certificate signed by unknown authority"):
        await ask(callees, callee(server, authority=strange))


async def test_without_a_bundle_the_machine_decides(
    callees: Callees, servers: list[HookServer]
) -> None:
    with pytest.raises(CalleeAway, match="certificate signed by unknown authority"):
        await ask(callees, callee(servers[0], authority=b""))


async def test_a_webhooks_own_certificate_may_be_its_authority(callees: Callees) -> None:
    """As Go believes whatever stands in the bundle."""
    pair = hooks.authority("hooks").server("hook", ["127.0.0.1"])
    async with hooks.served(tls_servers.context_of(pair)) as server:
        server.hooks["/hook"] = Hook()
        assert (await ask(callees, callee(server, authority=pair.certificate))).status == 200


async def test_a_connection_that_was_closed_meanwhile_is_not_the_callees_fault(
    callees: Callees,
) -> None:
    """It is noticed only when the next question is sent; that one is sent again over a new connection."""
    seen: set[object] = set()

    async def close_when_used_again(request: web.BaseRequest) -> web.StreamResponse:
        transport = request.transport
        assert transport is not None
        if transport in seen:
            transport.abort()
        seen.add(transport)
        return web.Response(text="{}")

    async with hooks.answering(close_when_used_again) as port:
        whom = callee(HookServer(port))
        for _ in range(3):
            assert (await ask(callees, whom)).status == 200
    assert len(seen) == 3


async def test_an_answer_is_read_no_further_than_its_limit(
    callees: Callees, servers: list[HookServer]
) -> None:
    with pytest.raises(CalleeAway, match="the answer is larger than 10 bytes"):
        await post(callees, callee(servers[0]), "/hook", QUESTION, limit=10)
