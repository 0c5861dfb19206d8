"""A disk that can be watched and can fail, and processes that write to a store on it."""

import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from clusterup import ports
from kubevirt.base.commands import ENVIRONMENT, Process, spawn

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Loads:
    """Starts `store_load.py`, on the disk of `disk.c` if there is one."""

    folder: Path
    """Of the store."""
    outside: Path
    library: Path | None
    place: str = "store.db"
    record: str = "acks"

    @property
    def store(self) -> Path:
        return self.folder / self.place

    @property
    def acks(self) -> Path:
        """On the watched disk they are part of its trace, in order with everything else."""
        return (self.folder if self.library else self.outside) / self.record

    @property
    def trace(self) -> Path:
        return self.outside / "trace"

    @property
    def fault(self) -> Path:
        return self.outside / "fault"

    @asynccontextmanager
    async def running(self, *options: str, within: Sequence[str] = ()) -> AsyncIterator[Process]:
        """`within` is a program that starts another one, with its arguments."""
        environment = dict(ENVIRONMENT)
        if self.library:
            environment |= {
                "LD_PRELOAD": str(self.library),
                "DISK_FOLDER": str(self.folder),
                "DISK_TRACE": str(self.trace),
                "DISK_FAULT": str(self.fault),
            }
        load = (sys.executable, str(HERE / "store_load.py"), str(self.store), str(self.acks))
        argv = [*within, *load, *options]
        with (self.outside / "output").open("ab") as output:
            async with spawn(
                argv[0], *argv[1:], output=output, env=environment, grace_s=0
            ) as process:
                yield process

    def output(self) -> str:
        return (self.outside / "output").read_text(errors="replace")

    def said(self) -> bytes:
        return self.acks.read_bytes() if self.acks.exists() else b""


@pytest.fixture(scope="session")
def disk_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("gcc") or shutil.which("cc")
    if not compiler:
        pytest.skip("no C compiler for the disk that can fail: install gcc")
    library = tmp_path_factory.mktemp("disk") / "disk.so"
    options = ("-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread")
    subprocess.run([compiler, *options, "-o", library, HERE / "disk.c"], check=True, timeout=60)
    return library


@pytest.fixture
def loads(tmp_path: Path) -> Loads:
    return _loads(tmp_path, None)


@pytest.fixture
def watched_loads(tmp_path: Path, disk_library: Path) -> Loads:
    return _loads(tmp_path, disk_library)


def _loads(tmp_path: Path, library: Path | None) -> Loads:
    folder = tmp_path / "disk"
    folder.mkdir()
    return Loads(Path(os.path.realpath(folder)), tmp_path, library)


@pytest.fixture
def a_port() -> Iterator[int]:
    """On the loopback address, nobody else's for as long as the test runs."""
    port = ports.take()
    yield port.number
    port.release()


def soak(name: str, few: int) -> int:
    """How often to try: a few times in `make test`, as often as a soak says by its environment."""
    return int(os.environ.get(name, few))
