"""Webhooks of a test: an HTTPS server on the loopback address that answers as the test says.

    async with hooks.configured(client, namespace, hooks.validating("deny", answer=no("not today"))) as hook:
        …
        hook.asked                       # the requests of all reviews, in order

Each configuration is meant for the test's namespace alone, is in effect when it is handed out, and no
longer when its block has ended: it has one webhook more, for secrets, about which the server is asked until
that one hears of it, or hears no more.
"""

import asyncio
import base64
import contextlib
import json
import ssl
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from aiohttp import web
from tests import tls_servers

from clusterup import certificates, waiting
from kubevirt.api.resource import Resource
from kubevirt.kube.client import Client
from kubevirt.kube.errors import ApiError, NotFound

Object = dict[str, Any]
Answer = Callable[[Object], Any]
"""Of the request of a review: the response to it, or what HTTP shall answer instead."""

GROUP = "admissionregistration.k8s.io"
MUTATING: Resource[Object] = Resource(
    GROUP, "v1", "mutatingwebhookconfigurations", "MutatingWebhookConfiguration", False, Object
)
VALIDATING: Resource[Object] = Resource(
    GROUP, "v1", "validatingwebhookconfigurations", "ValidatingWebhookConfiguration", False, Object
)
ASK_ABOUT_MAPS: Object = {
    "operations": ["*"],
    "apiGroups": [""],
    "apiVersions": ["v1"],
    "resources": ["configmaps"],
}
_LIMIT_S = 120.0


# Answers


def yes(request: Object) -> Object:
    return {"allowed": True}


def no(message: str = "", **status: Any) -> Answer:
    said = {"message": message, **status} if message else status
    return lambda _: {"allowed": False, **({"status": said} if said else {})}


def patch(*operations: Object, **more: Any) -> Answer:
    text = base64.b64encode(json.dumps(operations).encode()).decode()
    return lambda _: {"allowed": True, "patchType": "JSONPatch", "patch": text, **more}


def add(path: str, value: Any) -> Answer:
    return patch({"op": "add", "path": path, "value": value})


# Certificates


@cache
def authority(name: str) -> certificates.Authority:
    return certificates.Authority.create(name)


def bundle(name: str = "hooks") -> str:
    return base64.b64encode(authority(name).pair.certificate).decode()


def serving(names: Sequence[str] = ("127.0.0.1",), signer: str = "hooks") -> ssl.SSLContext:
    return tls_servers.context_of(authority(signer).server("hook", names))


@cache
def _own_context() -> ssl.SSLContext:
    return serving()


# A server


@dataclass
class Hook:
    """One webhook: how it answers, and what it was asked."""

    answer: Answer = yes
    asked: list[Object] = field(default_factory=list)
    queries: list[str] = field(default_factory=list)
    headers: list[Mapping[str, str]] = field(default_factory=list)


class HookServer:
    def __init__(self, port: int) -> None:
        self.port = port
        self.hooks: dict[str, Hook] = {}
        self.order: list[str] = []
        """The paths at which it was asked."""

    def url(self, path: str) -> str:
        return f"https://127.0.0.1:{self.port}{path}"

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        hook = self.hooks.get(request.path)
        if hook is None:
            return web.Response(status=404)
        asked = (await request.json())["request"]
        hook.asked.append(asked)
        hook.queries.append(request.query_string)
        hook.headers.append(request.headers)
        self.order.append(request.path)
        said = hook.answer(asked)
        if isinstance(said, Awaitable):
            said = await said
        if isinstance(said, web.StreamResponse):
            return said
        review = {
            "kind": "AdmissionReview",
            "apiVersion": "admission.k8s.io/v1",
            "response": {"uid": asked["uid"], **said},
        }
        return web.json_response(review)


@asynccontextmanager
async def served(context: ssl.SSLContext | None = None) -> AsyncIterator[HookServer]:
    server = HookServer(0)
    runner = web.ServerRunner(web.Server(server.handle, access_log=None), shutdown_timeout=0.1)
    async with tls_servers.serving(runner, context or _own_context()) as server.port:
        yield server


@asynccontextmanager
async def answering(
    handler: Callable[[web.BaseRequest], Awaitable[web.StreamResponse]], port: int = 0
) -> AsyncIterator[int]:
    """A server that answers as nobody should; gives its port."""
    server = web.Server(handler, access_log=None, handler_cancellation=True)
    runner = web.ServerRunner(server, shutdown_timeout=0.1)
    async with tls_servers.serving(runner, _own_context(), port=port) as taken:
        yield taken


# Configurations


def in_namespace(namespace: str) -> Object:
    return {"matchLabels": {"kubernetes.io/metadata.name": namespace}}


def webhook(url: str, namespace: str, **more: Any) -> Object:
    """As an entry of a configuration."""
    made: Object = {
        "name": "one.hooks.example",
        "clientConfig": {"url": url, "caBundle": bundle()},
        "rules": [ASK_ABOUT_MAPS],
        "namespaceSelector": in_namespace(namespace),
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        **more,
    }
    return {name: value for name, value in made.items() if value is not None}


@asynccontextmanager
async def in_effect(
    client: Client,
    kind: Resource[Object],
    namespace: str,
    webhooks: Sequence[Object],
    *,
    name: str = "",
) -> AsyncIterator[Object]:
    """A configuration that the server has noticed: its last webhook has been asked about a secret."""
    # What a namespace is furnished with comes by itself, and would be asked about.
    await _until(lambda: _is_furnished(client, namespace), f"{namespace} is furnished")
    async with served() as prober:
        prober.hooks["/probe"] = Hook(no("it is there"))
        mark = uuid.uuid4().hex
        probe = webhook(
            prober.url("/probe"),
            namespace,
            name="probe.hooks.example",
            rules=[{**ASK_ABOUT_MAPS, "resources": ["secrets"]}],
            objectSelector={"matchLabels": {"probe": mark}},
        )
        metadata = {"name": name} if name else {"generateName": "hooks-"}
        made = await client.create(kind, {"metadata": metadata, "webhooks": [*webhooks, probe]})
        name = made["metadata"]["name"]
        try:
            await _until(lambda: _is_asked(client, namespace, prober, mark), f"{name} is in effect")
            yield made
        finally:
            await client.delete(kind, name)
            await _until(lambda: _is_left_alone(client, namespace, prober, mark), f"{name} is gone")


async def _until(probe: Callable[[], Awaitable[bool]], what: str) -> None:
    await waiting.until(probe, limit_s=_LIMIT_S, what=what, every_s=0.01)


async def _is_furnished(client: Client, namespace: str) -> bool:
    with contextlib.suppress(NotFound):
        await client.raw("GET", f"/api/v1/namespaces/{namespace}/configmaps/kube-root-ca.crt")
        return True
    return False


async def _is_asked(client: Client, namespace: str, prober: HookServer, mark: str) -> bool:
    before = len(prober.order)
    body = {"metadata": {"name": "probe", "labels": {"probe": mark}}}
    path = f"/api/v1/namespaces/{namespace}/secrets"
    with contextlib.suppress(ApiError):
        await client.raw("POST", path, body, params={"dryRun": "All"})
    return len(prober.order) > before


async def _is_left_alone(client: Client, namespace: str, prober: HookServer, mark: str) -> bool:
    return not await _is_asked(client, namespace, prober, mark)


async def settled(client: Client, path: str) -> None:
    """Until the server's own cache holds what was written last. A real server begins a change with what it
    finds there; where that was old it begins again, and webhooks are asked about one change twice.
    """
    written = json.loads(await client.raw("GET", path))["metadata"]["resourceVersion"]

    async def is_cached() -> bool:
        with contextlib.suppress(ApiError):  # after three seconds it says that this is too new
            await client.raw("GET", path, params={"resourceVersion": written})
            return True
        return False

    await _until(is_cached, f"{path} is settled")


@asynccontextmanager
async def one(
    client: Client,
    kind: Resource[Object],
    namespace: str,
    answer: Answer = yes,
    **more: Any,
) -> AsyncIterator[Hook]:
    """A single webhook that answers like this; `more` are fields of it."""
    async with served() as server:
        hook = server.hooks["/hook"] = Hook(answer)
        entry = webhook(server.url("/hook"), namespace, **more)
        async with in_effect(client, kind, namespace, [entry]):
            hook.asked.clear()
            hook.queries.clear()
            yield hook


def without_nulls(value: Any) -> Any:
    """Go writes some fields that are empty as null."""
    if isinstance(value, dict):
        return {name: without_nulls(each) for name, each in value.items() if each is not None}
    if isinstance(value, list):
        return [without_nulls(each) for each in value]
    return value


async def hang(_: Object) -> Object:
    await asyncio.Event().wait()
    raise AssertionError("nobody hangs for ever")
