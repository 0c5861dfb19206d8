"""A way to a server on which the bytes of its answers are counted."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace

from yarl import URL

from kubevirt.base.tasks import first_of
from kubevirt.kube.access.config import Config

LOOPBACK = "127.0.0.1"
_PIECE = 1 << 16


@dataclass
class CountedWay:
    config: Config
    """For a client that takes it."""
    received: int = 0
    """Bytes of answers, TLS included."""


@asynccontextmanager
async def counted_way(config: Config) -> AsyncIterator[CountedWay]:
    """Whoever takes it has to have closed its connections when the block ends."""
    way, server, travels = CountedWay(config), URL(config.server), set[asyncio.Task[None]]()

    async def travel(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection(server.host, server.port)
        try:
            await first_of(_carry(reader, back, None), _carry(there, writer, way))
        finally:
            for each in (writer, back):
                each.close()
                with suppress(ConnectionError):
                    await each.wait_closed()

    def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        travels.add(asyncio.ensure_future(travel(reader, writer)))

    async with await asyncio.start_server(begin, LOOPBACK, 0) as door:
        port = door.sockets[0].getsockname()[1]
        way.config = replace(config, server=str(server.with_host(LOOPBACK).with_port(port)))
        yield way
        await asyncio.gather(*travels)


async def _carry(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, way: CountedWay | None
) -> None:
    with suppress(ConnectionError):
        while piece := await reader.read(_PIECE):
            if way is not None:
                way.received += len(piece)
            writer.write(piece)
            await writer.drain()
