"""What both kinds of control groups have in common."""

import errno
import os
import re
import signal
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import msgspec

from kubevirt.base.clock import Clock
from kubevirt.base.errors import ConfigError, Retry, UserError

CPU_PERIOD_US: Final = 100_000
KILL_S: Final = 10.0
_LOOK_AGAIN_S: Final = 0.01
"""The kernel tells when a group is empty, but only by a way that asyncio cannot listen to; what was
killed is gone within milliseconds.
"""
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,200}")


class CgroupError(Retry):
    """A group does not do now what it was asked for: still in use, or already gone."""


class CgroupUnavailableError(ConfigError):
    """Something that the machine, or the sandbox around us, does not offer."""

    def __init__(self, message: str) -> None:
        super().__init__(message, reason="CgroupsUnavailable")


class CgroupLimits(msgspec.Struct, frozen=True, kw_only=True):
    """What all processes of a group may use together. None means no limit."""

    cpus: float | None = None
    """Processors: 0.5 is half of one."""
    cpu_shares: int | None = None
    """Part of a busy machine against others, 1024 for one processor, as Kubernetes counts."""
    memory_bytes: int | None = None
    pids: int | None = None
    """Processes and threads."""


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """None where the machine does not count it."""

    memory_bytes: int | None = None
    memory_peak_bytes: int | None = None
    cpu_usec: int | None = None
    """Processor time of all that ever ran in the group."""
    oom_kills: int | None = None
    """Processes that the kernel ended because the group had no memory left."""
    pids: int | None = None


class Group(ABC):
    """One group, in as many folders as the kind of control groups has trees for it."""

    def __init__(self, name: str, folders: Iterable[Path]) -> None:
        self.name = name
        self._folders = tuple(dict.fromkeys(folders))

    @property
    def folders(self) -> Sequence[Path]:
        """For whoever is to enter it by itself: it is entered in all of them."""
        return self._folders

    @abstractmethod
    def limit(self, limits: CgroupLimits) -> None:
        """Sets all limits; what was set before and is None now is lifted."""

    @abstractmethod
    def usage(self) -> Usage: ...

    def add(self, pid: int) -> None:
        """Moves a process here, with its threads. What it starts from now on is here, too."""
        for folder in self._folders:
            with self._explained(f"take in process {pid}"):
                write(folder / "cgroup.procs", str(pid))

    def pids(self) -> list[int]:
        """Processes in the group and below it."""
        return sorted({pid for folder in self._all_folders() for pid in _pids_in(folder)})

    async def kill(self, clock: Clock, *, timeout_s: float = KILL_S) -> None:
        """Ends all processes of the group, also those that they start meanwhile."""
        try:
            async with clock.timeout(timeout_s):
                while pids := self.pids():
                    self._kill_once(pids)
                    await clock.sleep(_LOOK_AGAIN_S)
        except TimeoutError:
            raise CgroupError(
                f"processes {self.pids()[:10]} of cgroup {self.name} were killed and do not end: "
                f"they hang in the kernel"
            ) from None

    def kill_now(self) -> None:
        """Without waiting for the end of those that are there."""
        if pids := self.pids():
            self._kill_once(pids)

    def remove(self) -> None:
        """The group and those below it. All must be empty; one that is gone is no error."""
        for folder in reversed(list(self._all_folders())):
            with self._explained("be removed"), suppress(FileNotFoundError):
                folder.rmdir()

    def _kill_once(self, pids: Iterable[int]) -> None:
        for pid in pids:
            self._kill_one(pid)

    def _kill_one(self, pid: int) -> None:
        """A number may be somebody else's by now: it is pinned first, then looked up again."""
        with suppress(ProcessLookupError):
            pinned = os.pidfd_open(pid)
            try:
                if pid in self.pids():
                    signal.pidfd_send_signal(pinned, signal.SIGKILL)
            finally:
                os.close(pinned)

    def _all_folders(self) -> Iterator[Path]:
        """Outermost first."""
        for top in self._folders:
            if top.is_dir():
                yield top
                yield from _folders_below(top)

    @contextmanager
    def _explained(self, what: str) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError:
            raise CgroupError(f"cgroup {self.name} cannot {what}: it is gone") from None
        except OSError as error:
            raise explained(error, f"cgroup {self.name} cannot {what}") from None


class Cgroups(ABC):
    """The control groups of a machine."""

    @abstractmethod
    def open(self, parent: str, name: str) -> Group:
        """A group that is there already, or was: after a restart of ours."""

    @abstractmethod
    def create(self, parent: str, name: str, limits: CgroupLimits | None = None) -> Group:
        """A group below `parent`, a path from the root of all groups; made if they are missing."""


def checked_path(parent: str, name: str) -> str:
    """Where a group lies. Its name comes from a user's object and must not lead anywhere else."""
    parts = [part for part in parent.split("/") if part]
    for part in (*parts, name):
        if not _NAME.fullmatch(part):
            raise UserError(
                f"{part[:80]!r} cannot name a cgroup; use letters, digits, dashes, dots and "
                f"underscores, a letter or digit first",
                reason="InvalidName",
            )
    return "/".join((*parts, name))


def explained(error: OSError, what: str) -> CgroupError | CgroupUnavailableError:
    if isinstance(error, PermissionError) or error.errno == errno.EROFS:
        return CgroupUnavailableError(
            f"{what}: {error.strerror}; run as root, or where cgroups are delegated to us"
        )
    return CgroupError(f"{what}: {error.strerror}")


def write(file: Path, value: str) -> None:
    """In one call, as the kernel wants it, and never by making a file."""
    fd = os.open(file, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(fd, value.encode())
    finally:
        os.close(fd)


def read_number(file: Path) -> int | None:
    try:
        return int(file.read_text())
    except (FileNotFoundError, ValueError):
        return None


def read_entry(file: Path, key: str) -> int | None:
    """From a file of lines with a name and a number each."""
    try:
        lines = file.read_text().splitlines()
    except FileNotFoundError:
        return None
    return next(
        (int(value) for name, _, value in (line.partition(" ") for line in lines) if name == key),
        None,
    )


def _folders_below(folder: Path) -> Iterator[Path]:
    """Outer ones first. A group has dozens of files, which the kernel need not tell us all about."""
    try:
        with os.scandir(folder) as entries:
            found = sorted(each.path for each in entries if each.is_dir(follow_symlinks=False))
    except FileNotFoundError:
        return
    for each in map(Path, found):
        yield each
        yield from _folders_below(each)


def _pids_in(folder: Path) -> list[int]:
    try:
        return [int(line) for line in (folder / "cgroup.procs").read_text().split()]
    except OSError:  # it is gone
        return []
