"""One source for two servers: a real kube-apiserver, and ours."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.component.controller.house import House
from tests.contract.conftest import CRDS, NAMESPACES, config_of

from clusterup import waiting
from clusterup.light import LightCluster
from clusterup.light_embedded import EmbeddedServer
from clusterup.pytest_plugin import session_loop
from kubevirt.api import crds
from kubevirt.api.scheme import (
    KUBEVIRTS,
    SERVICE_ACCOUNTS,
    VIRTUAL_MACHINE_INSTANCES,
    VIRTUAL_MACHINES,
)
from kubevirt.kube.client import Client
from kubevirt.kube.errors import NoSuchResource, NotFound

WANTED = {"virtualmachines", "virtualmachineinstances", "kubevirts"}

Server = LightCluster | EmbeddedServer

TIMEOUT_S = 300
"""To end what hangs. Kubernetes' garbage collector alone takes half a minute to learn of new kinds."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Those of one server stay together where tests are dealt out by groups: to start one takes a while."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            name = (
                item.callspec.params.get("server", "none") if hasattr(item, "callspec") else "none"
            )
            item.add_marker(pytest.mark.xdist_group(f"controller-{name}"))
            item.add_marker(pytest.mark.timeout(TIMEOUT_S))


@pytest.fixture(scope="session", params=["embedded", "kubernetes"])
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    started: Server
    if request.param == "embedded":
        started = EmbeddedServer(has_audit_log=True)
    else:
        request.getfixturevalue("light_programs")
        started = LightCluster()
    with session_loop() as loop:
        loop.run(started.start())
        try:
            loop.run(_define(started))
            yield started
        finally:
            loop.run(started.stop())


async def _define(server: Server) -> None:
    async with Client(config_of(server.kubeconfig)) as client:
        for crd in crds.load():
            if crd["spec"]["names"]["plural"] in WANTED:
                await client.create(CRDS, crd)

        async def are_served() -> bool:
            try:
                await client.list(VIRTUAL_MACHINES)
                await client.list(VIRTUAL_MACHINE_INSTANCES)
                await client.list(KUBEVIRTS)
            except NoSuchResource:
                return False
            return True

        await waiting.until(are_served, limit_s=60, what="the kinds are served")


@pytest.fixture
async def house(server: Server) -> AsyncIterator[House]:
    config = config_of(server.kubeconfig)
    async with Client(config) as client:
        made: dict[str, Any] = await client.create(
            NAMESPACES, {"metadata": {"generateName": "controller-"}}
        )
        namespace: str = made["metadata"]["name"]
        log = server.audit_log if isinstance(server, LightCluster) else server.folder / "audit.log"
        house = House(client, config, namespace, log)
        await _has_account(client, namespace)
        try:
            yield house
        finally:
            await house.clear()
            await client.delete(NAMESPACES, namespace)


async def _has_account(client: Client, namespace: str) -> None:
    """Pods can be created."""

    async def is_there() -> bool:
        try:
            await client.get(SERVICE_ACCOUNTS, "default", namespace)
        except NotFound:
            return False
        return True

    await waiting.until(is_there, limit_s=30, what="the service account is there")
