"""What has to be known before any test of this folder is looked for: how homes are brought up, and which one is shared.

pytest tests/e2e -n 3
pytest tests/e2e -n 3 --separate      each program of KubeVirt's is a process of its own
"""

import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest

from kubevirt.testing.home import TrialHome

_FOLDER = pytest.StashKey[Path]()
_SHARED = "vms_folder"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--separate", action="store_true", help="KubeVirt's programs as processes of their own"
    )


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
def home_folder(pytestconfig: pytest.Config) -> Path:
    """Of the home that all workers share."""
    return _folder_of(pytestconfig)


@pytest.fixture(scope="session")
def options(pytestconfig: pytest.Config) -> list[str]:
    """For `virtctl up`."""
    # Unknown when pytest is started above this folder.
    return ["--separate"] if pytestconfig.getoption("--separate", default=False) else []
