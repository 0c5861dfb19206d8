"""Ports of guests: a websocket, joined to a TCP connection or to datagrams.

Only an address of the guest's own pod is spoken to. The status of an instance tells what its guest says of itself,
and we stand where other things can be reached than where the guest does.
"""

import asyncio
import os
from typing import Final

import aiohttp
from aiohttp import web

from kubevirt.base.tasks import first_of
from kubevirt.components.virtapi.keepalive import watch_over
from kubevirt.components.virtapi.parts import Parts
from kubevirt.components.virtapi.path import Asked
from kubevirt.components.virtapi.subresources import joining, objects
from kubevirt.components.virtapi.subresources.datagrams import Datagrams, datagrams
from kubevirt.components.virtapi.subresources.joining import End
from kubevirt.virt.commands import calls, guest
from kubevirt.virt.commands.refusal import internal

CONNECT_S: Final = 10.0
CHUNK: Final = 32 << 10
LAST_S: Final = 3.0
"""For what was said last to be sent off when one side has ended."""


class Ports:
    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    async def forward(self, request: web.BaseRequest, asked: Asked) -> web.StreamResponse:
        port = guest.port(asked.arguments[0] if asked.arguments else "")
        protocol = guest.protocol(asked.arguments[1] if len(asked.arguments) > 1 else "")
        joining.is_wanted(request)
        parts = self._parts
        address = await self._address(asked)
        now = parts.clock.now().timestamp()
        with parts.tunnels.counted("portforward", asked.namespace, asked.name, now):
            if protocol == "udp":
                return await self._datagrams(request, address, port)
            return await self._stream(request, address, port)

    async def _address(self, asked: Asked) -> str:
        client = self._parts.client
        is_machine = asked.call.resource == calls.MACHINES
        find = objects.started_instance if is_machine else objects.instance
        vmi = await find(client, asked)
        address = guest.address(vmi)
        if address not in await objects.pod_addresses(client, vmi):
            raise guest.not_its_own(vmi, address)
        return address

    async def _stream(
        self, request: web.BaseRequest, address: str, port: int
    ) -> web.StreamResponse:
        try:
            async with self._parts.clock.timeout(CONNECT_S):
                reader, writer = await asyncio.open_connection(address, port, limit=CHUNK)
        except OSError as error:  # a TimeoutError is one
            raise internal(f"dialing VM: {_why(error, address, port)}") from None
        watch_over(writer.get_extra_info("socket"))
        try:
            client = await joining.accepted(request)
            end = await first_of(_from_guest(reader, client), _to_guest(client, writer))
            await self._ended(request, client, end)
        finally:
            await self._hung_up(writer)
        return client

    async def _hung_up(self, writer: asyncio.StreamWriter) -> None:
        """On the guest; what it does not take in time, it does not get."""
        writer.close()
        try:
            async with self._parts.clock.timeout(LAST_S):
                await writer.wait_closed()
        except OSError:  # a TimeoutError is one
            writer.transport.abort()

    async def _datagrams(
        self, request: web.BaseRequest, address: str, port: int
    ) -> web.StreamResponse:
        try:
            async with datagrams(address, port) as peer:
                client = await joining.accepted(request)
                end = await first_of(_heard(peer, client), _told(client, peer))
                await self._ended(request, client, end)
        except OSError as error:
            raise internal(f"dialing VM: {_why(error, address, port)}") from None
        return client

    async def _ended(
        self, request: web.BaseRequest, client: web.WebSocketResponse, end: End
    ) -> None:
        if end.code is None:
            joining.cut_off(request)
        else:
            await joining.closed(client, end, self._parts.clock)


async def _from_guest(reader: asyncio.StreamReader, client: web.WebSocketResponse) -> End:
    try:
        while data := await reader.read(CHUNK):
            await client.send_bytes(data)
    except OSError as error:  # of the guest's connection, or of the client's
        return End(aiohttp.WSCloseCode.GOING_AWAY, str(error))
    return End(aiohttp.WSCloseCode.OK)


async def _to_guest(client: web.WebSocketResponse, writer: asyncio.StreamWriter) -> End:
    while True:
        message = await client.receive()
        try:
            match message.type:
                case aiohttp.WSMsgType.BINARY:
                    writer.write(message.data)
                    await writer.drain()
                case aiohttp.WSMsgType.TEXT:
                    writer.write(message.data.encode())
                    await writer.drain()
                case aiohttp.WSMsgType.PING:
                    await client.pong(message.data)
                case aiohttp.WSMsgType.PONG:
                    pass
                case _:
                    return joining.ended_by(message)
        except OSError as error:
            return End(aiohttp.WSCloseCode.GOING_AWAY, str(error))


async def _heard(peer: Datagrams, client: web.WebSocketResponse) -> End:
    while True:
        try:
            await client.send_bytes(await peer.receive())
        except OSError:
            return End()


async def _told(client: web.WebSocketResponse, peer: Datagrams) -> End:
    while True:
        message = await client.receive()
        match message.type:
            case aiohttp.WSMsgType.BINARY:
                peer.send(message.data)
            case aiohttp.WSMsgType.PING:
                await client.pong(message.data)
            case aiohttp.WSMsgType.TEXT | aiohttp.WSMsgType.PONG:
                pass
            case _:
                return joining.ended_by(message)


def _why(error: OSError, address: str, port: int) -> str:
    """As Go says it, since people look for these words."""
    if isinstance(error, TimeoutError):
        why = "i/o timeout"
    else:
        why = f"connect: {os.strerror(error.errno).lower()}" if error.errno else str(error)
    shown = f"[{address}]" if ":" in address else address
    return f"dial tcp {shown}:{port}: {why}"
