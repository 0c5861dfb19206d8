"""A door in the network of a node that has one of its own: whoever comes to it is led to where a program listens.

The node's address is there and nowhere else. What is said passes as it is: TLS is between those who speak.
"""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final

from kubevirt.host.net.netns import Namespace

LOOPBACK: Final = "127.0.0.1"
_PIECE: Final = 64 << 10
_CONNECT_S: Final = 10.0

_Line = tuple[asyncio.StreamReader, asyncio.StreamWriter]


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
    """Whoever came sees a connection that ends if there is nobody behind the door."""
    try:
        with suppress(OSError, TimeoutError):
            async with asyncio.timeout(_CONNECT_S):
                there, back = await asyncio.open_connection(LOOPBACK, inside)
            try:
                await _join((reader, writer), (there, back))
            finally:
                back.close()
    finally:
        writer.close()


async def _join(one: _Line, other: _Line) -> None:
    try:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(_pass_on(one[0], other[1]))
            tasks.create_task(_pass_on(other[0], one[1]))
    except* OSError:
        pass  # one of them left without a word, so the other one is left alone, too


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Until there is no more; the other way goes on until its own end."""
    while piece := await reader.read(_PIECE):
        writer.write(piece)
        await writer.drain()
    writer.write_eof()
