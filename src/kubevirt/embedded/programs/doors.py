"""A door in the network of a node that has one of its own: whoever comes to it is led to where a program listens.

The node's address is there and nowhere else. What is said passes as it is: TLS is between those who speak.
"""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final

from kubevirt.base.tasks import first_of
from kubevirt.host.net.netns import Namespace

LOOPBACK: Final = "127.0.0.1"
_PIECE: Final = 64 << 10
_CONNECT_S: Final = 10.0


@asynccontextmanager
async def led(namespace: str, address: str, port: int, inside: int) -> AsyncIterator[None]:
    """From `port` at `address` of the namespace to the port `inside` of the machine's loopback."""
    with Namespace.at(namespace) as own:
        listener = await own.run(lambda: socket.create_server((address, port)))

    async with asyncio.TaskGroup() as tasks:
        visits = set[asyncio.Task[None]]()

        def came(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            visit = tasks.create_task(_lead(reader, writer, inside))
            visits.add(visit)
            visit.add_done_callback(visits.discard)

        server = await asyncio.start_server(came, sock=listener)
        try:
            yield
        finally:
            server.close()
            for visit in visits:
                visit.cancel()


async def _lead(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, inside: int) -> None:
    try:
        with suppress(OSError, TimeoutError):  # whoever came sees a connection that ends
            await _join(reader, writer, inside)
    finally:
        writer.close()


async def _join(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, inside: int) -> None:
    async with asyncio.timeout(_CONNECT_S):
        there, back = await asyncio.open_connection(LOOPBACK, inside)
    try:
        await first_of(_pass_on(reader, back), _pass_on(there, writer))
    finally:
        back.close()


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Until one of them leaves: then there is nobody left to talk to."""
    while piece := await reader.read(_PIECE):
        writer.write(piece)
        await writer.drain()
