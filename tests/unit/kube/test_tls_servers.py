"""The servers of tests: whoever is connected when one ends, nothing is left for the collector of garbage."""

import asyncio
import gc
import socket
import ssl
import warnings
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from tests import tls_servers
from tests.tls_servers import LOOPBACK

from clusterup import certificates

Answer = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]
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
    guest.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    return guest


def told(port: int) -> socket.socket:
    guest = asking(port)
    assert b"200 OK" in guest.recv(1000)
    return guest


def dismissed(port: int) -> socket.socket:
    """Has been told goodbye, and does not answer."""
    guest = through(port)
    guest.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert b"200 OK" in guest.recv(1000)
    return guest


async def _visited(
    context: ssl.SSLContext, guest: Guest, answer: Answer = greet, turns: int = 0
) -> None:
    """By some, and then by some who are at the door when the server ends, so many turns of the loop later."""
    with ExitStack() as guests:
        async with tls_servers.serving(a_runner(answer), context) as port:
            for _ in range(3):
                guests.enter_context(await asyncio.to_thread(guest, port))
            for _ in range(3):
                guests.enter_context(silent(port))
            for _ in range(turns):
                await asyncio.sleep(0)


def _left_behind(work: Coroutine[Any, Any, None]) -> list[str]:
    """What the collector of garbage has to say when a loop has done it and is closed."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        asyncio.run(work)
        gc.collect()
    return [str(each.message) for each in found]


@pytest.mark.parametrize("guest", [silent, in_a_handshake, through, told, dismissed])
def test_whoever_is_there_is_cut_off(context: ssl.SSLContext, guest: Guest) -> None:
    assert _left_behind(_visited(context, guest)) == []


def test_who_waits_for_an_answer_is_cut_off(context: ssl.SSLContext) -> None:
    assert _left_behind(_visited(context, asking, hang)) == []


@pytest.mark.parametrize("turns", range(5))
def test_whoever_comes_at_the_end_is_cut_off(context: ssl.SSLContext, turns: int) -> None:
    assert _left_behind(_visited(context, silent, turns=turns)) == []


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
