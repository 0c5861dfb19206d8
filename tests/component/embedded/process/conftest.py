"""virtctl as a user calls it, and homes that leave nothing behind."""

import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from kubevirt.base.commands import SEARCH_PATH
from kubevirt.embedded.home import Home

LIMIT_S = 90


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Virtctl:
    """Of one user, with a kubeconfig and a home of their own."""

    folder: Path
    entry: tuple[str, ...] = ()
    """What leads to the machine that it is called on, if that is not the tests' own."""
    has_kubevirt: bool = False

    @property
    def home(self) -> Home:
        return Home(self.folder / "home")

    @property
    def kubeconfig(self) -> Path:
        return self.folder / "user-kubeconfig"

    @property
    def env(self) -> dict[str, str]:
        return {
            "PATH": SEARCH_PATH,
            "HOME": str(self.folder),
            "KUBECONFIG": str(self.kubeconfig),
            "KUBEVIRT_HOME": str(self.home.path),
            # What is tried here is the home itself; test_kubevirt.py brings up the rest.
            **({} if self.has_kubevirt else {"VIRTCTL_WITHOUT_KUBEVIRT": "1"}),
        }

    def __call__(self, *words: str, uid: int | None = None) -> Done:
        done = subprocess.run(
            [*self.entry, sys.executable, "-W", "error", "-m", "kubevirt.cli", *words],
            capture_output=True,
            text=True,
            check=False,
            timeout=LIMIT_S,
            env=self.env,
            user=uid,
            cwd="/",
        )
        return Done(done.returncode, done.stdout, done.stderr)

    def up(self, *words: str) -> Done:
        done = self("up", "--port", "0", *words)
        assert done.code == 0, done.err
        return done

    @property
    def pid(self) -> int:
        found = self.home.holder
        assert found is not None
        return found

    def kill(self) -> None:
        """The process, and waits until nothing of it holds the home."""
        pidfd = os.pidfd_open(self.pid)
        try:
            signal.pidfd_send_signal(pidfd, signal.SIGKILL)
            assert select.select([pidfd], [], [], LIMIT_S)[0]
        finally:
            os.close(pidfd)


@pytest.fixture
def virtctl() -> Iterator[Virtctl]:
    with a_home() as caller:
        yield caller


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Those who look at the same home stay together where tests are dealt out by groups."""
    for item in items:
        if standing.__name__ in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group("standing-home"))


@pytest.fixture(scope="session")
def standing() -> Iterator[Virtctl]:
    """A home that is up, for those who only look: to bring one up costs more than all that they do."""
    with a_home() as caller:
        caller.up()
        yield caller


@contextmanager
def a_home() -> Iterator[Virtctl]:
    """Not there yet; whatever becomes of it, nothing is left of it afterwards."""
    if os.geteuid() != 0:
        pytest.skip("an embedded home is root's: run as root")
    # Not pytest's own folder: the path of a home has to be short.
    folder = Path(tempfile.mkdtemp(prefix="kv-", dir="/tmp"))
    folder.chmod(0o755)
    caller = Virtctl(folder)
    try:
        yield caller
    finally:
        if caller.home.is_there:
            caller("down", "--delete-data")
        pid = caller.home.holder
        if pid is not None:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        shutil.rmtree(folder, ignore_errors=True)
