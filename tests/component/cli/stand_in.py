"""A stand-in for virt-api: answers as it is told, and remembers what it was asked.

It is behind the real aggregation of a real API server, on a loop and a thread of its own: commands are run as
a person runs them, and each has a loop of its own.
"""

import asyncio
import json
import ssl
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import WSMsgType, web
from tests import tls_servers

from clusterup import certificates

GROUP = "subresources.kubevirt.io"
PROTOCOL = "plain.kubevirt.io"
HOST = "virt-api.kubevirt.svc"
Json = dict[str, Any]
Talk = Callable[[web.WebSocketResponse], Awaitable[None]]


@dataclass
class Asked:
    method: str
    path: str
    """Below namespaces/."""
    query: dict[str, str]
    body: Any
    user: str


@dataclass
class StandIn:
    answers: dict[str, web.Response | Callable[[], web.Response]] = field(default_factory=dict)
    """By `METHOD path`; anything else is accepted with nothing."""
    talks: dict[str, Talk] = field(default_factory=dict)
    """By path: what happens on a websocket."""
    asked: list[Asked] = field(default_factory=list)
    port: int = 0
    authority: bytes = b""

    def last(self, verb: str) -> Asked:
        return next(each for each in reversed(self.asked) if each.path.endswith(verb))

    def refuse(self, what: str, code: int, message: str, reason: str = "") -> None:
        status: Json = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code}
        self.tell(what, {**status, "message": message, "reason": reason}, code)

    def tell(self, what: str, document: Any, code: int = 200) -> None:
        text = json.dumps(document)
        self.answers[what] = lambda: web.Response(
            text=text, status=code, content_type="application/json"
        )

    @contextmanager
    def serving(self, front_proxy: bytes) -> Iterator["StandIn"]:
        """`front_proxy` has signed the only client that is let in."""
        signer = certificates.Authority.create("stand-in-ca")
        self.authority = signer.pair.certificate
        context = tls_servers.context_of(signer.server("virt-api", [HOST]), clients=front_proxy)
        ready, over = threading.Event(), threading.Event()
        thread = threading.Thread(target=self._run, args=(context, ready, over))
        thread.start()
        try:
            assert ready.wait(30)
            yield self
        finally:
            over.set()
            thread.join(30)

    def _run(self, context: ssl.SSLContext, ready: threading.Event, over: threading.Event) -> None:
        async def serve() -> None:
            application = web.Application()
            application.router.add_route("*", "/{path:.*}", self._answer)
            runner = web.AppRunner(application, shutdown_timeout=0.1)
            await runner.setup()
            site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context)
            await site.start()
            self.port = runner.addresses[0][1]
            ready.set()
            await asyncio.to_thread(over.wait)
            await runner.cleanup()

        with asyncio.Runner(loop_factory=asyncio.new_event_loop) as loop:
            loop.run(serve())

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        path = request.path.removeprefix(f"/apis/{GROUP}/v1").removeprefix("/namespaces/")
        if path in ("", "/"):
            return web.json_response(_resources())
        body = await request.read()
        self.asked.append(
            Asked(
                request.method,
                path,
                dict(request.query),
                json.loads(body) if body else None,
                request.headers.get("X-Remote-User", ""),
            )
        )
        answer = self.answers.get(f"{request.method} {path}")
        if answer is not None:
            return answer() if callable(answer) else answer
        if path in self.talks:
            return await self._talk(request, self.talks[path])
        return web.Response(status=202 if request.method == "PUT" else 404)

    async def _talk(self, request: web.Request, talk: Talk) -> web.WebSocketResponse:
        socket = web.WebSocketResponse(protocols=[PROTOCOL])
        await socket.prepare(request)
        await talk(socket)
        await socket.close()
        return socket


def _resources() -> Json:
    return {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": f"{GROUP}/v1",
        "resources": [],
    }


# What happens on a websocket.


async def echo(socket: web.WebSocketResponse) -> None:
    """Says everything again, in capitals, and ends by itself after `bye`."""
    async for message in socket:
        if message.type is WSMsgType.BINARY:
            await socket.send_bytes(message.data.upper())
            if b"bye" in message.data:
                return


async def silent(socket: web.WebSocketResponse) -> None:
    async for _ in socket:
        pass


def greeting(text: bytes) -> Talk:
    """Says something first, then echoes."""

    async def talk(socket: web.WebSocketResponse) -> None:
        await socket.send_bytes(text)
        await echo(socket)

    return talk
