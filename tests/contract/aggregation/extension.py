"""An API server of somebody else: small, but a real one, with a certificate, that believes nobody but the front proxy.

GET  /apis/GROUP/v1/…/toys/NAME/echo       who asked what, as it arrived
GET  /apis/GROUP/v1/…/toys                 a list, or a watch of what the test says
POST /apis/GROUP/v1/…/toys/NAME/upload     counts what it gets
GET  /apis/GROUP/v1/…/toys/NAME/{large,half,slow,elsewhere,teapot}
ws   /apis/GROUP/v1/…/toys/NAME/console    echoes; ends as it is told
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aiohttp import WSMsgType, web
from tests import tls_servers

from clusterup import certificates

Json = dict[str, Any]

VERBS = ["create", "delete", "get", "list", "patch", "update", "watch"]
DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
CHUNK = b"x" * 65536


class Extension:
    """Serves `toys` of one group in version v1."""

    def __init__(self, group: str, *, knows_aggregated: bool = True) -> None:
        self.group = group
        self.knows_aggregated = knows_aggregated
        self.port = 0
        self.signer = certificates.Authority.create("extension-ca")
        self.authority = b""
        """Who signed its certificate, PEM."""
        self.seen: list[Json] = []
        self.events: asyncio.Queue[Json | None] = asyncio.Queue()
        """What a watch tells; None ends it."""
        self.left = asyncio.Event()
        """Whoever asked for something slow has left."""
        self.sent = 0
        self.ends: list[int | None] = []
        """How consoles ended."""
        self.refusal = '{"kind": "Status", "message": "not now"}'
        self.is_private = False
        self.is_ill = False
        self.hangs = False
        self.probes: list[str] = []
        """By whom it was asked what it serves."""
        self._probed = asyncio.Condition()

    @property
    def path(self) -> str:
        return f"/apis/{self.group}/v1"

    def toy(self, name: str = "", subresource: str = "", namespace: str = "default") -> str:
        parts = (self.path, "namespaces", namespace, "toys", name, subresource)
        return "/".join(part for part in parts if part)

    # Its life

    @asynccontextmanager
    async def serving(
        self, hosts: list[str], front_proxy: bytes, address: str = "127.0.0.1"
    ) -> AsyncIterator["Extension"]:
        """`front_proxy` has signed the only client that is let in."""
        self.authority = self.signer.pair.certificate
        context = tls_servers.context_of(
            self.signer.server("extension", hosts), clients=front_proxy
        )
        runner = self._runner()
        async with tls_servers.serving(runner, context, address, self.port) as self.port:
            yield self

    @asynccontextmanager
    async def at(self, socket: Path) -> AsyncIterator["Extension"]:
        """At a private unix socket, where everybody is believed, since nobody else can come."""
        self.is_private = True
        async with tls_servers.serving_at(self._runner(), socket):
            yield self

    def _runner(self) -> web.AppRunner:
        return web.AppRunner(self._application(), handler_cancellation=True, shutdown_timeout=0.1)

    def _application(self) -> web.Application:
        application = web.Application(middlewares=[self._known_only], client_max_size=1 << 30)
        below = f"{self.path}/namespaces/{{namespace}}/toys"
        application.add_routes(
            [
                web.get("/apis", self._groups),
                web.get(self.path, self._resources),
                web.get("/openapi/v3", self._open_api_index),
                web.get(f"/openapi/v3{self.path}", self._open_api),
                web.get("/openapi/v2", self._open_api_v2),
                web.get(below, self._list),
                web.get(f"{self.path}/toys", self._list),
                web.get(f"{below}/{{name}}", self._get),
                web.post(f"{below}/{{name}}/upload", self._upload),
                web.get(f"{below}/{{name}}/large", self._large),
                web.get(f"{below}/{{name}}/half", self._half),
                web.get(f"{below}/{{name}}/slow", self._slow),
                web.get(f"{below}/{{name}}/elsewhere", self._elsewhere),
                web.get(f"{below}/{{name}}/teapot", self._teapot),
                web.get(f"{below}/{{name}}/console", self._console),
                web.route("*", f"{below}/{{name}}/echo", self._echo),
            ]
        )
        return application

    @web.middleware
    async def _known_only(self, request: web.Request, handler: Any) -> web.StreamResponse:
        if not self.is_private and _common_name(request) != "front-proxy-client":
            return web.Response(status=401)
        if self.hangs:
            await asyncio.Event().wait()
        if self.is_ill:
            return web.Response(status=500)
        response: web.StreamResponse = await handler(request)
        return response

    # What it says of itself

    async def _groups(self, request: web.Request) -> web.Response:
        if not self.knows_aggregated or "as=APIGroupDiscoveryList" not in request.headers["Accept"]:
            return web.Response(status=406)
        kind = {"group": "", "version": "", "kind": "Toy"}
        toys = {
            "resource": "toys",
            "responseKind": kind,
            "scope": "Namespaced",
            "singularResource": "toy",
            "shortNames": ["ty"],
            "verbs": VERBS,
            "subresources": [{"subresource": "echo", "responseKind": kind, "verbs": ["get"]}],
        }
        version = {"version": "v1", "resources": [toys], "freshness": "Current"}
        item = {"metadata": {"name": self.group}, "versions": [version]}
        document = {
            "kind": "APIGroupDiscoveryList",
            "apiVersion": "apidiscovery.k8s.io/v2",
            "metadata": {},
            "items": [item],
        }
        body = json.dumps(document).encode()
        return web.Response(body=body, headers={"Content-Type": DISCOVERY})

    async def probed(self, times: int) -> None:
        """Until it was asked so often what it serves."""
        async with asyncio.timeout(120), self._probed:
            await self._probed.wait_for(lambda: len(self.probes) >= times)

    async def _resources(self, request: web.Request) -> web.Response:
        async with self._probed:
            self.probes.append(request.headers["X-Remote-User"])
            self._probed.notify_all()
        toys = {
            "name": "toys",
            "singularName": "toy",
            "namespaced": True,
            "kind": "Toy",
            "shortNames": ["ty"],
            "verbs": VERBS,
        }
        echo = {"name": "toys/echo", "singularName": "", "namespaced": True, "kind": "Toy"}
        return web.json_response(
            {
                "kind": "APIResourceList",
                "apiVersion": "v1",
                "groupVersion": f"{self.group}/v1",
                "resources": [toys, {**echo, "verbs": ["get"]}],
            }
        )

    async def _open_api_index(self, request: web.Request) -> web.Response:
        own = self.path.removeprefix("/")
        return web.json_response(
            {"paths": {own: {"serverRelativeURL": f"/openapi/v3/{own}?hash=17"}}}
        )

    @property
    def _schema(self) -> Json:
        return {
            "type": "object",
            "description": "Toy is for playing.",
            "properties": {"color": {"type": "string", "description": "How it looks."}},
            "x-kubernetes-group-version-kind": [
                {"group": self.group, "version": "v1", "kind": "Toy"}
            ],
        }

    @property
    def definition(self) -> str:
        return f"example.{self.group.partition('.')[0]}.v1.Toy"

    async def _open_api(self, request: web.Request) -> web.Response:
        about = {"group": self.group, "version": "v1", "kind": "Toy"}
        get = {"x-kubernetes-action": "get", "x-kubernetes-group-version-kind": about}
        return web.json_response(
            {
                "openapi": "3.0.0",
                "info": {"title": "toys", "version": "v1"},
                "paths": {
                    f"{self.path}/namespaces/{{namespace}}/toys/{{name}}": {
                        "get": {**get, "responses": {"200": {"description": "OK"}}}
                    }
                },
                "components": {"schemas": {self.definition: self._schema}},
            }
        )

    async def _open_api_v2(self, request: web.Request) -> web.Response:
        answer = {"description": "OK", "schema": {"$ref": f"#/definitions/{self.definition}"}}
        get = {"operationId": f"read-{self.group}", "responses": {"200": answer}}
        return web.json_response(
            {
                "swagger": "2.0",
                "info": {"title": "toys", "version": "v1"},
                "paths": {f"{self.path}/namespaces/{{namespace}}/toys/{{name}}": {"get": get}},
                "definitions": {self.definition: self._schema},
            }
        )

    # Toys

    def _object(self, name: str, namespace: str = "default") -> Json:
        metadata = {"name": name, "namespace": namespace, "creationTimestamp": None}
        return {"apiVersion": f"{self.group}/v1", "kind": "Toy", "metadata": metadata}

    async def _get(self, request: web.Request) -> web.Response:
        return web.json_response(self._object(request.match_info["name"]))

    async def _list(self, request: web.Request) -> web.StreamResponse:
        if "watch" not in request.query:
            items = [self._object("ball"), self._object("kite")]
            kind = {"kind": "ToyList", "apiVersion": f"{self.group}/v1"}
            return web.json_response({**kind, "metadata": {"resourceVersion": "1"}, "items": items})
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        while event := await self.events.get():
            await response.write(json.dumps(event).encode() + b"\n")
        await response.write_eof()
        return response

    async def _echo(self, request: web.Request) -> web.Response:
        body = await request.read()
        told = {
            "method": request.method,
            "path": request.rel_url.raw_path,
            "query": request.rel_url.raw_query_string,
            "headers": [[name.lower(), value] for name, value in request.headers.items()],
            "body": body.decode(),
        }
        self.seen.append(told)
        headers = {
            "X-Toy": "yes",
            "Access-Control-Allow-Origin": "*",
            "Connection": "X-Hop",
            "X-Hop": "1",
        }
        return web.json_response(told, headers=headers)

    async def _upload(self, request: web.Request) -> web.Response:
        size = 0
        async for part in request.content.iter_any():
            size += len(part)
        return web.json_response({"size": size})

    async def _large(self, request: web.Request) -> web.StreamResponse:
        """As much as is asked for; counts what it could send."""
        response = web.StreamResponse()
        await response.prepare(request)
        while self.sent < int(request.query["size"]):
            await response.write(CHUNK)
            self.sent += len(CHUNK)
        await response.write_eof()
        return response

    async def _half(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/plain"})
        await response.prepare(request)
        await response.write(b"the first half")
        assert request.transport
        request.transport.abort()
        return response

    async def _slow(self, request: web.Request) -> web.StreamResponse:
        self.seen.append({"path": request.path})
        try:
            await asyncio.sleep(60)
        finally:
            self.left.set()
        return web.Response()

    async def _elsewhere(self, request: web.Request) -> web.Response:
        return web.Response(status=302, headers={"Location": "https://elsewhere.example/"})

    async def _teapot(self, request: web.Request) -> web.Response:
        return web.Response(status=418, reason="Short And Stout", text="tea")

    # Consoles

    async def _console(self, request: web.Request) -> web.StreamResponse:
        """`close CODE REASON` ends it so, `vanish` without a word, `ping` asks for a pong."""
        if "refuse" in request.query:
            return web.Response(
                text=self.refusal, status=409, headers={"Content-Type": "application/json"}
            )
        self.seen.append({"headers": [[k.lower(), v] for k, v in request.headers.items()]})
        console = web.WebSocketResponse(
            protocols=("v5.channel.k8s.io", "plain.toys"), autoping=False, autoclose=False
        )
        await console.prepare(request)
        try:
            while True:
                message = await console.receive()
                if message.type in (WSMsgType.CLOSE, WSMsgType.CLOSED, WSMsgType.ERROR):
                    code = message.data if message.type is WSMsgType.CLOSE else None
                    self.ends.append(code)
                    await console.close(code=code or 1000)
                    return console
                if await self._told(request, console, message):
                    return console
        finally:
            self.left.set()

    async def _told(self, request: web.Request, console: Any, message: Any) -> bool:
        match message.type:
            case WSMsgType.PING:
                await console.pong(message.data)
            case WSMsgType.PONG:
                await console.send_str(f"pong {message.data.decode()}")
            case WSMsgType.BINARY:
                await console.send_bytes(message.data)
            case _ if message.data.startswith("close "):
                _, code, reason = message.data.split(" ", 2)
                await console.close(code=int(code), message=reason.encode())
                return True
            case _ if message.data == "vanish":
                assert request.transport
                request.transport.abort()
                return True
            case _ if message.data == "ping":
                await console.ping(b"are you there")
            case _ if message.data == "flood":
                while True:
                    await console.send_bytes(CHUNK)
                    self.sent += len(CHUNK)
                    await asyncio.sleep(0)  # others have to hear that nobody listens any more
            case _:
                await console.send_str(message.data)
        return False


def _common_name(request: web.Request) -> str:
    assert request.transport
    peer = request.transport.get_extra_info("peercert")
    pairs = dict(pair for part in peer["subject"] for pair in part)
    return str(pairs["commonName"])
