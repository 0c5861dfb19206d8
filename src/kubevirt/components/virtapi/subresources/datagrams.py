"""Datagrams to one peer and from it. As on any network, those for whom there is no room are lost."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

WAITING: Final = 256
"""Datagrams that wait to be taken."""
LARGEST: Final = 65507


class Datagrams(asyncio.DatagramProtocol):
    def __init__(self) -> None:
        self._waiting: asyncio.Queue[bytes] = asyncio.Queue(WAITING)
        self._transport: asyncio.DatagramTransport | None = None

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def datagram_received(self, data: bytes, _: Any) -> None:
        if not self._waiting.full():
            self._waiting.put_nowait(data)

    def error_received(self, exc: Exception) -> None:
        """Nobody listens there now; somebody may in a moment."""

    async def receive(self) -> bytes:
        return await self._waiting.get()

    def send(self, data: bytes) -> None:
        if self._transport is not None and len(data) <= LARGEST:
            self._transport.sendto(data)


@asynccontextmanager
async def datagrams(address: str, port: int) -> AsyncIterator[Datagrams]:
    loop = asyncio.get_running_loop()
    transport, peer = await loop.create_datagram_endpoint(Datagrams, remote_addr=(address, port))
    try:
        yield peer
    finally:
        transport.abort()
