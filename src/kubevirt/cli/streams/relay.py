"""One local stream and one websocket, until either ends."""

import asyncio
from collections.abc import Awaitable, Callable
from enum import Enum
from typing import Final

import aiohttp

from kubevirt.base.errors import Unreachable
from kubevirt.base.tasks import first_of

Read = Callable[[], Awaitable[bytes]]
"""What has come; nothing at the end."""
Write = Callable[[bytes], Awaitable[None]]

LINGER_S: Final = 10.0
"""How long answers are waited for after the last of what was asked: a websocket cannot say that no more comes,
so the other side does not know that it could end."""

_ENDS: Final = (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSING, aiohttp.WSMsgType.CLOSED)
_NORMAL: Final = (None, 0, 1000, 1001, 1005)


class Ended(Enum):
    """Which side has."""

    OURS = "ours"
    THEIRS = "theirs"


async def relay(
    connection: aiohttp.ClientWebSocketResponse,
    read: Read,
    write: Write,
    *,
    linger_s: float = LINGER_S,
) -> Ended:
    """Until the other side closes, or ours has ended and answers have stopped coming."""
    heard = _Heard()
    return await first_of(
        _outwards(connection, read, heard, linger_s),
        _inwards(connection, write, heard),
    )


class _Heard:
    """When the other side was heard last."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def note(self) -> None:
        self._event.set()

    async def silence(self, seconds: float) -> None:
        while True:
            self._event.clear()
            try:
                async with asyncio.timeout(seconds):
                    await self._event.wait()
            except TimeoutError:
                return


async def _outwards(
    connection: aiohttp.ClientWebSocketResponse, read: Read, heard: _Heard, linger_s: float
) -> Ended:
    while data := await read():
        try:
            await connection.send_bytes(data)
        except (aiohttp.ClientError, ConnectionError):
            break  # it is closed; how, the other direction tells
    await heard.silence(linger_s)
    return Ended.OURS


async def _inwards(
    connection: aiohttp.ClientWebSocketResponse, write: Write, heard: _Heard
) -> Ended:
    while True:
        message = await connection.receive()
        if message.type in _ENDS:
            break
        if message.type is aiohttp.WSMsgType.ERROR:
            raise Unreachable(f"the connection broke: {connection.exception()}")
        heard.note()
        if message.type is aiohttp.WSMsgType.BINARY:
            await write(message.data)
        elif message.type is aiohttp.WSMsgType.TEXT:
            await write(message.data.encode())
    if connection.close_code not in _NORMAL:
        raise Unreachable(f"the connection broke (code {connection.close_code}); try again")
    return Ended.THEIRS
