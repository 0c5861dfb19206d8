"""Two that speak, joined: what comes out of one goes into the other, until one of both ends.

Each direction waits for the slower side, so who does not read stops who writes, and nothing piles up in between.
"""

from contextlib import suppress
from typing import Final

import aiohttp
import msgspec
from aiohttp import web

from kubevirt.base.clock import Clock
from kubevirt.base.tasks import first_of
from kubevirt.components.virtapi.node_handlers import CLOSE_S, MESSAGE_LIMIT
from kubevirt.virt.commands.calls import PROTOCOL
from kubevirt.virt.commands.refusal import bad_request

Socket = web.WebSocketResponse | aiohttp.ClientWebSocketResponse
GOING_AWAY: Final = aiohttp.WSCloseCode.GOING_AWAY
PIECE: Final = 64 << 10
"""Bytes of a message of ours."""


class End(msgspec.Struct, frozen=True):
    """How one side ended; without a code if it just vanished."""

    code: int | None = None
    reason: str = ""


def is_wanted(request: web.BaseRequest) -> None:
    """Whoever asks for a stream has to be able to take one."""
    words = request.headers.get("Connection", "").lower().split(",")
    upgrades = request.headers.get("Upgrade", "").lower() == "websocket"
    if not upgrades or "upgrade" not in [each.strip() for each in words]:
        raise bad_request(f"this is a websocket of protocol {PROTOCOL}; ask for an upgrade")


async def accepted(request: web.BaseRequest) -> web.WebSocketResponse:
    """The client's side. Those who name no protocol are taken for ones who speak ours."""
    socket = web.WebSocketResponse(
        protocols=(PROTOCOL,),
        autoping=False,
        autoclose=False,
        compress=False,
        max_msg_size=MESSAGE_LIMIT,
        timeout=CLOSE_S,
    )
    await socket.prepare(request)
    return socket


async def join(
    request: web.BaseRequest, client: web.WebSocketResponse, node: Socket, clock: Clock
) -> None:
    end = await first_of(pumped(client, node), pumped(node, client))
    if end.code is None:
        await closed(node, End(GOING_AWAY), clock)
        cut_off(request)
        return
    # The client last: when it has heard of the end, it may leave before we are done.
    await closed(node, end, clock)
    await closed(client, end, clock)


async def pumped(source: Socket, target: Socket) -> End:
    """Passes on what comes until one of both has ended."""
    while True:
        message = await source.receive()
        try:
            match message.type:
                case aiohttp.WSMsgType.TEXT:
                    await sent(target, message.data.encode())
                case aiohttp.WSMsgType.BINARY:
                    await sent(target, message.data)
                case aiohttp.WSMsgType.PING:
                    await target.ping(message.data)
                case aiohttp.WSMsgType.PONG:
                    await target.pong(message.data)
                case _:
                    return ended_by(message)
        except (aiohttp.ClientConnectionResetError, ConnectionError):
            return End()


async def sent(target: Socket, data: bytes) -> None:
    """Bytes are all that counts here, so they go on in pieces that everybody takes."""
    for start in range(0, len(data), PIECE):
        await target.send_bytes(data[start : start + PIECE])


def ended_by(message: aiohttp.WSMessage) -> End:
    if message.type is aiohttp.WSMsgType.CLOSE:
        code = message.data or aiohttp.WSCloseCode.OK
        return End(int(code), message.extra or "")
    if isinstance(message.data, aiohttp.WebSocketError):
        return End(int(message.data.code), str(message.data))
    return End()


async def closed(side: Socket, end: End, clock: Clock) -> None:
    code = end.code or aiohttp.WSCloseCode.OK
    with suppress(TimeoutError, ConnectionError, aiohttp.ClientError):
        async with clock.timeout(CLOSE_S):
            await side.close(code=code, message=end.reason.encode()[:100])


def cut_off(request: web.BaseRequest) -> None:
    if request.transport:
        with suppress(AttributeError):  # what Python's TLS has to say of one that is closed
            request.transport.abort()
