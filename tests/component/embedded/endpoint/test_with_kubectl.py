"""kubectl at the API server, the API server at a node, the node at its containers: all of them real."""

import asyncio
import os
import signal
import subprocess
import uuid
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.component.embedded.endpoint.pods import Pods, a_pod
from tests.component.embedded.endpoint.running import LIMIT_S, processes, shell, started, until
from tests.contract.pod_cases import pod

from clusterup import processes as programs
from clusterup.light_embedded import EmbeddedServer
from clusterup.pytest_plugin import session_loop
from kubevirt.base.clock import SystemClock
from kubevirt.embedded.node.endpoint.endpoint import EndpointSettings, serving
from kubevirt.embedded.runtime.attempt import Attempt
from kubevirt.embedded.runtime.container import Container
from kubevirt.embedded.runtime.keeper import Keeper
from kubevirt.kube.access import kubeconfig
from kubevirt.kube.client import Client

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="sandboxes of pods are made by root"),
    pytest.mark.timeout(120),
]

HOST = "127.0.0.1"
PODS = "/api/v1/namespaces/default/pods"


@pytest.fixture(scope="session")
def server() -> Iterator[EmbeddedServer]:
    with session_loop() as loop:
        made = EmbeddedServer()
        if not made.kubectl.exists():
            pytest.skip("kubectl is not built: make cluster-up KUBE_PROVIDER=k8s-1.34 builds it")
        loop.run(made.start())
        yield made
        loop.run(made.stop())


@pytest.fixture
async def client(server: EmbeddedServer) -> AsyncIterator[Client]:
    async with Client(kubeconfig.load([server.kubeconfig], {})) as client:
        yield client


class Node:
    """One whose pods run because a test says so."""

    def __init__(self, name: str, pods: Pods, client: Client, keeper: Keeper, folder: Path) -> None:
        self.name = name
        self._pods = pods
        self._client = client
        self._keeper = keeper
        self._folder = folder
        self.attempts: list[Attempt] = []

    async def run(self, name: str, container: Container) -> Attempt:
        asked = pod(name=name, terminationGracePeriodSeconds=0, nodeName=self.name)
        await self._client.raw("POST", PODS, asked)
        attempt = await started(self._folder / name / "0", self._keeper, container)
        self.attempts.append(attempt)
        self._pods.add(a_pod(name, "main"), main=[attempt])
        running: dict[str, Any] = {
            "phase": "Running",
            "conditions": [{"type": "Ready", "status": "True"}],
        }
        await self._client.raw(
            "PATCH", f"{PODS}/{name}/status", {"status": running}, content_type=MERGE
        )
        return attempt


MERGE = "application/merge-patch+json"


@pytest.fixture
async def node(
    server: EmbeddedServer, client: Client, keeper: Keeper, tmp_path: Path
) -> AsyncIterator[Node]:
    name = f"node-{uuid.uuid4().hex[:8]}"
    pair = server.server_certificate(name, [HOST])
    certificate, key = pair.write(tmp_path, "node")
    settings = EndpointSettings(
        host=HOST, certificate=certificate, key=key, authority=server.ca_file.read_bytes()
    )
    pods = Pods()
    async with serving(settings, pods, keeper, SystemClock()) as port:
        status = {
            "addresses": [{"type": "InternalIP", "address": HOST}],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": port}},
        }
        await client.raw("POST", "/api/v1/nodes", {"metadata": {"name": name}, "status": status})
        made = Node(name, pods, client, keeper, tmp_path)
        yield made
        for attempt in made.attempts:
            attempt.signal(signal.SIGKILL)


@pytest.fixture
async def web(node: Node) -> str:
    """A pod with a container that waits."""
    name = f"web-{uuid.uuid4().hex[:8]}"
    await node.run(name, shell("echo one; echo two; exec sleep 1000"))
    return name


async def test_exec_gives_output_and_exit_code(server: EmbeddedServer, web: str) -> None:
    done = await server.run_kubectl(
        "exec", web, "--", "sh", "-c", "echo out; echo err >&2; exit 7", check=False
    )

    assert (done.code, done.stdout) == (7, "out\n")
    assert "err\n" in done.stderr
    assert "command terminated with exit code 7" in done.stderr


async def test_exec_passes_input_to_its_end(server: EmbeddedServer, web: str) -> None:
    done = await server.run_kubectl("exec", "-i", web, "--", "wc", "-c", stdin="x" * 1_000_000)

    assert done.stdout == "1000000\n"


async def test_exec_of_what_is_not_there(server: EmbeddedServer, web: str) -> None:
    done = await server.run_kubectl("exec", web, "--", "nonsense", check=False)

    assert done.code == 1
    assert "cannot start nonsense: No such file or directory" in done.stderr


async def test_exec_into_a_container_that_has_ended(server: EmbeddedServer, node: Node) -> None:
    name = f"gone-{uuid.uuid4().hex[:8]}"
    attempt = await node.run(name, shell("exec sleep 1000"))
    attempt.signal(signal.SIGKILL)
    async with asyncio.timeout(LIMIT_S):
        await attempt.ended()

    done = await server.run_kubectl("exec", name, "--", "true", check=False)

    assert done.code == 1
    assert 'container not found ("main")' in done.stderr


async def test_exec_on_a_terminal(server: EmbeddedServer, web: str) -> None:
    """With one of kubectl's own, as a person has."""
    master, slave = os.openpty()
    process = await asyncio.create_subprocess_exec(
        *(str(server.kubectl), "--kubeconfig", str(server.kubeconfig)),
        *("exec", "-it", web, "--", "sh"),
        stdin=slave,
        stdout=slave,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    os.close(slave)
    os.write(master, b"stty size; tty; exit 3\n")
    async with asyncio.timeout(LIMIT_S):
        assert await process.wait() == 3
    shown = os.read(master, 65536)
    os.close(master)
    assert b"/dev/pts/" in shown


async def test_cp_goes_both_ways(server: EmbeddedServer, web: str, tmp_path: Path) -> None:
    here, back = tmp_path / "here", tmp_path / "back"
    here.write_bytes(os.urandom(3_000_000))

    await server.run_kubectl("cp", str(here), f"{web}:/tmp/there")
    await server.run_kubectl("cp", f"{web}:/tmp/there", str(back))

    assert back.read_bytes() == here.read_bytes()


async def test_logs_are_given_and_followed(server: EmbeddedServer, node: Node) -> None:
    name = f"talking-{uuid.uuid4().hex[:8]}"
    await node.run(name, shell("for n in $(seq 40); do echo $n; sleep 0.05; done"))

    followed = await server.run_kubectl("logs", "-f", name)
    tail = await server.run_kubectl("logs", "--tail=2", "--timestamps", name)
    late = await server.run_kubectl("logs", "--since=1h", "--limit-bytes=4", name)

    assert followed.stdout.split() == [str(number) for number in range(1, 41)]
    assert [line.split()[1] for line in tail.stdout.splitlines()] == ["39", "40"]
    assert late.stdout == "1\n2\n"


async def test_logs_of_a_try_that_there_was_not(server: EmbeddedServer, web: str) -> None:
    done = await server.run_kubectl("logs", "--previous", web, check=False)

    assert f'previous terminated container "main" in pod "{web}" not found' in done.stderr


async def test_a_port_that_cannot_be_forwarded(server: EmbeddedServer, web: str) -> None:
    done = await server.run_kubectl("port-forward", f"pod/{web}", ":80", check=False)

    assert done.code == 1
    assert "this server cannot forward ports, which needs SPDY" in done.stderr


async def test_a_kubectl_without_websockets_is_told_which_one_has_them(
    server: EmbeddedServer, web: str, tmp_path: Path
) -> None:
    done = await programs.run(
        *(server.kubectl, "--kubeconfig", server.kubeconfig, "exec", web, "--", "true"),
        env=programs.plain_environment(
            HOME=str(tmp_path), KUBECTL_REMOTE_COMMAND_WEBSOCKETS="false"
        ),
        check=False,
    )

    assert done.code == 1
    assert "this home has no SPDY; use kubectl 1.30 or newer" in done.stderr


async def test_attach_hears_what_is_said(server: EmbeddedServer, node: Node) -> None:
    name = f"talking-{uuid.uuid4().hex[:8]}"
    attempt = await node.run(name, shell("while :; do echo word; sleep 0.05; done"))

    process = await asyncio.create_subprocess_exec(
        *(str(server.kubectl), "--kubeconfig", str(server.kubeconfig), "attach", name),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdout is not None
    async with asyncio.timeout(LIMIT_S):
        assert await process.stdout.readline() == b"word\n"
        attempt.signal(signal.SIGKILL)
        await process.stdout.read()
        assert await process.wait() == 0


async def test_a_command_ends_with_kubectl(server: EmbeddedServer, web: str) -> None:
    mark = f"kvpy-test-{uuid.uuid4().hex}"
    process = await asyncio.create_subprocess_exec(
        *(str(server.kubectl), "--kubeconfig", str(server.kubeconfig)),
        *("exec", web, "--", "sh", "-c", f": {mark}; sleep 1000; :"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    await until(lambda: any(each != process.pid for each in processes(mark)))

    process.kill()
    await process.wait()

    await until(lambda: not processes(mark))


async def test_many_at_once(server: EmbeddedServer, web: str) -> None:
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(server.run_kubectl("exec", web, "--", "echo", str(number)))
            for number in range(6)
        ]

    assert [task.result().stdout for task in tasks] == [f"{number}\n" for number in range(6)]
