"""virt-api at a private unix socket, as the embedded home has it: no TLS, no port, the same answers."""

import asyncio
import json
import socket as socket_module
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from multidict import CIMultiDict
from tests.component.virtapi.machines import Machines
from tests.component.virtapi.place import GROUP_PATH
from tests.component.virtapi.stand_in_handler import StandInHandler

from kubevirt.api.configuration import KubeVirtConfiguration
from kubevirt.base.clock import Clock
from kubevirt.components.ground.tls import ClientTls, Files
from kubevirt.components.virtapi.running import Settings, running
from kubevirt.components.virtapi.serving import Doors

ROOT = {"X-Remote-User": "root", "X-Remote-Group": "system:masters"}


def mode(path: Path) -> int | None:
    """None if it is not there."""
    return stat.S_IMODE(path.stat().st_mode) if path.exists() else None


@asynccontextmanager
async def opened(
    machines: Machines, clock: Clock, path: Path
) -> AsyncIterator[aiohttp.ClientSession]:
    folder = machines.place.folder
    tls = ClientTls(folder / "ca.crt", Files(folder / "client.crt", folder / "client.key"))
    settings = Settings(
        doors=Doors(socket=path),
        handler_tls=tls.context,
        handler_port=machines.place.handler_port,
    )
    async with running(
        settings,
        client=machines.client,
        clock=clock,
        configuration=KubeVirtConfiguration,
    ) as port:
        assert port == 0
        assert mode(path) == 0o600
        connector = aiohttp.UnixConnector(str(path))
        async with aiohttp.ClientSession("http://virt-api", connector=connector) as made:
            yield made
    assert mode(path) is None


@pytest.fixture
async def session(
    machines: Machines, clock: Clock, tmp_path: Path
) -> AsyncIterator[aiohttp.ClientSession]:
    async with opened(machines, clock, tmp_path / "virt-api.sock") as made:
        yield made


async def asked(
    session: aiohttp.ClientSession, method: str, path: str, headers: dict[str, str], **more: Any
) -> tuple[int, str]:
    async with session.request(method, path, headers=headers, **more) as answer:
        return answer.status, await answer.text()


async def test_whoever_comes_is_believed(
    session: aiohttp.ClientSession, machines: Machines
) -> None:
    await machines.machine(runStrategy="Manual")
    path = machines.call("virtualmachines", "testvm", "start")
    assert await asked(session, "PUT", path, ROOT) == (202, "")
    vm = await machines.get("virtualmachines", "testvm")
    assert vm["status"]["stateChangeRequests"] == [{"action": "Start"}]


async def test_but_has_to_say_who_asks(session: aiohttp.ClientSession, machines: Machines) -> None:
    path = machines.call("virtualmachines", "testvm", "start")
    code, body = await asked(session, "PUT", path, {})
    assert (code, json.loads(body)["message"]) == (401, "request is not authenticated")


async def test_and_they_have_to_be_allowed(
    session: aiohttp.ClientSession, machines: Machines
) -> None:
    path = machines.call("virtualmachines", "testvm", "start")
    code, body = await asked(session, "PUT", path, {"X-Remote-User": "jane"})
    assert (code, json.loads(body)["reason"]) == (401, "Unauthorized")
    assert "testvm" in json.loads(body)["message"] or "denied" in json.loads(body)["message"]


async def test_somebody_may_be_in_many_groups(
    session: aiohttp.ClientSession, machines: Machines
) -> None:
    await machines.machine(runStrategy="Manual")
    path = machines.call("virtualmachines", "testvm", "start")
    groups = [("X-Remote-Group", f"group-{number}") for number in range(400)]
    headers = CIMultiDict(
        [("X-Remote-User", "root"), *groups, ("X-Remote-Group", "system:masters")]
    )
    async with session.put(path, headers=headers) as answer:
        assert answer.status == 202


async def test_the_verb_is_part_of_the_call(
    session: aiohttp.ClientSession, machines: Machines
) -> None:
    path = machines.call("virtualmachines", "testvm", "start")
    code, body = await asked(session, "GET", path, ROOT)
    assert (code, json.loads(body)["reason"]) == (405, "MethodNotAllowed")


@pytest.mark.parametrize(
    "path",
    [
        f"{GROUP_PATH}/v1/namespaces/home/virtualmachines/testvm/dance",
        f"{GROUP_PATH}/v2/namespaces/home/virtualmachines/testvm/start",
        "/apis/other.example/v1/namespaces/home/virtualmachines/testvm/start",
        "/nothing",
    ],
)
async def test_other_paths_lead_nowhere(session: aiohttp.ClientSession, path: str) -> None:
    code, body = await asked(session, "PUT", path, ROOT)
    assert (code, json.loads(body)["reason"]) == (404, "NotFound")


async def test_the_aggregator_gets_one_document_once(session: aiohttp.ClientSession) -> None:
    wanted = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    async with session.get("/apis", headers={"Accept": wanted}) as answer:
        assert answer.headers["Content-Type"] == wanted
        assert (await answer.json(content_type=None))["kind"] == "APIGroupDiscoveryList"
        etag = answer.headers["ETag"]
    headers = {"Accept": wanted, "If-None-Match": etag}
    assert await asked(session, "GET", "/apis", headers) == (304, "")
    async with session.get("/apis") as answer:
        assert (await answer.json())["kind"] == "APIGroupList"


async def test_a_console_by_the_socket(
    session: aiohttp.ClientSession, machines: Machines, handler: StandInHandler
) -> None:
    await machines.instance()
    path = machines.call("virtualmachineinstances", "testvm", "console")
    async with session.ws_connect(path, headers=ROOT, protocols=["plain.kubevirt.io"]) as socket:
        await socket.send_bytes(b"hello")
        assert await socket.receive_bytes(timeout=60) == b"hello"


async def test_it_ends_while_somebody_is_connected(
    machines: Machines, clock: Clock, handler: StandInHandler, tmp_path: Path
) -> None:
    """As when the home ends: whoever has a console loses it, and nobody is waited for."""
    await machines.instance()
    path = machines.call("virtualmachineinstances", "testvm", "console")
    connector = aiohttp.UnixConnector(str(tmp_path / "virt-api.sock"))
    async with aiohttp.ClientSession("http://virt-api", connector=connector) as user:
        async with asyncio.timeout(60), opened(machines, clock, tmp_path / "virt-api.sock"):
            socket = await user.ws_connect(path, headers=ROOT, protocols=["plain.kubevirt.io"])
            await socket.send_bytes(b"hello")
            assert await socket.receive_bytes(timeout=60) == b"hello"
        message = await socket.receive(timeout=60)
        assert message.type in (aiohttp.WSMsgType.CLOSED, aiohttp.WSMsgType.CLOSE)
    async with asyncio.timeout(60):
        await handler.has_ended.wait()


async def test_one_that_died_is_in_nobodys_way(
    machines: Machines, clock: Clock, tmp_path: Path
) -> None:
    """Its socket is still there, but nobody behind it."""
    path = tmp_path / "virt-api.sock"
    with socket_module.socket(socket_module.AF_UNIX) as left:
        left.bind(str(path))
    async with opened(machines, clock, path) as session, session.get("/healthz") as answer:
        assert answer.status == 200


def review(**request: Any) -> dict[str, Any]:
    asked = {"uid": "17", "operation": "CREATE", "userInfo": {"username": "jane"}, **request}
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": asked}


async def test_an_object_of_another_shape_is_left_to_the_schema_and_refused_behind_it(
    session: aiohttp.ClientSession,
) -> None:
    unfit = {"metadata": {"name": "x"}, "spec": {"running": "perhaps", "template": 7}}
    body = review(object=unfit)
    async with session.post("/virtualmachines-mutate", json=body) as answer:
        said = (await answer.json())["response"]
    assert said == {"uid": "17", "allowed": True}
    async with session.post("/virtualmachines-validate", json=body) as answer:
        said = (await answer.json())["response"]
    assert (said["allowed"], said["status"]["code"]) == (False, 422)
    assert "the object does not fit its kind" in said["status"]["message"]


async def test_what_was_stored_once_can_still_be_labelled(session: aiohttp.ClientSession) -> None:
    """Also one that could not be stored today."""
    old = {"metadata": {"name": "x"}, "spec": {"runStrategy": "Sometimes", "template": {}}}
    new = {**old, "metadata": {"name": "x", "labels": {"a": "b"}}}
    body = review(operation="UPDATE", object=new, oldObject=old)
    async with session.post("/virtualmachines-validate", json=body) as answer:
        assert (await answer.json())["response"] == {"uid": "17", "allowed": True}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{}",
        b'{"apiVersion": "admission.k8s.io/v1beta1", "kind": "AdmissionReview", "request": {"uid": "", "operation": ""}}',
        b"[" * 100_000,
    ],
)
async def test_what_is_no_review_is_told(session: aiohttp.ClientSession, body: bytes) -> None:
    async with session.post("/virtualmachines-validate", data=body) as answer:
        assert (answer.status, (await answer.json())["reason"]) == (400, "BadRequest")


async def test_an_object_nested_without_end_ends_nothing(session: aiohttp.ClientSession) -> None:
    deep = b'{"a":' * 900 + b"1" + b"}" * 900
    body = (
        b'{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":'
        b'{"uid":"17","operation":"CREATE","object":{"spec":' + deep + b"}}}"
    )
    async with session.post("/virtualmachineinstances-mutate", data=body) as answer:
        assert answer.status in (200, 400)
    async with session.get("/healthz") as answer:
        assert answer.status == 200


async def test_a_large_object_is_judged_as_any_other(
    session: aiohttp.ClientSession,
) -> None:
    devices = {"disks": [{"name": f"d{number}", "disk": {}} for number in range(20_000)]}
    spec = {"domain": {"devices": devices, "memory": {"guest": "64Mi"}}}
    body = review(object={"metadata": {"name": "x"}, "spec": spec})
    async with session.post("/virtualmachineinstances-validate-create", json=body) as answer:
        said = (await answer.json())["response"]
    assert said["allowed"] is False
    assert "exceeds the 256 element limit in length" in said["status"]["message"]
