"""Who may call: those whom the API server lets, and nobody who only says so."""

import io
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest
from tests.component.virtapi.machines import Machines
from tests.component.virtapi.place import GROUP_PATH, Place

from clusterup import certificates, waiting
from kubevirt.base.clock import SystemClock
from kubevirt.base.sockets import Sockets

MASTER = {"X-Remote-User": "root", "X-Remote-Group": "system:masters"}


async def _may(machines: Machines, user: str, resource: str, *verbs: str) -> Path:
    """Somebody who may do just this, in this namespace."""
    path = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{machines.namespace}"
    rule = {
        "apiGroups": ["subresources.kubevirt.io"],
        "resources": [resource],
        "verbs": list(verbs),
    }
    body = {"metadata": {"name": user}, "rules": [rule]}
    await machines.client.raw("POST", f"{path}/roles", body)
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": user}
    subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}
    binding = {"metadata": {"name": user}, "roleRef": role, "subjects": [subject]}
    await machines.client.raw("POST", f"{path}/rolebindings", binding)
    return machines.place.server.kubeconfig_for(user)


async def test_a_user_without_rights_starts_nothing(machines: Machines) -> None:
    vm = await machines.machine(runStrategy="Manual")
    nobody = machines.place.server.kubeconfig_for("nobody")
    path = machines.call("virtualmachines", "testvm", "start")
    said = await machines.put(path, user=nobody)
    assert said.code == 1
    assert (
        '(Forbidden): virtualmachines.subresources.kubevirt.io "testvm" is forbidden' in said.stderr
    )
    now = await machines.get("virtualmachines", "testvm")
    assert now["metadata"]["resourceVersion"] == vm["metadata"]["resourceVersion"]


async def test_a_user_with_the_right_to_start_does_that_and_no_more(machines: Machines) -> None:
    await machines.machine(runStrategy="Manual")
    jane = await _may(machines, "jane", "virtualmachines/start", "update")

    async def starts() -> bool:
        said = await machines.put(machines.call("virtualmachines", "testvm", "start"), user=jane)
        assert said.code == 0 or "is forbidden" in said.stderr, said.stderr
        return said.code == 0

    await waiting.until(starts, limit_s=60, what="jane may start machines")
    said = await machines.put(machines.call("virtualmachines", "testvm", "stop"), user=jane)
    assert "is forbidden" in said.stderr


async def test_the_right_to_a_screen_is_none_to_its_picture(machines: Machines) -> None:
    """The API server reads the path up to its first part only; virt-api reads all of it."""
    await machines.instance()
    jane = await _may(machines, "jane", "virtualmachineinstances/vnc", "get")
    path = machines.call("virtualmachineinstances", "testvm", "vnc/screenshot")

    async def is_let_through() -> bool:
        said = await machines.kubectl("get", "--raw", path, user=jane)
        assert said.code == 1
        return "(Forbidden)" not in said.stderr

    await waiting.until(is_let_through, limit_s=60, what="the API server passes jane on")
    said = await machines.kubectl("get", "--raw", path, user=jane)
    assert "(Unauthorized)" in said.stderr or "must be logged in" in said.stderr, said.stderr


# At the port itself


@asynccontextmanager
async def door(
    place: Place, shown: certificates.Pair | None = None
) -> AsyncIterator[aiohttp.ClientSession]:
    """Leaves nothing behind: a session forgets connections that it has taken leave of, which wait for an answer."""
    sockets = Sockets()
    connector = aiohttp.TCPConnector(
        ssl=place.door_context(shown),
        socket_factory=lambda address: sockets.keep(socket.socket(*address[:3])),
    )
    try:
        async with aiohttp.ClientSession(
            f"https://localhost:{place.port}", connector=connector
        ) as made:
            yield made
    finally:
        await sockets.hang_up(SystemClock())


async def asked(session: aiohttp.ClientSession, path: str) -> tuple[int, str]:
    async with session.put(
        path, headers=MASTER, data=b"{}", server_hostname="virt-api.kubevirt.svc"
    ) as answer:
        return answer.status, (await answer.json())["message"]


async def test_nobody_is_believed_without_a_certificate(machines: Machines) -> None:
    path = machines.call("virtualmachines", "testvm", "start")
    async with door(machines.place) as session:
        assert await asked(session, path) == (401, "request is not authenticated")


async def test_a_certificate_of_somebody_else_opens_nothing(machines: Machines) -> None:
    path = machines.call("virtualmachines", "testvm", "start")
    stranger = machines.place.signer.client("front-proxy-client")
    with pytest.raises(aiohttp.ClientError):
        async with door(machines.place, stranger) as session:
            await asked(session, path)


async def test_everybody_may_know_how_it_is(place: Place) -> None:
    async with door(place) as session:
        for path, text in (("/healthz", "ok"), ("/metrics", "kubevirt_virt_api_ready_status 1.0")):
            async with session.get(path, server_hostname="virt-api.kubevirt.svc") as answer:
                assert (answer.status, text in await answer.text()) == (200, True)
        async with session.get(GROUP_PATH, server_hostname="virt-api.kubevirt.svc") as answer:
            assert (await answer.json())["name"] == "subresource.kubevirt.io"


async def test_a_review_may_be_only_so_large(place: Place) -> None:
    async with door(place) as session:
        async with session.post(
            "/virtualmachines-validate",
            data=io.BytesIO(b"x" * (9 << 20)),
            server_hostname="virt-api.kubevirt.svc",
        ) as answer:
            assert answer.status == 413
        async with session.post(
            "/virtualmachines-validate", data=b"{}", server_hostname="virt-api.kubevirt.svc"
        ) as answer:
            assert answer.status == 400
