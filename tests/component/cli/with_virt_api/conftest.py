"""The real virt-api behind a real API server; only the node's virt-handler is a stand-in."""

import sys
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
from tests.component.cli.conftest import Done
from tests.component.virtapi.machines import Machines
from tests.component.virtapi.place import Place
from tests.component.virtapi.stand_in_handler import StandInHandler

from clusterup.light_embedded import EmbeddedServer
from clusterup.pytest_plugin import session_loop
from kubevirt.base import commands
from kubevirt.kube.client import Client

LIMIT_S = 120.0


@pytest.fixture(scope="session")
def virt_api() -> Iterator[Place]:
    made = Place(EmbeddedServer())
    with session_loop() as loop:
        try:
            loop.run(made.start())
            yield made
        finally:
            loop.run(made.stop())


@pytest.fixture
async def client(virt_api: Place) -> AsyncIterator[Client]:
    async with virt_api.client() as made:
        yield made


@pytest.fixture
async def machines(virt_api: Place, client: Client) -> Machines:
    return await Machines.create(virt_api, client)


@pytest.fixture
async def handler(virt_api: Place) -> AsyncIterator[StandInHandler]:
    made = StandInHandler()
    async with made.serving(virt_api.handler_context(), virt_api.handler_port) as serving:
        yield serving


class Virtctl:
    """As a program of its own: the stand-in needs the loop of the test."""

    def __init__(self, machines: Machines) -> None:
        self._machines = machines

    def argv(self, *words: str, user: Path | None = None) -> list[str]:
        where = user or self._machines.place.server.kubeconfig
        common = ["--kubeconfig", str(where), "-n", self._machines.namespace]
        return [sys.executable, "-W", "error", "-m", "kubevirt.cli", *words, *common]

    async def __call__(self, *words: str, stdin: bytes = b"", user: Path | None = None) -> Done:
        program, *rest = self.argv(*words, user=user)
        done = await commands.run(program, *rest, stdin=stdin, timeout_s=LIMIT_S, check=False)
        return Done(done.exit_code, done.text, done.stderr.decode())


@pytest.fixture
def virtctl(machines: Machines) -> Virtctl:
    return Virtctl(machines)


@pytest.fixture
def users(virt_api: Place) -> Callable[[str], Path]:
    return virt_api.server.kubeconfig_for
