"""Local UDP ports that lead to a guest's: whoever sends from one address has a websocket of its own.

A datagram is a message of it. Nobody says goodbye in UDP, so a sender is forgotten when nothing has passed for
a while, and there is room for so many at a time.
"""

import asyncio
import socket
from typing import Any, Final

import aiohttp

from kubevirt.base.errors import KubevirtError
from kubevirt.base.tasks import first_of
from kubevirt.cli.streams.tcp import Complain, Connect

IDLE_S: Final = 60.0
SENDERS_LIMIT: Final = 256
WAITING_LIMIT: Final = 64
"""Datagrams of one sender that wait for the connection; more are dropped, as UDP does."""

Address = tuple[Any, ...]


async def serve(listener: socket.socket, connect: Connect, complain: Complain) -> None:
    """Until it is cancelled."""
    async with asyncio.TaskGroup() as tasks:
        loop = asyncio.get_running_loop()
        transport, _ = await loop.create_datagram_endpoint(
            lambda: _Door(tasks, connect, complain), sock=listener
        )
        try:
            await asyncio.Event().wait()
        finally:
            transport.abort()


class _Door(asyncio.DatagramProtocol):
    def __init__(self, tasks: asyncio.TaskGroup, connect: Connect, complain: Complain) -> None:
        self._tasks = tasks
        self._connect = connect
        self._complain = complain
        self._senders: dict[Address, asyncio.Queue[bytes]] = {}
        self._transport: asyncio.DatagramTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]  # asyncio gives a datagram's

    def datagram_received(self, data: bytes, addr: Address) -> None:
        waiting = self._senders.get(addr)
        if waiting is None:
            if len(self._senders) >= SENDERS_LIMIT:
                return
            waiting = self._senders[addr] = asyncio.Queue(WAITING_LIMIT)
            self._tasks.create_task(self._attend(addr, waiting))
        if not waiting.full():
            waiting.put_nowait(data)

    async def _attend(self, addr: Address, waiting: asyncio.Queue[bytes]) -> None:
        try:
            async with self._connect() as connection, asyncio.timeout(IDLE_S) as idle:
                await first_of(
                    self._inwards(connection, addr, idle), _outwards(connection, waiting, idle)
                )
        except TimeoutError:
            pass  # it has nothing more to say
        except (KubevirtError, aiohttp.ClientError, OSError) as error:
            self._complain(str(error))
        finally:
            del self._senders[addr]

    async def _inwards(
        self,
        connection: aiohttp.ClientWebSocketResponse,
        addr: Address,
        idle: asyncio.Timeout,
    ) -> None:
        async for message in connection:
            if message.type is aiohttp.WSMsgType.BINARY and self._transport:
                _stay(idle)
                self._transport.sendto(message.data, addr)


async def _outwards(
    connection: aiohttp.ClientWebSocketResponse,
    waiting: asyncio.Queue[bytes],
    idle: asyncio.Timeout,
) -> None:
    while True:
        data = await waiting.get()
        _stay(idle)
        await connection.send_bytes(data)


def _stay(idle: asyncio.Timeout) -> None:
    idle.reschedule(asyncio.get_running_loop().time() + IDLE_S)
