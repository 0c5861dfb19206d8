"""A person leaves a pager alone: the API server cuts those who take nothing, but not of a log."""

import asyncio
import os
import socket
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
import pytest
from tests.component.embedded.endpoint.conftest import HOST, written
from tests.component.embedded.endpoint.pods import Pods, a_pod
from tests.component.embedded.endpoint.running import LIMIT_S, shell
from tests.contract.pod_cases import pod

from kubevirt.apiserver.auth.authority import Authority, Wanted
from kubevirt.apiserver.callees.callee import ClientFiles
from kubevirt.apiserver.http.kubelets import KubeletSettings
from kubevirt.apiserver.http.limits import Limits
from kubevirt.apiserver.server import ADMINISTRATOR, ServerSettings, serving
from kubevirt.embedded.runtime.attempt import Attempt
from kubevirt.embedded.runtime.keeper import Keeper

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="sandboxes of pods are made by root")

NUMBERS = 1_500_000
STALLED_S = 0.3
HEADERS = {"Authorization": "Bearer admin"}


@pytest.fixture
def server_settings(authority: Authority, pki: Path, tmp_path: Path) -> ServerSettings:
    client = Wanted.client("kube-apiserver-kubelet-client", ["system:masters"])
    files = written(authority.issue(client, datetime.now(UTC)), pki, "client")
    return ServerSettings(
        data=tmp_path / "store.db",
        tokens={"admin": ADMINISTRATOR},
        limits=Limits(stalled_s=STALLED_S),
        kubelets=KubeletSettings(
            authority=authority.pair.certificate,
            client=ClientFiles(str(files[0]), str(files[1])),
        ),
    )


async def test_a_log_waits_for_whoever_reads_it(
    server_settings: ServerSettings, endpoint: str, pods: Pods, attempts: Path, keeper: Keeper
) -> None:
    attempt = Attempt(attempts / "0")
    async with asyncio.timeout(LIMIT_S):
        await attempt.start(shell(f"seq {NUMBERS}", log_bytes=1 << 30), keeper)
        await attempt.ended()
    pods.add(a_pod("web", "main"), main=[attempt])

    async with serving(server_settings) as server:
        async with aiohttp.ClientSession(server.url, headers=HEADERS) as client:
            await _put(client, endpoint)
        said = await _read_late(server.port, "/api/v1/namespaces/default/pods/web/log")

    assert said.endswith(f"{NUMBERS}\n".encode())


async def _put(client: aiohttp.ClientSession, endpoint: str) -> None:
    status = {
        "addresses": [{"type": "InternalIP", "address": HOST}],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": urlsplit(endpoint).port}},
    }
    node = {"metadata": {"name": "node01"}, "status": status}
    account = {"metadata": {"name": "default"}}
    for path, body in (
        ("/api/v1/nodes", node),
        ("/api/v1/namespaces/default/serviceaccounts", account),
        ("/api/v1/namespaces/default/pods", pod(name="web", nodeName="node01")),
    ):
        async with client.post(path, json=body) as answer:
            assert answer.status in (201, 409), await answer.text()


async def _read_late(port: int, path: str) -> bytes:
    """Takes nothing for much longer than the server lets others."""
    loop = asyncio.get_running_loop()
    with socket.socket() as connection:
        connection.setblocking(False)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 18)
        await loop.sock_connect(connection, (HOST, port))
        words = [f"GET {path} HTTP/1.1", "Host: x", "Connection: close"]
        words += [f"{name}: {value}" for name, value in HEADERS.items()]
        await loop.sock_sendall(connection, "\r\n".join([*words, "", ""]).encode())
        await asyncio.sleep(STALLED_S * 8)
        said = b""
        async with asyncio.timeout(LIMIT_S):
            while chunk := await loop.sock_recv(connection, 1 << 20):
                said += chunk
    return said.removesuffix(b"\r\n0\r\n\r\n")
