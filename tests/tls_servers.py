"""A server of a test: when its block ends, nothing of it is left.

context = tls_servers.context_of(authority.server("lamps", [LOOPBACK]))
async with tls_servers.serving(runner, context) as port:
...
"""

import socket
import ssl
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from aiohttp import web

from clusterup import certificates
from kubevirt.base.clock import SystemClock
from kubevirt.base.entrance import Entrance

Runner = web.AppRunner | web.ServerRunner

LOOPBACK = "127.0.0.1"


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
    async with _visited(runner) as entrance:
        yield await entrance.open(address, port, tls=context)


@asynccontextmanager
async def serving_at(runner: Runner, path: Path) -> AsyncIterator[None]:
    """At a private unix socket."""
    async with _visited(runner) as entrance:
        await entrance.open_on(_bound(path))
        yield


def _bound(path: Path) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(path))
    path.chmod(0o600)  # before it listens
    return listener


@asynccontextmanager
async def _visited(runner: Runner) -> AsyncIterator[Entrance]:
    await runner.setup()
    assert runner.server is not None
    entrance = Entrance(runner.server, SystemClock())
    try:
        yield entrance
    finally:
        await entrance.close(runner.cleanup)
