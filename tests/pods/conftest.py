"""One cluster for the whole run, and a place of its own in it for every test.

    pytest tests/pods --home=kubernetes -n 3
    pytest tests/pods --home=embedded -n 3

What a pod may rely on is the same in both homes; Kubernetes is the oracle. A test takes `place`, its own
namespace; `spare_node` where it does something to a node; `claim` where it needs storage.
"""

import fcntl
import os
import shutil
import tempfile
import uuid
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.pods import embedded, kubernetes, not_here
from tests.pods.home import EMBEDDED, KUBERNETES, Home, NotStartedError, shared
from tests.pods.place import Place
from tests.pods.storage import Storage

from kubevirt.api import scheme
from kubevirt.kube.access import kubeconfig
from kubevirt.kube.client import Client

_FOLDER = pytest.StashKey[Path]()
_SHARED = "pods_folder"
_LIMIT_S = 600
"""For one test, to end a hang: the first one starts the cluster, on a machine that may be busy."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--home",
        choices=[KUBERNETES, EMBEDDED],
        default=KUBERNETES,
        help="the cluster that runs the pods",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    is_embedded = _home_name(config) == EMBEDDED
    for item in items:
        if Path(__file__).parent not in item.path.parents:
            continue
        item.add_marker(pytest.mark.cluster)
        item.add_marker(pytest.mark.timeout(_LIMIT_S))
        if is_embedded and (reason := not_here.reason(item)):
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tells a new worker where the cluster of all workers is, or will be."""
    node.workerinput[_SHARED] = str(_folder_of(node.config))


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stops the cluster, in the process that all workers were started by: they have ended."""
    folder = config.stash.get(_FOLDER, None)
    if folder is None or _SHARED in getattr(config, "workerinput", {}):
        return
    if (folder / "lock").exists():
        {KUBERNETES: kubernetes, EMBEDDED: embedded}[_home_name(config)].stop(folder)
    shutil.rmtree(folder)


def _folder_of(config: pytest.Config) -> Path:
    """Short, since sockets will lie below it."""
    if _FOLDER not in config.stash:
        given = getattr(config, "workerinput", {}).get(_SHARED)
        config.stash[_FOLDER] = Path(given or tempfile.mkdtemp(prefix="kvp-"))
    return config.stash[_FOLDER]


def _home_name(config: pytest.Config) -> str:
    # The option is unknown when pytest is started above this folder.
    return str(config.getoption("--home", KUBERNETES))


@pytest.fixture(scope="session")
def home(pytestconfig: pytest.Config) -> Home:
    kind = {KUBERNETES: kubernetes, EMBEDDED: embedded}[_home_name(pytestconfig)]
    folder = _folder_of(pytestconfig)
    if reason := kind.why_not(folder):
        pytest.skip(reason)
    try:
        return shared(folder, lambda: kind.start(folder))
    except NotStartedError as error:
        pytest.fail(f"the cluster did not start, as another worker has found: {error}")


@pytest.fixture
async def client(home: Home) -> AsyncIterator[Client]:
    async with Client(kubeconfig.load([Path(home.kubeconfig)], os.environ)) as client:
        yield client


@pytest.fixture
async def place(client: Client, home: Home) -> AsyncIterator[Place]:
    """A fresh namespace in which pods can run at once. Afterwards they go; it stays, empty of them: to take
    one apart costs a real server hundreds of requests, and the whole cluster goes in the end.
    """
    made = await client.create(scheme.NAMESPACES.raw, {"metadata": {"generateName": "pods-"}})
    place = Place(client, home, made["metadata"]["name"])
    await place.until_furnished()
    yield place
    await client.delete_collection(scheme.PODS, place.namespace, grace_period_s=1)


@pytest.fixture
def spare_node(home: Home, pytestconfig: pytest.Config) -> Iterator[str]:
    """A node that is this test's alone meanwhile."""
    if len(home.nodes) < 2:
        pytest.skip("this home has one node; start it with two")
    with (_folder_of(pytestconfig) / "spare").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield home.nodes[1]


@pytest.fixture
def host_folder(home: Home) -> Iterator[str]:
    """A name that no file of a node has, for hostPaths."""
    path = Path(tempfile.gettempdir()) / f"pods-{uuid.uuid4().hex[:12]}"
    yield str(path)
    # In the embedded home it is this machine's; a node of Kubernetes takes its own with it.
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@pytest.fixture
async def storage(place: Place, host_folder: str) -> AsyncIterator[Storage]:
    storage = Storage(place, Path(host_folder))
    yield storage
    await storage.clean_up()
