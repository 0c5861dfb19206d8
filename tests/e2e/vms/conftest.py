"""One home with KubeVirt for the whole run, and a place of its own in it for every test.

    pytest tests/e2e/vms -n 2
    pytest tests/e2e/vms -n 2 --separate      each program of KubeVirt's is a process of its own

A test takes `place`, its own namespace; when it ends, whatever runs there is deleted and the machine is searched for what
it may have left. Whoever does something to the home itself (kills it, fills its disk) takes `own_home`.
"""

import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.vms import shared_home
from tests.e2e.vms.place import Place, a_place

from guestimage import image
from kubevirt.testing.home import TrialHome, a_home

_FOLDER = pytest.StashKey[Path]()
_SHARED = "vms_folder"
_LIMIT_S = 600
"""For one test, to end a hang: guests take their time on a machine that is busy."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--separate", action="store_true", help="KubeVirt's programs as processes of their own"
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(_LIMIT_S))


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tells a new worker where the home of all workers is, or will be."""
    node.workerinput[_SHARED] = str(_folder_of(node.config))


def pytest_unconfigure(config: pytest.Config) -> None:
    """Takes the home down, in the process that all workers were started by: they have ended."""
    folder = config.stash.get(_FOLDER, None)
    if folder is None or _SHARED in getattr(config, "workerinput", {}):
        return
    TrialHome(folder).down()
    shutil.rmtree(folder)


def _folder_of(config: pytest.Config) -> Path:
    """Short, since sockets will lie below it."""
    if _FOLDER not in config.stash:
        given = getattr(config, "workerinput", {}).get(_SHARED)
        folder = Path(given or tempfile.mkdtemp(prefix="kve-", dir="/tmp"))
        folder.chmod(0o755)
        config.stash[_FOLDER] = folder
    return config.stash[_FOLDER]


@pytest.fixture(scope="session")
def options(pytestconfig: pytest.Config) -> list[str]:
    """For `virtctl up`."""
    # Unknown when pytest is started above this folder.
    return ["--separate"] if pytestconfig.getoption("--separate", default=False) else []


@pytest.fixture(scope="session")
def home(pytestconfig: pytest.Config, options: list[str], guest_images: image.Images) -> TrialHome:
    """Everybody's: nobody harms it."""
    if reason := shared_home.why_not():
        pytest.skip(reason)
    return shared_home.of_all_workers(_folder_of(pytestconfig), options)


@pytest.fixture
def own_home(options: list[str], guest_images: image.Images) -> Iterator[TrialHome]:
    """For one test alone, which may do to it what it likes."""
    if reason := shared_home.why_not():
        pytest.skip(reason)
    with a_home(*options) as home:
        yield home


@pytest.fixture
async def place(home: TrialHome) -> AsyncIterator[Place]:
    async with home.client() as client:
        place = await a_place(client, home)
        yield place
        await place.leave()


@pytest.fixture
async def own_place(own_home: TrialHome) -> AsyncIterator[Place]:
    """In a home that is this test's alone."""
    async with own_home.client() as client:
        place = await a_place(client, own_home)
        yield place
        await place.leave()
