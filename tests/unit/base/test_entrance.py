"""Where servers let people in: whoever is connected when one ends, nothing is left for the collector of garbage."""

import asyncio
import gc
import socket
import ssl
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from aiohttp import web
from tests import tls_servers
from tests.tls_servers import LOOPBACK

from clusterup import certificates
from kubevirt.apiserver.http import serving as api_server
from kubevirt.base.callers import Callers
from kubevirt.base.clock import SystemClock
from kubevirt.base.entrance import Entrance
from kubevirt.components.handler.web import service as virt_handler
from kubevirt.components.virtapi import serving as virt_api
from kubevirt.kube.http.health import Health, telling
from kubevirt.kube.metrics import Metrics

Answer = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]
Serving = AbstractAsyncContextManager[int]
Server = Callable[[ssl.SSLContext], Serving]
Guest = Callable[[int], socket.socket]
"""Connects to a port and goes no further."""


@pytest.fixture(scope="session")
def context() -> ssl.SSLContext:
    pair = certificates.Authority.create("test").server("test", [LOOPBACK])
    return tls_servers.context_of(pair)


async def greet(request: web.BaseRequest) -> web.StreamResponse:
    return web.Response(text="hello")


async def hang(request: web.BaseRequest) -> web.StreamResponse:
    await asyncio.Event().wait()
    raise AssertionError("nobody hangs for ever")


def a_runner(answer: Answer = greet) -> web.ServerRunner:
    server = web.Server(answer, access_log=None, handler_cancellation=True)
    return web.ServerRunner(server, shutdown_timeout=0.1)


def silent(port: int) -> socket.socket:
    return socket.create_connection((LOOPBACK, port), timeout=30)


def in_a_handshake(port: int) -> socket.socket:
    guest = silent(port)
    guest.sendall(b"\x16\x03\x01\x02\x00\x01")
    return guest


def through(port: int) -> ssl.SSLSocket:
    trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    trusting.check_hostname = False
    trusting.verify_mode = ssl.CERT_NONE
    return trusting.wrap_socket(silent(port))


def asking(port: int) -> socket.socket:
    guest = through(port)
    guest.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
    return guest


def told(port: int) -> socket.socket:
    guest = asking(port)
    assert b"200 OK" in guest.recv(1000)
    return guest


def dismissed(port: int) -> socket.socket:
    """Has been told goodbye, and does not answer."""
    guest = through(port)
    guest.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert b"200 OK" in guest.recv(1000)
    return guest


@asynccontextmanager
async def of_a_test(context: ssl.SSLContext, answer: Answer = greet) -> AsyncIterator[int]:
    async with tls_servers.serving(a_runner(answer), context) as port:
        yield port


def of_health(context: ssl.SSLContext) -> Serving:
    return telling(Metrics(), Health(), SystemClock(), host=LOOPBACK, port=0, tls=context)


@asynccontextmanager
async def of_the_api_server(context: ssl.SSLContext) -> AsyncIterator[int]:
    front = SimpleNamespace(handle=greet)
    async with api_server.listening(front, LOOPBACK, 0, SystemClock(), context) as found:
        yield found.port


def of_virt_api(context: ssl.SSLContext) -> Serving:
    front: Any = SimpleNamespace(handle=greet, callers=Callers())
    return virt_api.serving(front, virt_api.Doors(tls=context, host=LOOPBACK), SystemClock())


def of_virt_handler(context: ssl.SSLContext) -> Serving:
    async def answer(request: web.Request) -> web.StreamResponse:
        return await greet(request)

    application = web.Application()
    application.router.add_get("/healthz", answer)
    service: Any = SimpleNamespace(application=lambda: application)
    settings: Any = SimpleNamespace(address=LOOPBACK, port=0)
    return virt_handler.serving(service, settings, context, SystemClock())


SERVERS = [of_a_test, of_health, of_the_api_server, of_virt_api, of_virt_handler]


def _left_by(serving: Serving, guest: Guest, turns: int = 0) -> list[str]:
    """Visited by some, and then by some who are at the door when the server ends, so many turns of the loop later. They stay
    for longer than the loop.
    """

    async def visited() -> None:
        async with serving as port:
            for _ in range(3):
                guests.enter_context(await asyncio.to_thread(guest, port))
            for _ in range(3):
                guests.enter_context(silent(port))
            for _ in range(turns):
                await asyncio.sleep(0)

    with ExitStack() as guests:
        return _left_behind(visited())


def _left_behind(work: Coroutine[Any, Any, None]) -> list[str]:
    """What the collector of garbage has to say when a loop has done it and is closed."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        asyncio.run(work)
        gc.collect()
    return [str(each.message) for each in found]


@pytest.mark.parametrize("guest", [silent, in_a_handshake, through, told, dismissed])
@pytest.mark.parametrize("serving", SERVERS)
def test_whoever_is_there_when_a_server_ends_is_cut_off(
    context: ssl.SSLContext, serving: Server, guest: Guest
) -> None:
    assert _left_by(serving(context), guest) == []


def test_who_waits_for_an_answer_is_cut_off(context: ssl.SSLContext) -> None:
    assert _left_by(of_a_test(context, hang), asking) == []


@pytest.mark.parametrize("turns", range(5))
def test_whoever_comes_at_the_end_is_cut_off(context: ssl.SSLContext, turns: int) -> None:
    assert _left_by(of_a_test(context), silent, turns) == []


def test_a_port_can_be_taken_again_at_once(context: ssl.SSLContext) -> None:
    async def twice() -> None:
        async with tls_servers.serving(a_runner(), context) as port:
            (await asyncio.to_thread(told, port)).close()
        async with tls_servers.serving(a_runner(), context, port=port) as again:
            assert again == port
            (await asyncio.to_thread(told, port)).close()

    assert _left_behind(twice()) == []


def test_a_unix_socket_is_private(tmp_path: Path) -> None:
    path = tmp_path / "socket"

    async def visited() -> None:
        with socket.socket(socket.AF_UNIX) as guest:
            async with tls_servers.serving_at(a_runner(), path):
                assert path.stat().st_mode & 0o777 == 0o600
                guest.connect(str(path))
                await asyncio.sleep(0)

    assert _left_behind(visited()) == []


async def test_an_address_that_is_taken_is_named() -> None:
    with socket.create_server((LOOPBACK, 0)) as other:
        port = other.getsockname()[1]
        entrance = Entrance(asyncio.Protocol, SystemClock())
        taken = f"cannot listen at {LOOPBACK}:{port}: Address already in use"
        with pytest.raises(OSError, match=taken):
            await entrance.open(LOOPBACK, port)
        await entrance.close(nobody)


async def test_without_a_host_it_is_at_every_address_until_it_is_closed() -> None:
    entrance = Entrance(Greeter, SystemClock())
    port = await entrance.open("", 0)
    try:
        assert await greeting(LOOPBACK, port) == b"hello"
    finally:
        await entrance.close(nobody)
    with pytest.raises(ConnectionRefusedError):
        await greeting(LOOPBACK, port)


class Greeter(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        transport.write(b"hello")
        transport.close()


async def greeting(host: str, port: int) -> bytes:
    reader, writer = await asyncio.open_connection(host, port)
    try:
        return await reader.read()
    finally:
        writer.close()


async def nobody() -> None:
    """Is inside."""
