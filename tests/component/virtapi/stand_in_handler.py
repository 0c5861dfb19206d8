"""A virt-handler for virt-api to speak to: it writes down what it is asked, and echoes what comes by websocket."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Self

from aiohttp import WSMsgType, web
from tests import tls_servers

PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
CHUNK = b"x" * 65536


class StandInHandler:
    def __init__(self) -> None:
        self.asked: list[tuple[str, str, str]] = []
        """Method, path with query, body."""
        self.users = '{"items": [{"userName": "root"}]}'
        self.refusal: web.Response | None = None
        self.sent = 0
        self.ends: list[int | None] = []
        self.has_ended = asyncio.Event()

    @asynccontextmanager
    async def serving(self, context: ssl.SSLContext, port: int) -> AsyncIterator[Self]:
        server = web.Server(self._handle, access_log=None, handler_cancellation=True)
        runner = web.ServerRunner(server, shutdown_timeout=0.1)
        async with tls_servers.serving(runner, context, port=port):
            yield self

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        body = (await request.read()).decode() if request.can_read_body else ""
        self.asked.append((request.method, str(request.rel_url), body))
        if self.refusal:
            return self.refusal
        match request.path.rpartition("/")[2]:
            case "console" | "vnc":
                return await self._echo(request)
            case "screenshot":
                return web.Response(body=PICTURE, content_type="image/png")
            case "userlist" | "guestosinfo" | "filesystemlist":
                return web.Response(text=self.users, content_type="application/json")
        return web.Response(status=202)

    async def _echo(self, request: web.BaseRequest) -> web.StreamResponse:
        """`flood` sends without end, `close` ends with a code."""
        socket = web.WebSocketResponse(
            protocols=("plain.kubevirt.io",), autoping=False, autoclose=False
        )
        await socket.prepare(request)
        code = None
        try:
            while (message := await socket.receive()).type is WSMsgType.BINARY:
                if message.data == b"flood":
                    await self._flood(socket)
                elif message.data == b"close":
                    await socket.close(code=4001, message=b"enough")
                else:
                    await socket.send_bytes(message.data)
            if message.type is WSMsgType.CLOSE:
                code = message.data
                await socket.close()
        finally:
            self.ends.append(code)
            self.has_ended.set()
        return socket

    async def _flood(self, socket: web.WebSocketResponse) -> None:
        while True:
            await socket.send_bytes(CHUNK)
            self.sent += len(CHUNK)
            await asyncio.sleep(0)
