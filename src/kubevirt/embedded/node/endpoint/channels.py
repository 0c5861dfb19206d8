"""The numbered channels of a websocket to a command: each message begins with the number of its own.

Version 5 of the protocol can close one channel alone, by which a command learns of the end of its input;
version 4 cannot. What makes no sense is passed over, as kubelets do.
"""

from contextlib import suppress
from enum import IntEnum
from typing import Final

import msgspec
from aiohttp import WSMsgType, web

V5: Final = "v5.channel.k8s.io"
V4: Final = "v4.channel.k8s.io"
PROTOCOLS: Final = (V5, V4)
MESSAGE_LIMIT: Final = 4 << 20
"""Bytes of one message, which has to be held whole."""
CLOSE_S: Final = 3.0
"""For the other side to say goodbye too."""


class Channel(IntEnum):
    STDIN = 0
    STDOUT = 1
    STDERR = 2
    ERROR = 3
    RESIZE = 4
    CLOSE = 255


class Input(msgspec.Struct, frozen=True):
    data: bytes


class InputEnded(msgspec.Struct, frozen=True):
    pass


class Resized(msgspec.Struct, frozen=True, rename="pascal"):
    width: int
    height: int


Said = Input | InputEnded | Resized


def parsed(message: bytes, protocol: str) -> Said | None:
    """None for what is not for us."""
    channel, data = message[:1], message[1:]
    if channel == bytes([Channel.STDIN]):
        return Input(data) if data else None
    if channel == bytes([Channel.RESIZE]):
        with suppress(msgspec.DecodeError):
            return msgspec.json.decode(data, type=Resized)
    if channel == bytes([Channel.CLOSE]) and protocol == V5 and data == bytes([Channel.STDIN]):
        return InputEnded()
    return None


class Channels:
    def __init__(self, socket: web.WebSocketResponse) -> None:
        """Of a websocket that is open."""
        self._socket = socket

    async def send(self, channel: Channel, data: bytes) -> bool:
        """False if nobody is there any more."""
        try:
            await self._socket.send_bytes(bytes([channel]) + data)
        except ConnectionError:
            return False
        return True

    async def receive(self) -> Said | None:
        """What is said next; None when the other side is gone."""
        while True:
            message = await self._socket.receive()
            if message.type is WSMsgType.BINARY:
                if said := parsed(message.data, self._socket.ws_protocol or ""):
                    return said
            elif message.type is not WSMsgType.TEXT:
                return None

    async def close(self) -> None:
        with suppress(ConnectionError):
            await self._socket.close()
