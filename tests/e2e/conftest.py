"""What has to be known before any test of this folder is looked for: how homes are brought up, and which one is shared.

pytest tests/e2e -n 3
pytest tests/e2e -n 3 --separate      each program of KubeVirt's is a process of its own
"""

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.component.embedded.process.leftovers import left_of

from kubevirt.embedded.home import Home
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


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> Iterator[None]:
    """Takes the home down, in the process that all workers were started by: they have ended. It has to go as a whole,
    which is a test of its own that has no name.
    """
    yield
    if left := _taken_down(session.config):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        reporter = session.config.pluginmanager.getplugin("terminalreporter")
        assert reporter
        reporter.write_line(f"left behind by the home of all tests: {left}", red=True)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Of a run that never began."""
    _taken_down(config)


def _taken_down(config: pytest.Config) -> Sequence[str]:
    """What is left of it on the machine."""
    folder = config.stash.get(_FOLDER, None)
    if folder is None or _SHARED in getattr(config, "workerinput", {}):
        return ()
    del config.stash[_FOLDER]
    home = TrialHome(folder)
    home_id = Home(home.path).id if home.path.exists() else ""
    home.down()
    shutil.rmtree(folder)
    return left_of(home.path, home_id) if home_id else ()


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
