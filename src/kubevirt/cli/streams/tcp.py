"""Local TCP ports that lead to a guest's: each connection has a websocket of its own."""

import asyncio
import ipaddress
import socket
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from functools import partial
from typing import Final

import aiohttp

from kubevirt.base.errors import KubevirtError, UserError
from kubevirt.cli.streams.relay import relay

CHUNK: Final = 1 << 16
_BACKLOG: Final = 100

Connect = Callable[[], AbstractAsyncContextManager[aiohttp.ClientWebSocketResponse]]
"""To the other side."""
Complain = Callable[[str], None]
"""Of one connection that did not come about; the others go on."""


def bound(address: str, port: int, kind: socket.SocketKind) -> socket.socket:
    """A local port, taken; 0 takes one that is free."""
    try:
        family = socket.AF_INET6 if ipaddress.ip_address(address).version == 6 else socket.AF_INET
    except ValueError:
        raise UserError(f"{address!r} is no IP address", reason="Usage") from None
    taken = socket.socket(family, kind)
    try:
        taken.setblocking(False)
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, int(kind is socket.SOCK_STREAM))
        taken.bind((address, port))
        if kind is socket.SOCK_STREAM:
            taken.listen(_BACKLOG)  # whoever is told of the port may come before we look
    except OSError as error:
        taken.close()
        raise UserError(
            f"port {port} of {address} cannot be taken: {error.strerror}; choose another",
            reason="PortInUse",
        ) from None
    return taken


async def serve(listener: socket.socket, connect: Connect, complain: Complain) -> None:
    """Until it is cancelled; then everybody is cut off."""
    async with asyncio.TaskGroup() as callers:

        def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            callers.create_task(_attend(reader, writer, connect, complain))

        server = await asyncio.start_server(take, sock=listener)
        try:
            await asyncio.Event().wait()
        finally:
            server.close()


async def _attend(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    connect: Connect,
    complain: Complain,
) -> None:
    try:
        async with connect() as connection:
            await carry(connection, reader, writer)
    except (KubevirtError, OSError) as error:
        complain(str(error))
    finally:
        writer.transport.abort()


async def carry(
    connection: aiohttp.ClientWebSocketResponse,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
) -> None:
    """One local connection, to its end."""

    async def write(data: bytes) -> None:
        writer.write(data)
        await writer.drain()

    with suppress(ConnectionError):  # whoever came is gone
        await relay(connection, partial(reader.read, CHUNK), write)
        writer.close()
        await writer.wait_closed()
