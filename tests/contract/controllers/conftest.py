"""A control plane without nodes: tests make the nodes, and say how they are.

Kubernetes' own scheduler and controller manager, or ours beside the embedded server: the same tests. Ours run in
the test's own loop, under the names that Kubernetes gives them. Nodes belong to a cluster, not to a namespace, so
every test has a server to itself while it runs, and takes its nodes away.
"""

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from tests.contract.conftest import NAMESPACES, People, config_of, define_lamps
from tests.contract.controllers.machines import GRACE_S, Machines

from clusterup.light import LightCluster
from clusterup.light_embedded import EmbeddedServer
from clusterup.pytest_plugin import session_loop
from kubevirt.base.clock import SystemClock
from kubevirt.base.tasks import background
from kubevirt.embedded.controllers.controlling import controlling
from kubevirt.embedded.controllers.nodes.settings import NodeSettings
from kubevirt.embedded.scheduler.scheduler import scheduling
from kubevirt.embedded.storage.controller import StorageController
from kubevirt.embedded.storage.loop import LoopDevices
from kubevirt.kube.client import Client

QUARANTINE_S = 2.0


@pytest.fixture(scope="session")
def server(server_name: str, request: pytest.FixtureRequest) -> Iterator[People]:
    started: LightCluster | EmbeddedServer
    if server_name == "embedded":
        started = EmbeddedServer()
    else:
        request.getfixturevalue("light_programs")
        flags = {"node-monitor-grace-period": f"{GRACE_S}s", "node-monitor-period": "1s"}
        started = LightCluster(has_scheduler=True, manager_flags=flags)
    with session_loop() as loop:
        loop.run(started.start())
        try:
            yield started
        finally:
            loop.run(started.stop())


@pytest.fixture(scope="session")
def _lamps_are_known(server: People) -> None:
    """On this server, too."""
    with session_loop() as loop:
        loop.run(define_lamps(server))


@pytest.fixture
async def namespace(client: Client, namespace: str) -> AsyncIterator[str]:
    """Deleted afterwards: the controllers shall not look after what nobody asks about any more."""
    yield namespace
    await client.delete(NAMESPACES, namespace)


@pytest.fixture
async def plane(server: People, server_name: str, tmp_path: Path) -> AsyncIterator[None]:
    """Ours, where the server has none of its own."""
    if server_name != "embedded":
        yield
        return
    account = "system:serviceaccount:kube-system:node-controller"
    groups = ["system:serviceaccounts", "system:serviceaccounts:kube-system"]
    files = (
        server.kubeconfig_for("system:kube-scheduler"),
        server.kubeconfig_for("system:kube-controller-manager"),
        server.kubeconfig_for(account, groups),
        server.kubeconfig,
    )
    clock = SystemClock()
    settings = NodeSettings(grace_s=GRACE_S, quarantine_s=QUARANTINE_S)
    async with AsyncExitStack() as stack:
        scheduler, manager, acting, storing = [
            await stack.enter_async_context(Client(config_of(file))) for file in files
        ]
        await stack.enter_async_context(scheduling(scheduler, clock))
        await stack.enter_async_context(
            controlling(manager, clock, acting=acting, settings=settings)
        )
        loops = LoopDevices(tmp_path, tmp_path / "nodes")
        storage = StorageController(storing, tmp_path, loops, clock)
        await stack.enter_async_context(background(storage.run()))
        yield


@pytest.fixture
async def machines(client: Client, plane: None, namespace: str) -> AsyncIterator[Machines]:
    async with Machines(client, namespace) as machines:
        yield machines
