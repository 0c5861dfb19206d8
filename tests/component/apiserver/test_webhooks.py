"""Webhooks of a server in this process: reached over sockets and through Services, bounded, written down."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import pytest
from aiohttp import web
from tests.contract import hooks
from tests.contract.hooks import Hook, HookServer

from clusterup import ports, waiting
from kubevirt.apiserver.auth.access import AccessSettings
from kubevirt.apiserver.auth.audit_log import AuditLogSettings
from kubevirt.apiserver.auth.authority import signing_key
from kubevirt.apiserver.server import ADMINISTRATOR, ApiServer, ServerSettings, serving
from kubevirt.apiserver.storage.sqlite import open_store
from kubevirt.base.clock import SystemClock
from kubevirt.base.errors import UserError

Object = dict[str, Any]
MAPS = "/api/v1/namespaces/default/configmaps"
HOOKS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
MUTATING = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
NAME = "hooks.default.svc"


class Visitor:
    def __init__(self, server: ApiServer, session: aiohttp.ClientSession) -> None:
        self.server = server
        self._session = session

    async def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Object]:
        async with self._session.request(method, self.server.url + path, json=body) as answer:
            return answer.status, await answer.json()

    async def create(self, path: str, body: Object) -> Object:
        code, answer = await self.ask("POST", path, body)
        assert code == 201, answer
        return answer

    async def create_map(self, name: str) -> tuple[int, Object]:
        return await self.ask("POST", MAPS, {"metadata": {"name": name}, "data": {"x": "y"}})


@asynccontextmanager
async def running(folder: Path, **more: Any) -> AsyncIterator[Visitor]:
    settings = ServerSettings(data=folder / "store.db", tokens={"admin": ADMINISTRATOR}, **more)
    headers = {"Authorization": "Bearer admin"}
    async with serving(settings) as server, aiohttp.ClientSession(headers=headers) as session:
        yield Visitor(server, session)


@pytest.fixture
async def visitor(tmp_path: Path) -> AsyncIterator[Visitor]:
    async with running(tmp_path) as visitor:
        yield visitor


def configuration(client: Object, name: str = "one", **more: Any) -> Object:
    entry = {
        **hooks.webhook("", "default", namespaceSelector=None),
        "clientConfig": client,
        **more,
    }
    return {"metadata": {"name": name}, "webhooks": [entry]}


def by_service(port: int = 443, **more: Any) -> Object:
    service = {"namespace": "default", "name": "hooks", "path": "/hook", "port": port}
    return {"service": service, **more}


# Over a private socket


@asynccontextmanager
async def listening(path: Path, answer: hooks.Answer = hooks.yes) -> AsyncIterator[HookServer]:
    """A callee of this process."""
    server = HookServer(0)
    server.hooks["/hook"] = Hook(answer)
    runner = web.ServerRunner(web.Server(server.handle, access_log=None), shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.UnixSite(runner, str(path)).start()
        _make_private(path)
        yield server
    finally:
        await runner.cleanup()


def _make_private(path: Path) -> None:
    path.chmod(0o600)


async def test_a_callee_of_the_same_process_is_reached_over_its_socket(
    visitor: Visitor, tmp_path: Path
) -> None:
    path = tmp_path / "hook.sock"
    await visitor.create(MUTATING, configuration(by_service()))
    code, answer = await visitor.create_map("before")
    assert (code, answer["reason"]) == (500, "InternalError")
    assert 'service "hooks" not found' in answer["message"]
    async with listening(path, hooks.add("/data/a", "b")) as server:
        visitor.server.callees.register("default", "hooks", str(path))
        code, answer = await visitor.create_map("one")
        assert (code, answer["data"]) == (201, {"x": "y", "a": "b"})
        assert server.hooks["/hook"].queries == ["timeout=10s"]
    visitor.server.callees.forget("default", "hooks")
    code, answer = await visitor.create_map("after")
    assert code == 500


async def test_a_socket_that_others_can_reach_is_not_believed(
    visitor: Visitor, tmp_path: Path
) -> None:
    path = tmp_path / "hook.sock"
    async with listening(path):
        path.chmod(0o666)
        with pytest.raises(UserError, match="mode 0600"):
            visitor.server.callees.register("default", "hooks", str(path))
    plain = tmp_path / "file"
    plain.touch(0o600)
    with pytest.raises(UserError, match="no socket"):
        visitor.server.callees.register("default", "hooks", str(plain))


async def test_a_callee_that_has_gone_is_away(visitor: Visitor, tmp_path: Path) -> None:
    path = tmp_path / "hook.sock"
    await visitor.create(HOOKS, configuration(by_service()))
    async with listening(path):
        visitor.server.callees.register("default", "hooks", str(path))
        assert (await visitor.create_map("one"))[0] == 201
    code, answer = await visitor.create_map("two")
    assert code == 500
    assert (
        'failed calling webhook "one.hooks.example": failed to call webhook: ' in answer["message"]
    )


# Through a Service


async def put(visitor: Visitor, plural: str, object_: Object, group: str = "") -> None:
    """Into the store: the API lets nobody name loopback addresses there."""
    registry = visitor.server.registry
    kind = registry.catalog.kind(group, plural)
    name = object_["metadata"]["name"]
    key = kind.key("default", name)
    if known := await registry.store.get(key):
        await registry.store.delete(known)
    await registry.store.create(key, msgspec.json.encode(object_))


def service(**spec: Any) -> Object:
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "hooks"}, "spec": spec}


def a_slice(port: int, *addresses: tuple[str, bool], name: str = "web") -> Object:
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {"name": "hooks-1", "labels": {"kubernetes.io/service-name": "hooks"}},
        "ports": [{"name": "other", "port": 1}, {"name": name, "port": port}],
        "endpoints": [
            {"addresses": [address], "conditions": {"ready": is_ready}}
            for address, is_ready in addresses
        ],
    }


@asynccontextmanager
async def hook_for(*names: str) -> AsyncIterator[HookServer]:
    async with hooks.served(hooks.serving(names)) as server:
        server.hooks["/hook"] = Hook()
        yield server


async def test_a_service_with_an_address_is_reached_there(visitor: Visitor) -> None:
    async with hook_for(NAME) as server:
        config = by_service(server.port, caBundle=hooks.bundle())
        await visitor.create(HOOKS, configuration(config))
        ports_ = [{"port": server.port}]
        await put(visitor, "services", service(clusterIP="127.0.0.1", ports=ports_))
        assert (await visitor.create_map("one"))[0] == 201
        assert len(server.order) == 1


async def test_a_service_whose_address_leads_nowhere_is_reached_at_an_endpoint(
    visitor: Visitor,
) -> None:
    """On one machine nobody need carry cluster addresses anywhere."""
    nowhere = ports.take()
    async with hook_for(NAME) as server:
        config = by_service(nowhere.number, caBundle=hooks.bundle())
        await visitor.create(HOOKS, configuration(config))
        ports_ = [{"port": nowhere.number, "name": "web"}]
        await put(visitor, "services", service(clusterIP="127.0.0.1", ports=ports_))
        endpoints = a_slice(server.port, ("127.0.0.1", True))
        await put(visitor, "endpointslices", endpoints, "discovery.k8s.io")
        assert (await visitor.create_map("one"))[0] == 201
    nowhere.release()


async def test_a_service_must_have_the_port_and_the_name_that_are_asked_for(
    visitor: Visitor,
) -> None:
    async with hook_for("other.default.svc") as server:
        config = by_service(server.port, caBundle=hooks.bundle())
        await visitor.create(HOOKS, configuration(config))
        await put(visitor, "services", service(clusterIP="127.0.0.1", ports=[{"port": 1}]))
        _, answer = await visitor.create_map("one")
        assert f'no service port {server.port} found for service "hooks"' in answer["message"]
        ports_ = [{"port": server.port}]
        await put(visitor, "services", service(clusterIP="127.0.0.1", ports=ports_))
        _, answer = await visitor.create_map("one")
        assert (
            f"tls: failed to verify certificate: x509: certificate is valid for others, not {NAME}"
            in (answer["message"])
        )
        assert not server.order


async def test_a_headless_service_is_reached_at_an_endpoint_that_is_ready(
    visitor: Visitor,
) -> None:
    async with hook_for(NAME) as server:
        await visitor.create(HOOKS, configuration(by_service(caBundle=hooks.bundle())))
        ports_ = [{"port": 443, "name": "web"}]
        await put(visitor, "services", service(clusterIP="None", ports=ports_))
        _, answer = await visitor.create_map("one")
        assert 'no endpoints available for service "hooks"' in answer["message"]
        endpoints = a_slice(server.port, ("127.0.0.9", False), ("127.0.0.1", True))
        await put(visitor, "endpointslices", endpoints, "discovery.k8s.io")
        assert (await visitor.create_map("one"))[0] == 201


async def test_a_headless_service_is_reached_by_its_older_endpoints(visitor: Visitor) -> None:
    async with hook_for(NAME) as server:
        await visitor.create(HOOKS, configuration(by_service(caBundle=hooks.bundle())))
        await put(visitor, "services", service(clusterIP="None", ports=[{"port": 443}]))
        subset = {"addresses": [{"ip": "127.0.0.1"}], "ports": [{"port": server.port}]}
        endpoints = {
            "apiVersion": "v1",
            "kind": "Endpoints",
            "metadata": {"name": "hooks"},
            "subsets": [subset],
        }
        await put(visitor, "endpoints", endpoints)
        assert (await visitor.create_map("one"))[0] == 201


async def test_a_service_by_another_name_is_reached_by_that(visitor: Visitor) -> None:
    async with hook_for(NAME) as server:
        config = by_service(server.port, caBundle=hooks.bundle())
        await visitor.create(HOOKS, configuration(config))
        await put(visitor, "services", service(type="ExternalName", externalName="localhost"))
        assert (await visitor.create_map("one"))[0] == 201


# Bounds and faults


async def test_an_endless_answer_is_not_read_to_its_end(visitor: Visitor) -> None:
    async def endless(request: web.BaseRequest) -> web.StreamResponse:
        await request.read()
        response = web.StreamResponse()
        await response.prepare(request)
        while True:
            await response.write(b" " * (1 << 20))

    async with hooks.answering(endless) as port:
        url = f"https://127.0.0.1:{port}/hook"
        config = {"url": url, "caBundle": hooks.bundle()}
        await visitor.create(HOOKS, configuration(config))
        code, answer = await visitor.create_map("one")
    assert code == 500
    assert "the answer is larger than 8388608 bytes" in answer["message"]


async def test_a_webhook_that_hangs_holds_up_nobody_else(visitor: Visitor) -> None:
    async with hooks.served() as server:
        hook = server.hooks["/hook"] = Hook(hooks.hang)
        config = {"url": server.url("/hook"), "caBundle": hooks.bundle()}
        await visitor.create(HOOKS, configuration(config, timeoutSeconds=30))
        async with asyncio.TaskGroup() as tasks:
            stuck = [tasks.create_task(visitor.create_map(f"stuck-{each}")) for each in range(20)]
            await waiting.until(
                lambda: _is(len(hook.asked) == 20), limit_s=60, what="all of them hang"
            )
            secrets = "/api/v1/namespaces/default/secrets"
            await visitor.create(secrets, {"metadata": {"name": "free"}})
            assert (await visitor.ask("GET", MAPS))[0] == 200
            for task in stuck:
                task.cancel()


async def _is(true: bool) -> bool:  # noqa: FBT001  # what `until` asks for
    return true


async def test_a_webhook_that_was_restarted_is_asked_as_if_nothing_had_been(
    visitor: Visitor,
) -> None:
    """The connection that was kept to it is closed; that is not its fault."""
    server = HookServer(0)
    server.hooks["/hook"] = Hook()
    async with hooks.answering(server.handle) as port:
        config = {"url": f"https://127.0.0.1:{port}/hook", "caBundle": hooks.bundle()}
        await visitor.create(HOOKS, configuration(config))
        assert (await visitor.create_map("one"))[0] == 201
    async with hooks.answering(server.handle, port):
        assert (await visitor.create_map("two"))[0] == 201
    assert len(server.order) == 2


async def test_a_webhook_that_hangs_up_is_not_asked_twice(visitor: Visitor) -> None:
    asked = []

    async def hang_up(request: web.BaseRequest) -> web.StreamResponse:
        asked.append(await request.read())
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    async with hooks.answering(hang_up) as port:
        config = {"url": f"https://127.0.0.1:{port}/hook", "caBundle": hooks.bundle()}
        await visitor.create(HOOKS, configuration(config))
        code, answer = await visitor.create_map("one")
    assert code == 500
    assert "failed to call webhook: Post " in answer["message"]
    assert len(asked) == 1


async def test_a_webhook_with_side_effects_does_not_see_a_dry_run(visitor: Visitor) -> None:
    """Configurations from other times may have some; new ones must promise to have none."""
    async with hooks.served() as server:
        hook = server.hooks["/hook"] = Hook()
        config = {"url": server.url("/hook"), "caBundle": hooks.bundle()}
        old = configuration(config, sideEffects="Some", rules=[hooks.ASK_ABOUT_MAPS])
        registry = visitor.server.registry
        kind = registry.catalog.kind(hooks.GROUP, "validatingwebhookconfigurations")
        await registry.store.create(kind.key("", "one"), msgspec.json.encode(old))
        body = {"metadata": {"name": "one"}}
        code, answer = await visitor.ask("POST", f"{MAPS}?dryRun=All", body)
        assert (code, answer["reason"], answer["message"]) == (
            400,
            "BadRequest",
            'admission webhook "one.hooks.example" does not support dry run',
        )
        assert not hook.asked
        assert (await visitor.create_map("one"))[0] == 201
        assert len(hook.asked) == 1


async def test_who_has_locked_himself_out_can_still_mend_it(visitor: Visitor) -> None:
    everything = {
        "operations": ["*"],
        "apiGroups": ["*"],
        "apiVersions": ["*"],
        "resources": ["*/*"],
    }
    port = ports.take()
    try:
        config = {"url": f"https://127.0.0.1:{port.number}/", "caBundle": hooks.bundle()}
        await visitor.create(HOOKS, configuration(config, rules=[everything]))
        assert (await visitor.create_map("one"))[0] == 500
        assert (await visitor.ask("DELETE", f"{HOOKS}/one"))[0] == 200
    finally:
        port.release()
    assert (await visitor.create_map("one"))[0] == 201


LAMP_CRD: Object = {
    "metadata": {"name": "lamps.house.example"},
    "spec": {
        "group": "house.example",
        "scope": "Namespaced",
        "names": {"plural": "lamps", "kind": "Lamp"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": {"type": "object"}},
            }
        ],
    },
}


async def test_a_crd_is_served_as_soon_as_a_webhook_lets_its_status_be_written(
    visitor: Visitor,
) -> None:
    rule = {
        "operations": ["*"],
        "apiGroups": ["apiextensions.k8s.io"],
        "apiVersions": ["v1"],
        "resources": ["customresourcedefinitions/status"],
    }
    async with hooks.served() as server:
        hook = server.hooks["/hook"] = Hook(hooks.no("not yet"))
        config = {"url": server.url("/hook"), "caBundle": hooks.bundle()}
        await visitor.create(HOOKS, configuration(config, rules=[rule]))
        await visitor.create(CRDS, LAMP_CRD)
        lamps = "/apis/house.example/v1/namespaces/default/lamps"
        await waiting.until(
            lambda: _is(bool(hook.asked)), limit_s=60, what="the status is asked about"
        )
        assert (await visitor.ask("GET", lamps))[0] == 404
        hook.answer = hooks.yes

        async def is_served() -> bool:
            return (await visitor.ask("GET", lamps))[0] == 200

        await waiting.until(is_served, limit_s=60, what="lamps are served")
    assert {each["userInfo"]["username"] for each in hook.asked} == {"system:apiserver"}


async def test_webhooks_are_asked_from_the_first_request_on(tmp_path: Path) -> None:
    async with hooks.served() as server:
        server.hooks["/hook"] = Hook(hooks.no("as before"))
        config = {"url": server.url("/hook"), "caBundle": hooks.bundle()}
        async with running(tmp_path) as visitor:
            await visitor.create(HOOKS, configuration(config))
        async with running(tmp_path) as visitor:
            code, answer = await visitor.create_map("one")
    assert (code, answer["message"]) == (
        400,
        'admission webhook "one.hooks.example" denied the request: as before',
    )


async def test_a_server_starts_and_lives_though_all_its_writes_are_refused(tmp_path: Path) -> None:
    """What it would write itself is missing, and a webhook that is away is asked about everything."""
    everything = {
        "operations": ["*"],
        "apiGroups": ["*"],
        "apiVersions": ["*"],
        "resources": ["*/*"],
    }
    access = AccessSettings(signing_key=signing_key(), known_tokens={"admin": ADMINISTRATOR})
    port = ports.take()
    config = {"url": f"https://127.0.0.1:{port.number}/", "caBundle": hooks.bundle()}
    async with running(tmp_path, access=access) as visitor:
        await visitor.create(HOOKS, configuration(config, rules=[everything]))
    async with open_store(tmp_path / "store.db", clock=SystemClock()) as store:
        for kind in ("rbac.authorization.k8s.io", "apiregistration.k8s.io", "core/namespaces"):
            for entry in (await store.list(f"/registry/{kind}/")).entries:
                if not entry.key.endswith("/default"):
                    await store.delete(entry)
    try:
        async with running(tmp_path, access=access) as visitor:
            assert (await visitor.ask("GET", MAPS))[0] == 200
            assert (await visitor.create_map("one"))[0] == 500
            assert (await visitor.ask("DELETE", f"{HOOKS}/one"))[0] == 200
            assert (await visitor.create_map("one"))[0] == 201
    finally:
        port.release()


async def test_the_server_lives_on_when_writes_of_its_own_are_refused(visitor: Visitor) -> None:
    """A CRD comes with an APIService, which the server makes itself."""
    rule = {
        "operations": ["*"],
        "apiGroups": ["apiregistration.k8s.io"],
        "apiVersions": ["v1"],
        "resources": ["*/*"],
    }
    async with hooks.served() as server:
        hook = server.hooks["/hook"] = Hook(hooks.no("not here"))
        config = {"url": server.url("/hook"), "caBundle": hooks.bundle()}
        await visitor.create(HOOKS, configuration(config, rules=[rule]))
        await visitor.create(CRDS, LAMP_CRD)
        await waiting.until(lambda: _is(bool(hook.asked)), limit_s=60, what="it is asked about")
        lamps = "/apis/house.example/v1/namespaces/default/lamps"

        async def is_served() -> bool:
            return (await visitor.ask("GET", lamps))[0] == 200

        await waiting.until(is_served, limit_s=60, what="lamps are served")
    assert {each["userInfo"]["username"] for each in hook.asked} == {"system:apiserver"}


# The audit log


async def test_what_webhooks_do_is_written_down(tmp_path: Path) -> None:
    def answer(request: Object) -> Object:
        found: Object = hooks.add("/data/a", "b")(request)
        return {**found, "auditAnnotations": {"why": "because"}}

    log = tmp_path / "audit.log"
    access = AccessSettings(signing_key=signing_key(), known_tokens={"admin": ADMINISTRATOR})
    port = ports.take()
    async with hooks.served() as server:
        server.hooks["/hook"] = Hook(answer)
        good = {"url": server.url("/hook"), "caBundle": hooks.bundle()}
        away = {"url": f"https://127.0.0.1:{port.number}/", "caBundle": hooks.bundle()}
        async with running(tmp_path, access=access, audit=AuditLogSettings(path=log)) as visitor:
            await visitor.create(MUTATING, configuration(good))
            await visitor.create(MUTATING, configuration(away, "two", failurePolicy="Ignore"))
            await visitor.create(HOOKS, configuration(away, failurePolicy="Ignore"))
            assert (await visitor.create_map("noted"))[0] == 201
    port.release()
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    (event,) = [each for each in lines if each["requestURI"] == MAPS]
    annotations = event["annotations"]
    assert annotations["one.hooks.example/why"] == "because"
    prefix = "mutation.webhook.admission.k8s.io/round_"
    first = {"configuration": "one", "webhook": "one.hooks.example", "mutated": True}
    assert json.loads(annotations[f"{prefix}0_index_0"]) == first
    assert annotations[f"failed-open.{prefix}0_index_1"] == "one.hooks.example"
    failed = "failed-open.validating.webhook.admission.k8s.io/round_0_index_0"
    assert annotations[failed] == "one.hooks.example"
    assert annotations["authorization.k8s.io/decision"] == "allow"
    assert base64.b64encode(b'"b"').decode() not in log.read_text()  # never a patch
