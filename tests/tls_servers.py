"""A server of a test: when its block ends, nothing of it is left.

    context = tls_servers.context_of(authority.server("lamps", [LOOPBACK]))
    async with tls_servers.serving(runner, context) as port:
        …

Whoever asks may be anywhere when a test ends: at the door, in the middle of a handshake, or in a farewell
that nobody answers. aiohttp knows only of those who are through the handshake, and is polite to them;
asyncio forgets those whom it let in at the moment in which it closes the door. The sockets of both would
be left to the collector of garbage, which complains in the middle of another test. So the listener
remembers whom it let in, and they are cut off before the door is closed.
"""

import asyncio
import contextlib
import socket
import ssl
import tempfile
import weakref
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aiohttp import web

from clusterup import certificates

Runner = web.AppRunner | web.ServerRunner

LOOPBACK = "127.0.0.1"
_LIMIT_S = 60.0
"""To be gone is a matter of a few turns of the loop, but a machine may stall."""


def context_of(pair: certificates.Pair, *, clients: bytes = b"") -> ssl.SSLContext:
    """What a server shows. With `clients` (PEM) it lets in only whom that authority has signed."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.TemporaryDirectory() as folder:
        context.load_cert_chain(*pair.write(Path(folder), "server"))
    if clients:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(cadata=clients.decode())
    return context


@asynccontextmanager
async def serving(
    runner: Runner, context: ssl.SSLContext | None = None, address: str = LOOPBACK, port: int = 0
) -> AsyncIterator[int]:
    """Gives the port, which the system chooses if it is 0. The runner is set up and cleaned up here."""
    listener = Listener(socket.AF_INET)
    async with _served(runner, listener, (address, port), context):
        yield listener.getsockname()[1]


@asynccontextmanager
async def serving_at(runner: Runner, path: Path) -> AsyncIterator[None]:
    """At a private unix socket."""
    listener = Listener(socket.AF_UNIX)
    async with _served(runner, listener, str(path), None):
        await asyncio.to_thread(path.chmod, 0o600)  # in a moment, before anybody knows of it
        yield


class Listener(socket.socket):
    """Remembers whom it let in, as long as they are there."""

    def __init__(self, family: socket.AddressFamily) -> None:
        super().__init__(family, socket.SOCK_STREAM)
        self._let_in: weakref.WeakSet[socket.socket] = weakref.WeakSet()

    def accept(self) -> tuple[socket.socket, Any]:
        connection, peer = super().accept()
        self._let_in.add(connection)
        return connection, peer

    @property
    def still_open(self) -> Sequence[socket.socket]:
        return [each for each in self._let_in if each.fileno() >= 0]


@asynccontextmanager
async def _served(
    runner: Runner, listener: Listener, address: Any, context: ssl.SSLContext | None
) -> AsyncIterator[None]:
    with listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        await runner.setup()
        try:
            await web.SockSite(runner, listener, ssl_context=context).start()
            try:
                yield
            finally:
                asyncio.get_running_loop().remove_reader(listener)  # nobody else comes in
                await _cut_off(runner, listener)
        finally:
            await runner.cleanup()


async def _cut_off(runner: Runner, listener: Listener) -> None:
    """Without a goodbye: whoever does not listen would never hear it."""
    assert runner.server is not None
    async with asyncio.timeout(_LIMIT_S):
        while left := listener.still_open:
            for known in runner.server.connections:
                if isinstance(known.transport, asyncio.WriteTransport):
                    # What Python's TLS has to say of one that was closed twice.
                    with contextlib.suppress(AttributeError):
                        known.transport.abort()
            for each in left:  # the others hear that it is over, whatever they were saying
                with contextlib.suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)
            await asyncio.sleep(0)
