"""The real virt-api behind a real API server; only the node's virt-handler is a stand-in."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.component.cli.conftest import Done
from tests.component.virtapi.fixtures import a_place, client, handler, machines
from tests.component.virtapi.machines import Machines
from tests.component.virtapi.place import Place

from clusterup.light_embedded import EmbeddedServer
from kubevirt.base import commands

__all__ = ["client", "handler", "machines"]

LIMIT_S = 120.0


@pytest.fixture(scope="session")
def place() -> Iterator[Place]:
    yield from a_place(EmbeddedServer())


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
def users(place: Place) -> Callable[[str], Path]:
    return place.server.kubeconfig_for
