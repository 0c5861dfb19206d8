"""Device plugins, as programs: one in Python, and one in Go on Kubernetes' own code."""

import contextlib
import os
import sys
from pathlib import Path
from typing import Final

import pytest

from clusterup import binaries, errors, progress, settings
from clusterup.pytest_plugin import build_for, session_loop, skip_without

PEERS: Final = Path(__file__).with_name("peers")
_GO: Final = "device-plugin"
_TITLE: Final = "device plugin"


def _peers() -> binaries.Binaries:
    return binaries.Binaries(PEERS, settings.cache_folder(os.environ))


def pytest_collection_finish(session: pytest.Session) -> None:
    # What cannot be built fails those who need it, with its reason, and nobody else.
    with contextlib.suppress(errors.ClusterError):
        build_for(session, "plugin_program", _peers(), [_GO], _TITLE)


@pytest.fixture(scope="session")
def go_plugin() -> list[str]:
    skip_without(_peers(), [_GO])
    with session_loop() as loop:
        loop.run(_peers().ensure([_GO], progress.Progress(_TITLE)))
    return [str(_peers().path(_GO))]


@pytest.fixture(params=["python", "go"])
def plugin_program(request: pytest.FixtureRequest) -> list[str]:
    """The words that start one."""
    if request.param == "python":
        return [sys.executable, str(Path(__file__).with_name("plugin.py"))]
    found: list[str] = request.getfixturevalue("go_plugin")
    return found
