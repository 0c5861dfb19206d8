"""A home for tests: a Kubernetes with KubeVirt in it, as `virtctl up` makes it, of which nothing is left afterwards.

    with a_home() as home:
        home.virtctl("start", "testvm", "--wait")
        async with home.client() as api:
            ...

It takes a second to come up, and root; guests are found by name if they were built (`make guest-image`). pytest gets it
from `kubevirt.testing.pytest_plugin` as the fixture `kubevirt_home`.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from kubevirt.kube.access import kubeconfig
from kubevirt.kube.client import Client

LIMIT_S: Final = 300.0
"""For one command of a user, to end a hang."""
_PARENT: Final = Path("/tmp")  # noqa: S108  # sockets lie below a home, and their addresses are short


@dataclass(frozen=True)
class Said:
    """What a command answered."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class TrialHome:
    """One that is up, or was meant to be."""

    folder: Path
    """Where nothing else is."""
    options: Sequence[str] = field(default=())
    """For `virtctl up`."""

    @property
    def path(self) -> Path:
        return self.folder / "home"

    @property
    def kubeconfig(self) -> Path:
        """Of its administrator."""
        return self.path / "kubeconfig"

    @property
    def environment(self) -> dict[str, str]:
        """For a program that is to find it and no other."""
        return {
            **os.environ,
            "HOME": str(self.folder),
            "KUBEVIRT_CACHE": str(_cache()),
            "KUBEVIRT_HOME": str(self.path),
            "KUBECONFIG": str(self.kubeconfig),
        }

    def client(self) -> Client:
        """Somebody who may do everything."""
        return Client(kubeconfig.load([self.kubeconfig], {}))

    def virtctl(self, *words: str, limit_s: float = LIMIT_S, typed: str = "") -> Said:
        done = subprocess.run(  # noqa: S603  # our own program
            [str(virtctl_program()), *words],
            input=typed,
            capture_output=True,
            text=True,
            check=False,
            timeout=limit_s,
            env=self.environment,
        )
        return Said(done.returncode, done.stdout, done.stderr)

    def up(self) -> None:
        self._must("up", "--port=0", "--no-merge-kubeconfig", *self.options)

    def down(self) -> None:
        """With everything in it."""
        if (self.path / "version").exists():
            self._must("down", "--delete-data")

    def _must(self, *words: str) -> None:
        said = self.virtctl(*words)
        if said.code:
            raise HomeFailedError(f"virtctl {words[0]}: {said.err}")


class HomeFailedError(Exception):
    """It did not come up, or not down; with what virtctl said of it."""


@contextmanager
def a_home(*options: str) -> Iterator[TrialHome]:
    """Up, with the options of `virtctl up`; down and gone whatever happens meanwhile."""
    folder = Path(tempfile.mkdtemp(prefix="kv-", dir=_PARENT))
    folder.chmod(0o755)  # programs of pods that are not root's pass through it
    home = TrialHome(folder, options)
    try:
        home.up()
        yield home
    finally:
        home.down()
        shutil.rmtree(folder)


def virtctl_program() -> Path:
    """The one that was installed with this Python."""
    return Path(sys.executable).with_name("virtctl")


def _cache() -> Path:
    """Where guests are, for a program whose HOME is another."""
    if chosen := os.environ.get("KUBEVIRT_CACHE"):
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "kubevirt-py"
