"""A server that answers as a test tells it, and remembers what it was asked.

    server.on("GET", "/api/v1/pods", says(a_list), refuses(429, retry_after=1), says(a_list))

Answers are given in order; the last one is given again for every further request.
"""

import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import msgspec
from aiohttp import web
from tests import tls_servers

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass
class Seen:
    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return msgspec.json.decode(self.body)


@dataclass
class ScriptedServer:
    url: str = ""
    seen: list[Seen] = field(default_factory=list)
    script: dict[tuple[str, str], list[Answer]] = field(default_factory=dict)

    def on(self, method: str, path: str, *answers: Answer) -> None:
        self.script[method, path] = list(answers)

    @property
    def last(self) -> Seen:
        return self.seen[-1]

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        self.seen.append(
            Seen(request.method, request.path, request.query, request.headers, await request.read())
        )
        answers = self.script.get((request.method, request.path))
        if not answers:
            return web.Response(status=404, text="404 page not found\n")
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        return await answer(request)

    @asynccontextmanager
    async def running(self, tls: ssl.SSLContext | None = None) -> AsyncIterator["ScriptedServer"]:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._handle)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        async with tls_servers.serving(runner, tls) as port:
            self.url = f"{'https' if tls else 'http'}://127.0.0.1:{port}"
            yield self


def says(data: Any, *, code: int = 200, headers: Mapping[str, str] | None = None) -> Answer:
    async def answer(request: web.Request) -> web.StreamResponse:
        return web.Response(
            status=code,
            body=msgspec.json.encode(data),
            content_type="application/json",
            headers=headers,
        )

    return answer


def shows(
    text: str, *, code: int = 200, content_type: str = "text/plain", retry_after: str = ""
) -> Answer:
    async def answer(request: web.Request) -> web.StreamResponse:
        headers = {"Retry-After": retry_after} if retry_after else None
        return web.Response(status=code, text=text, content_type=content_type, headers=headers)

    return answer


def refuses(
    code: int,
    reason: str = "",
    message: str = "",
    *,
    details: Mapping[str, Any] | None = None,
    retry_after: int | None = None,
) -> Answer:
    status = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
        "details": details or {},
        "code": code,
    }
    headers = {"Retry-After": str(retry_after)} if retry_after is not None else None
    return says(status, code=code, headers=headers)


def streams(*pieces: bytes, hang_up: bool = False) -> Answer:
    """Sends pieces one by one; with `hang_up`, breaks the connection instead of ending the answer."""

    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        response.enable_chunked_encoding()
        await response.prepare(request)
        for piece in pieces:
            await response.write(piece)
        if hang_up:
            assert request.transport is not None
            request.transport.abort()
        return response

    return answer
