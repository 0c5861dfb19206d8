"""A keeper, built once, and folders for attempts that leave nothing behind."""

import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from kubevirt.embedded.runtime.attempt import Attempt
from kubevirt.embedded.runtime.keeper import Keeper

SOURCE = Path(__file__).parents[3] / "keeper"


@pytest.fixture(scope="session")
def keeper_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not shutil.which("gcc"):
        pytest.skip("no compiler: install gcc and libc6-dev")
    target = tmp_path_factory.mktemp("keeper") / "keeper"
    subprocess.run([SOURCE / "build.sh", target], check=True, timeout=60)
    return target


@pytest.fixture
def keeper(keeper_program: Path) -> Iterator[Keeper]:
    with Keeper.open(keeper_program) as keeper:
        yield keeper


@pytest.fixture
def attempts(tmp_path: Path) -> Iterator[Path]:
    """Whatever still runs in it at the end is ended: with its keeper, also if it has only just begun."""
    yield tmp_path
    for attempt in Attempt.all_in(tmp_path):
        with attempt._pinned_keeper() as pidfd:
            if pidfd is not None:
                signal.pidfd_send_signal(pidfd, signal.SIGKILL)
