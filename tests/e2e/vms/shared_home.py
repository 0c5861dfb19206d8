"""The home under test: all workers of a run share one. Whoever needs it first brings it up, under a lock; the process that
started the workers takes it down when all of them are done (`tests/e2e/conftest.py`). A test that harms its home has one of
its own.
"""

import fcntl
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.component.embedded.process.leftovers import left_of

from clusterup import binaries, settings
from kubevirt.embedded.home import Home
from kubevirt.testing.home import HomeFailedError, TrialHome, a_home, virtctl_program

FAILED = "failed"
"""A file with the reason why it did not come up: it is tried once."""


def why_not() -> str:
    """What keeps this machine from having one; empty if nothing does."""
    if os.geteuid() != 0:
        return "an embedded home is root's: run as root"
    if not virtctl_program().exists():
        return "there is no virtctl beside this Python; run `make bootstrap`"
    if not kubectl_program():
        return "there is no kubectl; run `cluster-up/cli.sh build --light`, or install one"
    return ""


def kubectl_program() -> str:
    """Of Kubernetes' own version if it is built, else any; empty where there is none."""
    programs = binaries.Binaries(
        settings.PROVIDERS / settings.KUBERNETES, settings.cache_folder(os.environ)
    )
    built = programs.path("kubectl")
    return str(built) if built.exists() else shutil.which("kubectl") or ""


def of_all_workers(folder: Path, options: Sequence[str]) -> TrialHome:
    """The one that another worker has brought up, or else does now."""
    home = TrialHome(folder, options)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (folder / FAILED).exists():
            raise HomeFailedError((folder / FAILED).read_text())
        if not home.path.exists():
            try:
                home.up()
            except HomeFailedError as error:
                (folder / FAILED).write_text(str(error))
                raise
    return home


@contextmanager
def of_one_test(*options: str) -> Iterator[TrialHome]:
    """Nothing is left of it on the machine, whatever was done to it."""
    with ExitStack() as afterwards, a_home(*options) as home:
        afterwards.callback(assert_gone, home.path, Home(home.path).id)
        yield home


def assert_gone(home: Path, home_id: str) -> None:
    """All of it that is not in its folder."""
    assert not (left := left_of(home, home_id)), left
