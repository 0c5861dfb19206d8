"""A door in a network of its own, and who is behind it."""

import asyncio
import socket
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest
from tests.component.host.net_world import needs_root

from kubevirt.base.commands import run
from kubevirt.embedded.programs.doors import LOOPBACK, led
from kubevirt.host.net.netns import Namespace

pytestmark = needs_root

PORT = 8186
LIMIT_S = 60.0


@pytest.fixture
async def room() -> AsyncIterator[str]:
    """A namespace with nothing but its loopback; its path."""
    name = f"kv-test-{uuid.uuid4().hex[:8]}"
    await run("ip", "netns", "add", name, timeout_s=LIMIT_S)
    try:
        await run("ip", "-n", name, "link", "set", "lo", "up", timeout_s=LIMIT_S)
        yield f"/run/netns/{name}"
    finally:
        await run("ip", "netns", "delete", name, timeout_s=LIMIT_S)


@asynccontextmanager
async def echoing() -> AsyncIterator[int]:
    """Says everything twice."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            writer.write(line * 2)
        writer.close()

    server = await asyncio.start_server(answer, LOOPBACK, 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


def said(words: bytes) -> bytes:
    """By whoever is at the door."""
    with socket.create_connection((LOOPBACK, PORT), timeout=LIMIT_S) as line:
        line.sendall(words)
        line.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: line.recv(4096), b""))


async def heard(room: str, words: bytes) -> bytes:
    with Namespace.at(room) as own:
        return await own.run(lambda: said(words))


async def test_whoever_comes_is_led_to_where_a_program_listens(room: str) -> None:
    async with echoing() as inside, led(room, LOOPBACK, PORT, inside):
        assert await heard(room, b"hello\n") == b"hello\nhello\n"
        much = b"x" * 4095 + b"\n"
        assert await heard(room, much * 100) == much * 200


async def test_with_nobody_behind_it_a_visit_ends_and_the_next_one_may_come(room: str) -> None:
    async with echoing() as inside:
        pass  # it listened here, and does no more
    async with led(room, LOOPBACK, PORT, inside):
        for _ in range(2):
            with suppress(OSError):  # reset, or not connected any more: other ways to learn it
                assert await heard(room, b"hello\n") == b""


async def test_the_door_is_gone_with_who_made_it_and_so_are_its_visitors(room: str) -> None:
    with Namespace.at(room) as own:
        async with echoing() as inside:
            async with led(room, LOOPBACK, PORT, inside):
                line = await own.run(lambda: socket.create_connection((LOOPBACK, PORT)))
                line.settimeout(LIMIT_S)
                await asyncio.to_thread(line.sendall, b"hello\n")
                assert (await asyncio.to_thread(line.recv, 5)) == b"hello"
            with line:
                assert await asyncio.to_thread(_rest, line) == b"\nhello\n"
        with pytest.raises(ConnectionRefusedError):
            await own.run(lambda: said(b"hello\n"))


def _rest(line: socket.socket) -> bytes:
    return b"".join(iter(lambda: line.recv(4096), b""))
