"""Somebody else's API server, registered with the server under test."""

import base64
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from typing import Any

import aiohttp
import msgspec
import pytest
from tests.contract.aggregation.door import Door, opened
from tests.contract.aggregation.extension import Extension
from tests.contract.conftest import People, Server

from clusterup import waiting
from kubevirt.kube.client import Client
from kubevirt.kube.errors import NotFound

API_SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"
AUTHENTICATION = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"
LIMIT_S = 120.0
Json = dict[str, Any]


class Registry:
    """APIServices made by a test, gone with it."""

    def __init__(self, client: Client, namespace: str) -> None:
        self.client = client
        self.namespace = namespace
        self._made: list[str] = []

    async def get(self, path: str) -> Json:
        found: Json = msgspec.json.decode(await self.client.raw("GET", path))
        return found

    async def create_service(self, name: str, spec: Json) -> None:
        body = {"metadata": {"name": name}, "spec": spec}
        await self.client.raw("POST", f"/api/v1/namespaces/{self.namespace}/services", body)

    async def register(self, group: str, port: int, service: str = "toys", **spec: Any) -> str:
        name = f"v1.{group}"
        body = {
            "metadata": {"name": name},
            "spec": {
                "group": group,
                "version": "v1",
                "groupPriorityMinimum": 1000,
                "versionPriority": 15,
                "service": {"namespace": self.namespace, "name": service, "port": port},
                **spec,
            },
        }
        self._made.append(name)
        await self.client.raw("POST", API_SERVICES, body)
        return name

    async def condition(self, name: str) -> Json:
        found = await self.get(f"{API_SERVICES}/{name}")
        conditions = found.get("status", {}).get("conditions") or [{}]
        return {key: conditions[0].get(key) for key in ("status", "reason", "message")}

    async def until(self, name: str, reason: str) -> Json:
        """The condition of an APIService, once it has this reason."""
        seen: Json = {}

        async def has_it() -> bool:
            nonlocal seen
            seen = await self.condition(name)
            return bool(seen["reason"] == reason)

        await waiting.until(has_it, limit_s=LIMIT_S, what=f"{name} is {reason}")
        return seen

    async def close(self) -> None:
        while self._made:
            try:
                await self.client.raw("DELETE", f"{API_SERVICES}/{self._made.pop()}")
            except NotFound:
                continue


@pytest.fixture
async def registry(client: Client, namespace: str) -> AsyncIterator[Registry]:
    made = Registry(client, namespace)
    yield made
    await made.close()


@pytest.fixture
async def front_proxy(registry: Registry) -> bytes:
    """Who signs the certificate by which the server is known."""
    found = await registry.get(AUTHENTICATION)
    return str(found["data"]["requestheader-client-ca-file"]).encode()


Start = Callable[..., Any]


@pytest.fixture
async def start(registry: Registry, front_proxy: bytes) -> AsyncIterator[Start]:
    """Starts an extension that is not registered yet."""
    async with AsyncExitStack() as stack:

        async def started(
            service: str = "toys", *, beside: Extension | None = None, **options: Any
        ) -> Extension:
            """`beside` another one: with the same port and authority, at another address."""
            extension = Extension(f"{service}.{registry.namespace}.example", **options)
            hosts = [f"{service}.{registry.namespace}.svc"]
            address = "127.0.0.1"
            if beside:
                extension.port, extension.signer = beside.port, beside.signer
                address = "127.0.0.2"
            return await stack.enter_async_context(extension.serving(hosts, front_proxy, address))

        yield started
        # First nobody may be asking any more, then they go.
        await registry.close()


@pytest.fixture
async def toys(registry: Registry, start: Start) -> Extension:
    """One that is registered and said to be there."""
    extension: Extension = await start()
    await registry.create_service("toys", external_name())
    await registry.register(extension.group, extension.port, caBundle=bundle(extension))
    await registry.until(f"v1.{extension.group}", "Passed")
    return extension


@pytest.fixture
async def door(server: Server) -> AsyncIterator[Door]:
    async with opened(server.kubeconfig) as made:
        yield made


@pytest.fixture
async def robot(registry: Registry, people: People, toys: Extension) -> str:
    """The token of a service account that may do everything with toys, in its own namespace."""
    namespace = registry.namespace
    account = {"kind": "ServiceAccount", "name": "robot", "namespace": namespace}
    rule = {"apiGroups": [toys.group], "resources": ["*"], "verbs": ["*"]}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "player"}
    access = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}"
    bodies: dict[str, Json] = {
        f"/api/v1/namespaces/{namespace}/serviceaccounts": {},
        f"{access}/roles": {"rules": [rule]},
        f"{access}/rolebindings": {"roleRef": role, "subjects": [account]},
    }
    for path, body in bodies.items():
        name = "player" if "rbac" in path else "robot"
        await registry.client.raw("POST", path, {"metadata": {"name": name}, **body})
    # What was just written is seen by those who decide a moment later.
    token = await people.service_account_token(namespace, "robot")

    async def may() -> bool:
        headers = {"Authorization": f"Bearer {token}"}
        url = f"{registry.client.config.server}{toys.toy('ball', '', namespace)}"
        async with (
            aiohttp.ClientSession() as session,
            session.get(url, headers=headers, ssl=False) as answer,
        ):
            return bool(answer.status == 200)

    await waiting.until(may, limit_s=LIMIT_S, what="the robot may play")
    return token


def external_name() -> Json:
    """Leads to the loopback address, where no endpoint may."""
    return {"type": "ExternalName", "externalName": "localhost"}


def bundle(extension: Extension) -> str:
    return base64.b64encode(extension.authority).decode()
