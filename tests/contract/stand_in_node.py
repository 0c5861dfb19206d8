"""A node that runs nothing: an endpoint like a kubelet's, which says what it was asked."""

import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

from aiohttp import WSMsgType, web
from tests import tls_servers

from clusterup import certificates

ADDRESS = "127.0.0.1"
PROTOCOL = "v4.channel.k8s.io"


class Signing(Protocol):
    @property
    def ca_file(self) -> Path: ...

    def server_certificate(self, name: str, hosts: Sequence[str]) -> certificates.Pair: ...


class StandInNode:
    """`asked` is what came, `callers` who came."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.port = 0
        self.asked: list[str] = []
        self.callers: list[str] = []

    @property
    def object(self) -> dict[str, Any]:
        return {
            "metadata": {"name": self.name},
            "status": {
                "addresses": [{"type": "InternalIP", "address": ADDRESS}],
                "daemonEndpoints": {"kubeletEndpoint": {"Port": self.port}},
            },
        }

    async def log(self, request: web.Request) -> web.StreamResponse:
        self._note(request)
        match request.match_info["pod"]:
            case "absent":
                return web.Response(status=404, text="no such container")
            case "broken":
                return web.Response(status=500, text="something broke")
            case "waiting":
                return web.Response(status=400, text="container is waiting to start")
            case "busy":
                return web.Response(status=503, text="come back later")
        response = web.StreamResponse()
        await response.prepare(request)
        for line in (b"one\n", b"two\n"):
            await response.write(line)
        return response

    async def exec(self, request: web.Request) -> web.StreamResponse:
        """Says back what is said to it, on the channel of outputs, until it hears `end`."""
        self._note(request)
        if request.match_info["pod"] == "absent":
            return web.Response(status=404, text="no such container")
        socket = web.WebSocketResponse(protocols=[PROTOCOL])
        await socket.prepare(request)
        async for message in socket:
            if message.type is not WSMsgType.BINARY:
                continue
            if message.data[1:] == b"end":
                await socket.send_bytes(b'\x03{"status":"Success"}')
                await socket.close(code=1000)
                break
            await socket.send_bytes(b"\x01" + message.data[1:])
        return socket

    def _note(self, request: web.Request) -> None:
        self.asked.append(str(request.rel_url))
        peer = request.get_extra_info("peercert") or {}
        subject = {name: value for part in peer.get("subject", ()) for name, value in part}
        self.callers.append(subject.get("commonName", ""))


@asynccontextmanager
async def stand_in_node(name: str, signing: Signing, folder: Path) -> AsyncIterator[StandInNode]:
    pair = signing.server_certificate(name, [ADDRESS])
    certificate, key = pair.write(folder, name)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(signing.ca_file))
    context.load_cert_chain(certificate, key)
    context.verify_mode = ssl.CERT_REQUIRED
    node = StandInNode(name)
    app = web.Application()
    app.router.add_get("/containerLogs/{namespace}/{pod}/{container}", node.log)
    for place in ("exec", "attach"):
        app.router.add_get(f"/{place}/{{namespace}}/{{pod}}/{{container}}", node.exec)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    async with tls_servers.serving(runner, context, ADDRESS) as node.port:
        yield node
