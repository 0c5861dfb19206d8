"""The controller of endpoints: Kubernetes' own, or ours beside the embedded server. The same tests."""

from collections.abc import AsyncIterator, Iterator
from contextlib import suppress

import pytest
from tests.contract.conftest import NAMESPACES, Server, config_of, define_lamps
from tests.contract.endpoints.backing import NODE, Backing

from clusterup.light import LightCluster
from clusterup.light_embedded import EmbeddedServer
from clusterup.pytest_plugin import session_loop
from kubevirt.api.scheme import NODES
from kubevirt.base.clock import SystemClock
from kubevirt.embedded.controllers.endpoints.controller import following
from kubevirt.kube.client import Client
from kubevirt.kube.errors import AlreadyExists


@pytest.fixture(scope="session")
def server(server_name: str, request: pytest.FixtureRequest) -> Iterator[Server]:
    started: LightCluster | EmbeddedServer
    if server_name == "embedded":
        started = EmbeddedServer()
    else:
        request.getfixturevalue("light_programs")
        started = LightCluster(controllers="*,-nodelifecycle,-podgc")
    with session_loop() as loop:
        loop.run(started.start())
        try:
            yield started
        finally:
            loop.run(started.stop())


@pytest.fixture(scope="session")
def _lamps_are_known(server: Server) -> None:
    """On this server, too."""
    with session_loop() as loop:
        loop.run(define_lamps(server))


@pytest.fixture
async def namespace(client: Client, namespace: str) -> AsyncIterator[str]:
    """Deleted afterwards: the controllers shall not look after what nobody asks about any more."""
    yield namespace
    await client.delete(NAMESPACES, namespace)


@pytest.fixture
async def _controller(server: Server, server_name: str) -> AsyncIterator[None]:
    """Ours, where the server has none of its own."""
    if server_name != "embedded":
        yield
        return
    async with Client(config_of(server.kubeconfig)) as own, following(own, SystemClock()):
        yield


@pytest.fixture
async def backing(client: Client, _controller: None, namespace: str) -> Backing:
    # Kubernetes leaves out pods of nodes that it does not know.
    with suppress(AlreadyExists):
        await client.create(NODES.raw, {"metadata": {"name": NODE}})
    return Backing(client, namespace)
