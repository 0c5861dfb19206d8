"""One try to run a container: a folder that tells everything about it.

    container.json   what was asked for
    filter           the system calls that it may make, if not all; for commands that join it
    started.json     the keeper and its sandbox, by their numbers
    status.json      the container's first process, as bubblewrap names it
    failure          why the command could not be started
    input            a named pipe for what is said to it, if it wants to be told
    log, log.1, …    what it said
    exit.json        how it ended
    lock             held for as long as the keeper lives

An attempt without `exit.json` whose lock is free was lost: the machine went down, or somebody killed the
keeper. It has ended then, since its processes end with the keeper, but nobody knows how.
"""

import fcntl
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Self

import msgspec

from kubevirt.base.errors import Retry
from kubevirt.embedded.runtime import files, sandbox
from kubevirt.embedded.runtime.container import Container
from kubevirt.embedded.runtime.ends import readable
from kubevirt.embedded.runtime.keeper import Keeper

UNKNOWN_CODE: Final = 137
"""What Kubernetes shows of a container whose end nobody saw."""
FILTER: Final = "filter"
INPUT: Final = "input"
FILTER_BYTES: Final = 32 * 1024
"""The kernel takes no longer program."""


class Started(msgspec.Struct, frozen=True):
    keeper: int
    sandbox: int


class Ending(msgspec.Struct, frozen=True, kw_only=True):
    code: int
    at: datetime | None = None
    """None if nobody saw it."""
    failure: str = ""
    """Why the command could not be started at all."""

    @property
    def is_lost(self) -> bool:
        return self.at is None


class NotStarted(Retry):
    """A container that could not be brought up, and why."""


class _Exit(msgspec.Struct, frozen=True):
    code: int
    ended: float


class Attempt:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    async def start(self, container: Container, keeper: Keeper, seccomp: int | None = None) -> None:
        """Returns when its sandbox has begun. The command may still turn out not to be there: that is
        an ending, with a `failure`.
        """
        self.folder.mkdir(mode=0o750, parents=True, exist_ok=True)
        (self.folder / "container.json").write_bytes(msgspec.json.encode(container))
        if not container.rights.is_filtered:
            seccomp = None
        if seccomp is not None:
            (self.folder / FILTER).write_bytes(os.pread(seccomp, FILTER_BYTES, 0))
        if container.has_input:
            with suppress(FileExistsError):
                os.mkfifo(self.folder / INPUT, 0o600)
        with self._lock() as lock:
            done = await keeper.start(
                self.folder,
                sandbox.words(container),
                lock=lock,
                log=(container.log_bytes, container.log_files),
                seccomp=seccomp,
                network=container.network,
                image=container.root,
                cgroups=container.cgroups,
            )
        if done.exit_code:
            said = self._text("failure") or done.stderr.decode(errors="replace").strip()
            raise NotStarted(f"the container did not start: {said or 'no reason is known'}")

    @contextmanager
    def _lock(self) -> Iterator[int]:
        fd = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o640)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(fd)
            raise NotStarted(f"the attempt in {self.folder} runs already") from None
        try:
            yield fd
        finally:
            os.close(fd)

    @property
    def container(self) -> Container:
        return msgspec.json.decode((self.folder / "container.json").read_bytes(), type=Container)

    @property
    def is_running(self) -> bool:
        try:
            fd = os.open(self.folder / "lock", os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(fd)
        return False

    @property
    def ending(self) -> Ending | None:
        """How it ended; None while it runs."""
        if self.is_running:
            return None
        try:
            found = msgspec.json.decode((self.folder / "exit.json").read_bytes(), type=_Exit)
        except (FileNotFoundError, msgspec.DecodeError):
            return Ending(code=UNKNOWN_CODE, failure=self._text("failure"))
        at = datetime.fromtimestamp(found.ended, UTC)
        return Ending(code=found.code, at=at, failure=self._failure())

    def _failure(self) -> str:
        """Why the command never ran: told by the last step into the sandbox, or by the sandbox, whose
        voice is in the log if it does not tell of an end.
        """
        if told := self._text("failure"):
            return told
        if self._told_by_sandbox("exit-code") is None:
            return self._text("log").rpartition("\n")[2].split(" ", 3)[-1]
        return ""

    async def ended(self) -> Ending:
        """Waits for it, whoever started it."""
        with self._pinned_keeper() as pidfd:
            if pidfd is not None:
                await readable(pidfd)
        ending = self.ending
        if ending is None:
            raise Retry(f"the keeper of {self.folder} is gone, and its lock is not free yet")
        if ending.is_lost:
            self._end_orphan()
        return ending

    def _end_orphan(self) -> None:
        """A sandbox that was killed while it let its first process begin leaves that behind: it waits for the word to
        go on, for ever, and never becomes the container's command.
        """
        first = self.first_process
        with _pidfd(first) as pidfd:
            if pidfd is not None and first is not None and _is_orphan_of_sandbox(first):
                with suppress(ProcessLookupError):
                    signal.pidfd_send_signal(pidfd, signal.SIGKILL)

    def signal(self, number: signal.Signals) -> bool:
        """To the container's first process; False if that is not there, or not yet."""
        with self.pinned() as pidfd:
            if pidfd is None:
                return False
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(pidfd, number)
            return True

    def end_input(self) -> None:
        """Nobody will say anything any more: it sees the end when the last who is attached has gone."""
        with self._pinned_keeper() as pidfd:
            if pidfd is not None and self.container.has_input:
                signal.pidfd_send_signal(pidfd, signal.SIGUSR1)

    @property
    def first_process(self) -> int | None:
        """Its number, which may be another's once the container has ended: see `pinned`."""
        return self._told_by_sandbox("child-pid")

    @contextmanager
    def pinned(self) -> Iterator[int | None]:
        """A pidfd of the container's first process: the number may be another's by now, this is not."""
        started, first = self._started(), self.first_process
        with _pidfd(first if started else None) as pidfd:
            is_it = started and first and _parent_of(first) == started.sandbox
            yield pidfd if is_it and self.is_running else None

    @property
    def has_entered(self) -> bool:
        """Its command has begun. Until then its first process puts the sandbox together, and whoever
        joined it there would be in a place that still shows the machine.
        """
        with self.pinned() as pidfd:
            first = self.first_process
            return pidfd is not None and first is not None and not _is_keeper(first)

    @contextmanager
    def _pinned_keeper(self) -> Iterator[int | None]:
        started = self._started()
        with _pidfd(started.keeper if started else None) as pidfd:
            yield pidfd if self.is_running else None

    def _started(self) -> Started | None:
        with suppress(FileNotFoundError, msgspec.DecodeError):
            return msgspec.json.decode((self.folder / "started.json").read_bytes(), type=Started)
        return None

    def _told_by_sandbox(self, name: str) -> int | None:
        """It writes an object when it has begun, and another one when the command has ended."""
        for line in self._text("status.json").splitlines():
            with suppress(msgspec.DecodeError):
                told = msgspec.json.decode(line, type=dict[str, int])
                if name in told:
                    return told[name]
        return None

    def _text(self, name: str) -> str:
        with suppress(FileNotFoundError):
            return (self.folder / name).read_text(errors="replace").strip()
        return ""

    @classmethod
    def all_in(cls, folder: Path) -> list[Self]:
        """By their numbers, the first one first."""
        found = (
            [each for each in folder.iterdir() if each.name.isdigit()] if folder.is_dir() else []
        )
        return [cls(each) for each in sorted(found, key=lambda each: int(each.name))]


@contextmanager
def _pidfd(pid: int | None) -> Iterator[int | None]:
    fd = None
    if pid is not None:
        with suppress(ProcessLookupError):
            fd = os.pidfd_open(pid)
    try:
        yield fd
    finally:
        if fd is not None:
            os.close(fd)


def _is_keeper(pid: int) -> bool:
    """It has the keeper's program open, which the last step into the sandbox closes."""
    with suppress(OSError):
        return str(Path(f"/proc/{pid}/fd/{files.SELF}").readlink()).startswith("/memfd:keeper")
    return False


def _is_orphan_of_sandbox(pid: int) -> bool:
    """Its program is still bubblewrap's, and it is the first of a namespace, but below no bubblewrap: no living
    container looks like this, whoever has the number by now.
    """
    with suppress(OSError):
        status = Path(f"/proc/{pid}/status").read_text()
        (numbers,) = (line.split()[1:] for line in status.splitlines() if line.startswith("NSpid:"))
        is_first = len(numbers) > 1 and numbers[-1] == "1"
        parent = _parent_of(pid)
        return is_first and _is_sandbox(pid) and (parent is None or not _is_sandbox(parent))
    return False


def _is_sandbox(pid: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{pid}/exe").readlink().name == "bwrap"
    return False


def _parent_of(pid: int) -> int | None:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return None
