"""A server to hold to the contract: a real kube-apiserver, or another put in its place.

    pytest tests/contract --server=kubernetes
    pytest tests/contract --server=embedded

Each xdist worker has a server of its own, shared by its tests: every test takes a namespace of its
own. A test that needs more than the API says so by a fixture: `people` who may do less than the
administrator, `forgetful` history, `mortal` servers that can be killed. Of these a worker has one each, too.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

import pytest
import pytest_asyncio
from tests.contract import not_yet
from tests.contract.lamps import CONFIG_MAPS, LAMP_CRD, LAMPS
from tests.contract.mortal import Lasting, MortalCluster, MortalEmbedded

from clusterup.light_embedded import EmbeddedServer
from clusterup.pytest_plugin import session_loop
from kubevirt.api.resource import Resource
from kubevirt.kube.access import kubeconfig
from kubevirt.kube.access.config import Config
from kubevirt.kube.client import Client
from kubevirt.kube.errors import AlreadyExists, NoSuchResource

NAMESPACES: Resource[dict[str, Any]] = Resource(
    "", "v1", "namespaces", "Namespace", False, dict[str, Any]
)
SERVICE_ACCOUNTS: Resource[dict[str, Any]] = Resource(
    "", "v1", "serviceaccounts", "ServiceAccount", True, dict[str, Any]
)
CRDS: Resource[dict[str, Any]] = Resource(
    "apiextensions.k8s.io",
    "v1",
    "customresourcedefinitions",
    "CustomResourceDefinition",
    False,
    dict[str, Any],
)


LIMIT_S = 300
"""For a test that says nothing else, to end a hang. The first test of a worker waits for the worker's server to
start, the last for it to end, and the machine may be busy.
"""
TOGETHER = ("controllers", "endpoints", "large")
"""Folders whose tests share a server that is unlike others, or definitions that are large."""
COSTLY = ("applied", "both", "own_server", "mortal", "forgetful")
"""Fixtures: KubeVirt's CRDs, the servers that kubectl is asked on, one to install on, and those that suffer."""
EVENT_TTL_S = 8
"""Of the forgetful server. Long enough for a machine that stalls while an event is written."""


class Server(Protocol):
    """What the contract needs of a server under test."""

    @property
    def kubeconfig(self) -> Path:
        """For an administrator."""
        ...


class People(Server, Protocol):
    """A server that tells people apart."""

    def kubeconfig_for(self, user: str, groups: Sequence[str] = (), validity: Any = None) -> Path:
        """With a client certificate."""
        ...

    def kubeconfig_with_token(self, token: str) -> Path: ...

    async def service_account_token(self, namespace: str = ..., name: str = ...) -> str: ...


class Mortal(Server, Protocol):
    """A server that can be killed and started again, alone or with its store."""

    @property
    def apiserver_pid(self) -> int: ...

    async def kill_apiserver(self) -> None: ...

    async def start_apiserver(self) -> None: ...

    async def restart_store(self) -> None: ...

    async def stop_all(self) -> None: ...

    async def start_all(self) -> None: ...

    def save(self, backup: Path) -> None:
        """All data, into a folder to be made. Nothing may run meanwhile."""
        ...

    def restore(self, backup: Path) -> None: ...


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--server",
        choices=["kubernetes", "embedded"],
        default="kubernetes",
        help="the server under test",
    )
    parser.addoption(
        "--record-answers",
        action="store_true",
        help="write down what a real server answers (see oracle.py); in one process",
    )


@pytest.hookimpl(tryfirst=True)  # before xdist looks for groups
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Says of all tests below this folder what they need: a limit, a worker, or not to be run."""
    is_embedded = config.getoption("--server", "kubernetes") == "embedded"
    for item in items:
        if Path(__file__).parent not in item.path.parents:
            continue
        if not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(LIMIT_S))
        if group := _group_of(item):
            item.add_marker(pytest.mark.xdist_group(group))
        if is_embedded and (reason := not_yet.reason(item)):
            item.add_marker(pytest.mark.skip(reason=reason))


def _group_of(item: pytest.Item) -> str | None:
    """Tests that share what is costly to make go to one worker, where that is made once (`--dist=loadgroup`)."""
    names: set[str] = set(getattr(item, "fixturenames", ()))
    if item.path.parent.name in TOGETHER:
        return item.path.parent.name
    return next((each for each in COSTLY if each in names), None)


def config_of(path: Path) -> Config:
    return kubeconfig.load([path], os.environ)


@pytest.fixture(scope="session")
def server_name(pytestconfig: pytest.Config) -> str:
    # The option is unknown when pytest is started above this folder.
    return str(pytestconfig.getoption("--server", "kubernetes"))


@pytest.fixture(scope="session")
def records_answers(pytestconfig: pytest.Config) -> bool:
    return bool(pytestconfig.getoption("--record-answers", default=False))


@pytest.fixture(scope="session")
def server(server_name: str, request: pytest.FixtureRequest) -> Server:
    fixtures = {"kubernetes": "light_cluster", "embedded": "embedded_server"}
    found: Server = request.getfixturevalue(fixtures[server_name])
    return found


@pytest.fixture(scope="session")
def embedded_server() -> Iterator[EmbeddedServer]:
    server = EmbeddedServer()
    with session_loop() as loop:
        loop.run(server.start())
        try:
            yield server
        finally:
            loop.run(server.stop())


@pytest.fixture
def _programs_are_there(server_name: str, request: pytest.FixtureRequest) -> None:
    """Skips where Kubernetes' programs are wanted and can neither be found nor built."""
    if server_name == "kubernetes":
        request.getfixturevalue("light_programs")


@pytest.fixture
def people(server: People) -> People:
    return server


@pytest.fixture(scope="session")
def _mortals(server_name: str) -> Iterator[Lasting]:
    yield from _lasting(MortalEmbedded if server_name == "embedded" else MortalCluster)


@pytest.fixture(scope="session")
def _forgetfuls(server_name: str) -> Iterator[Lasting]:
    # Without the snapshots that its cache would keep of what etcd has dropped.
    flags = {
        "etcd-compaction-interval": "1s",
        "feature-gates": "ListFromCacheSnapshot=false",
        "event-ttl": f"{EVENT_TTL_S}s",
    }
    yield from _lasting(
        lambda: (
            MortalEmbedded(keep_s=1, event_ttl_s=EVENT_TTL_S)
            if server_name == "embedded"
            else MortalCluster(api_flags=flags)
        )
    )


def _lasting(make: Callable[[], MortalCluster | MortalEmbedded]) -> Iterator[Lasting]:
    lasting = Lasting(make)
    yield lasting
    with session_loop() as loop:
        loop.run(lasting.stop())


@pytest_asyncio.fixture
async def mortal(_programs_are_there: None, _mortals: Lasting) -> Mortal:
    return await _as_new(_mortals)


@pytest_asyncio.fixture
async def forgetful(_programs_are_there: None, _forgetfuls: Lasting) -> Mortal:
    """One that drops its history every second, and events soon."""
    return await _as_new(_forgetfuls)


async def _as_new(lasting: Lasting) -> Mortal:
    """Of what the last test wrote into the namespace `default`, nothing is left."""
    server = await lasting.well()
    async with Client(config_of(server.kubeconfig)) as client:
        others = "metadata.name!=kube-root-ca.crt"
        await client.delete_collection(CONFIG_MAPS, "default", field_selector=others)
    return server


@pytest.fixture
async def client(server: Server) -> AsyncIterator[Client]:
    async with Client(config_of(server.kubeconfig)) as client:
        yield client


@pytest.fixture
async def namespace(client: Client) -> str:
    """A fresh one, in which pods can be created. It goes with its server: to empty it would cost Kubernetes more
    (a quarter of a second of a processor) than most tests do.
    """
    made = await client.create(NAMESPACES, {"metadata": {"generateName": "contract-"}})
    name: str = made["metadata"]["name"]
    await _has_service_account(client, name)
    return name


@pytest.fixture
async def an_account(client: Client) -> None:
    """Pods can be created in the namespace `default`."""
    account = {"metadata": {"name": "default"}}
    with suppress(AlreadyExists):
        await client.create(SERVICE_ACCOUNTS, account, "default")


async def _has_service_account(client: Client, namespace: str) -> None:
    watch = client.watch(SERVICE_ACCOUNTS, namespace, resource_version=None, timeout_s=120)
    async for event in watch:
        if isinstance(event.object, dict) and event.object["metadata"]["name"] == "default":
            return
    raise AssertionError(f"{namespace} has got no service account")


@pytest.fixture(scope="session")
def _lamps_are_known(server: Server) -> None:
    with session_loop() as loop:
        loop.run(define_lamps(server))


async def define_lamps(server: Server) -> None:
    async with Client(config_of(server.kubeconfig)) as client:
        await client.create(CRDS, LAMP_CRD)
        async for event in client.watch(CRDS, resource_version=None, timeout_s=120):
            if isinstance(event.object, dict) and _is_established(event.object):
                break
        # Established is said a moment before it is served.
        async with asyncio.timeout(120):
            while True:
                try:
                    await client.list(LAMPS)
                except NoSuchResource:
                    continue
                return


def _is_established(crd: dict[str, Any]) -> bool:
    conditions = crd.get("status", {}).get("conditions") or []
    return crd["metadata"]["name"] == LAMP_CRD["metadata"]["name"] and any(
        condition["type"] == "Established" and condition["status"] == "True"
        for condition in conditions
    )


@pytest.fixture
def lamps(_lamps_are_known: None) -> Resource[dict[str, Any]]:
    """A custom resource with status and scale."""
    return LAMPS
