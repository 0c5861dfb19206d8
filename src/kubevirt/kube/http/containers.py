"""Programs run in a container of a pod: `exec`, over a websocket of numbered channels.

    async with client.exec("pod", "default", ["sh", "-c", "cat"], stdin=True) as process:
        await process.write(b"hello")
        await process.close_stdin()
        async for channel, data in process.output():
            ...
        code = await process.exit_code()

Each message begins with the number of its channel. The last one on channel 3 is a `Status` that says
how the program ended. Version 5 of the protocol can close one channel alone, which is how a program
learns that its input has ended; version 4, spoken by older servers, cannot.
"""

from collections.abc import AsyncGenerator
from enum import IntEnum

import aiohttp
import msgspec

from kubevirt.api.meta import Status
from kubevirt.base.errors import Unreachable, UserError
from kubevirt.kube.errors import from_status

V5 = "v5.channel.k8s.io"
V4 = "v4.channel.k8s.io"
PROTOCOLS = (V5, V4)


class Channel(IntEnum):
    STDIN = 0
    STDOUT = 1
    STDERR = 2
    ERROR = 3
    RESIZE = 4
    CLOSE = 255


class Process:
    """A program that runs in a container, as seen from here."""

    def __init__(self, connection: aiohttp.ClientWebSocketResponse, where: str) -> None:
        self._connection = connection
        self._where = where
        self._ended: Status | None = None

    @property
    def protocol(self) -> str:
        """What both sides speak: `V5`, or `V4` with an older server."""
        return self._connection.protocol or ""

    async def write(self, data: bytes) -> None:
        """To its standard input."""
        await self._send(Channel.STDIN, data)

    async def close_stdin(self) -> None:
        """Tells the program that no more input comes."""
        if self.protocol != V5:
            raise UserError(
                f"the server cannot end the input of a program in {self._where} while it runs:"
                f" it speaks {self.protocol or 'no known protocol'}, not {V5};"
                " use a program that ends by itself, or a server from Kubernetes 1.30 on",
                reason="Unsupported",
            )
        await self._send(Channel.CLOSE, bytes([Channel.STDIN]))

    async def resize(self, *, columns: int, rows: int) -> None:
        """Of its terminal, if it has one."""
        size = msgspec.json.encode({"Width": columns, "Height": rows})
        await self._send(Channel.RESIZE, size)

    async def output(self) -> AsyncGenerator[tuple[Channel, bytes], None]:
        """What it writes to standard output and error, until it ends."""
        async for message in self._connection:
            if message.type is not aiohttp.WSMsgType.BINARY or not message.data:
                continue
            channel, data = message.data[0], message.data[1:]
            if channel == Channel.ERROR:
                self._ended = self._parse_end(data)
            elif channel in (Channel.STDOUT, Channel.STDERR) and data:
                yield Channel(channel), data
        if self._ended is None:
            raise Unreachable(
                f"the connection to the program in {self._where} broke before it ended;"
                " it may still run; check the pod and try again"
            )

    async def exit_code(self) -> int:
        """How it ended. Reads away output that nobody read before."""
        if self._ended is None:
            async for _ in self.output():
                pass
        assert self._ended is not None  # noqa: S101  # `output` raises where there is no end
        return _exit_code(self._ended)

    async def _send(self, channel: Channel, data: bytes) -> None:
        try:
            await self._connection.send_bytes(bytes([channel]) + data)
        except (aiohttp.ClientError, ConnectionError):
            raise Unreachable(
                f"the program in {self._where} has ended, or the connection to it has;"
                " read its exit code to know"
            ) from None

    def _parse_end(self, data: bytes) -> Status:
        try:
            return msgspec.json.decode(data, type=Status)
        except ValueError:
            raise Unreachable(
                f"the server did not say how the program in {self._where} ended; try again"
            ) from None


def _exit_code(status: Status) -> int:
    if status.status == "Success":
        return 0
    causes = status.details.causes if status.details else ()
    for cause in causes:
        if cause.reason == "ExitCode" and cause.message.isdigit():
            return int(cause.message)
    raise from_status(status)
