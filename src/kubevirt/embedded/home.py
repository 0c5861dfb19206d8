"""The state folder of an embedded home: where everything is, whose version it is, and who runs on it.

    version        a number; a newer one than ours is refused
    id             eight hex digits, made once: what is named outside of the folder carries it
    choices.json   what was chosen when it was last brought up: port, nodes, address ranges, separate programs
    lock           locked by the process that runs on it, for as long as it lives
    process.json   who that is; still there and the lock free: it died
    kubeconfig     the administrator's
    pki/ store.db audit.log process.log images/ volumes/ network/ nodes/
    programs/      kubeconfigs and logs of KubeVirt's programs, where they are processes of their own

A folder is only ever taken for a home, or removed, if it is empty or says that it is one.
"""

import errno
import fcntl
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Final, Self, TypeVar

import msgspec

from kubevirt.base.boot import boot_id
from kubevirt.base.errors import ConfigError
from kubevirt.base.files import Root

T = TypeVar("T", bound=msgspec.Struct)

VERSION: Final = 1
DEFAULT: Final = Path("/var/lib/kubevirt-embedded")
_LOCKS: Final = Path("/proc/locks")
_ID: Final = re.compile(r"[0-9a-f]{8}")
_LIMIT: Final = 64 << 10
_LONGEST: Final = 45
"""Of the path: sockets of pods lie below it, and the address of a socket holds 107 bytes."""
_TRIES: Final = 25
_PAUSE_S: Final = 0.02
"""Whoever only looks holds the lock for a moment; whoever runs, for longer than these tries take."""


class HomeError(ConfigError):
    """A folder that cannot be used as a home, and why."""


class Choices(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What stays from one start to the next unless it is chosen anew."""

    port: int = 0
    """Of the API server; 0 for one that was never chosen."""
    nodes: int = 1
    pods: str = ""
    """The addresses of pods, as a range; empty if none was chosen yet."""
    services: str = ""
    is_separate: bool = False
    """Whether KubeVirt's programs are processes of their own."""


class Process(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Who runs on a home, or did."""

    pid: int
    boot_id: str
    """Of the machine when it was started: after another one nothing of it can be left but files."""
    url: str
    port: int
    nodes: tuple[str, ...]
    version: str
    """Of the program."""
    started: str
    has_kubevirt: bool = True
    is_ending: bool = False
    """It was told to end, and gives pods the time that they are promised."""

    @property
    def is_of_this_boot(self) -> bool:
        return self.boot_id == boot_id()


class Home:
    def __init__(self, path: Path) -> None:
        """Of a folder that may or may not be a home; see `open` and `make`."""
        self.path = path

    @classmethod
    def open(cls, path: Path) -> Self:
        """One that is there."""
        home = cls(path.absolute())
        if not home.is_there:
            raise HomeError(
                f"{home.path} holds no embedded home; bring one up there with: virtctl up",
                reason="NotFound",
            )
        home.check_version()
        return home

    @classmethod
    def make(cls, path: Path) -> Self:
        """One that is there, or a new one."""
        home = cls(path.absolute())
        home._check_length()
        home._check_is_ours()
        if home.is_there:
            home.check_version()
        home.path.mkdir(mode=0o755, parents=True, exist_ok=True)
        # A new one by one at a time: two would give it two ids.
        with nullcontext() if home.is_there else home.locked():
            home._furnish()
        return home

    def _furnish(self) -> None:
        with Root.open(self.path) as root:
            # The first one, by which others know whose the rest is.
            if not root.exists("id"):
                root.write("id", f"{os.urandom(4).hex()}\n".encode(), mode=0o644)
            for name in ("pki", "images", "volumes", "network", "nodes"):
                root.mkdir(name, 0o700 if name == "pki" else 0o755, exist_ok=True)
            # The last one: what was begun and not finished is no home.
            if not root.exists("version"):
                root.write("version", f"{VERSION}\n".encode(), mode=0o644)

    # What it is

    @property
    def is_there(self) -> bool:
        return (self.path / "version").is_file()

    def check_version(self) -> None:
        found = self._text("version")
        if not found.isdigit():
            raise HomeError(
                f"{self.path}/version does not hold a number, so {self.path} is no home that can be used; "
                "put the file back, or choose another folder with --home"
            )
        if int(found) > VERSION:
            raise HomeError(
                f"{self.path} was written by a newer version of virtctl (its format is {found}, this one "
                f"knows {VERSION}); use that version, or choose another folder with --home",
                reason="HomeTooNew",
            )

    def _check_length(self) -> None:
        if len(os.fsencode(self.path)) > _LONGEST:
            raise HomeError(
                f"{self.path} is too long a path for a home: sockets of pods lie below it, whose addresses "
                f"the kernel limits; choose one of at most {_LONGEST} bytes with --home"
            )

    def _check_is_ours(self) -> None:
        if self.path.exists() and not self.path.is_dir():
            raise HomeError(f"{self.path} is no folder; choose another one with --home")
        if not self.path.exists() or all(each.name == "lock" for each in self.path.iterdir()):
            return
        # In this order: whoever furnishes it right now has locked it, and has given it an id when that ends.
        if not self.is_running and not (self.path / "id").is_file() and not self.is_there:
            raise HomeError(
                f"{self.path} is not empty and no embedded home, so it is left alone; choose another folder "
                "with --home"
            )

    @property
    def id(self) -> str:
        found = self._text("id")
        if not _ID.fullmatch(found):
            raise HomeError(f"{self.path}/id does not hold eight hex digits; put the file back")
        return found

    @property
    def is_default(self) -> bool:
        """Names of the default home carry no id: there is one of it on a machine."""
        return self.path == DEFAULT

    # Where things are

    @property
    def pki(self) -> Path:
        return self.path / "pki"

    @property
    def store(self) -> Path:
        return self.path / "store.db"

    @property
    def kubeconfig(self) -> Path:
        return self.path / "kubeconfig"

    @property
    def audit_log(self) -> Path:
        return self.path / "audit.log"

    @property
    def log(self) -> Path:
        return self.path / "process.log"

    @property
    def images(self) -> Path:
        return self.path / "images"

    @property
    def volumes(self) -> Path:
        return self.path / "volumes"

    @property
    def network(self) -> Path:
        return self.path / "network"

    @property
    def nodes(self) -> Path:
        return self.path / "nodes"

    @property
    def programs(self) -> Path:
        """Only there once KubeVirt's programs were processes of their own."""
        return self.path / "programs"

    def node(self, name: str) -> Path:
        return self.nodes / name

    # What it remembers

    @property
    def choices(self) -> Choices:
        return self._read("choices.json", Choices) or Choices()

    def remember(self, choices: Choices) -> None:
        if choices != self._read("choices.json", Choices):
            self._write("choices.json", msgspec.json.encode(choices))

    @property
    def process(self) -> Process | None:
        """Who runs on it, or died on it; `is_running` tells which."""
        return self._read("process.json", Process)

    def enter(self, process: Process) -> None:
        self._write("process.json", msgspec.json.encode(process))

    def begin_to_leave(self) -> None:
        """For whoever looks; a disk that is full keeps nobody from ending."""
        if found := self.process:
            with suppress(OSError):
                self.enter(msgspec.structs.replace(found, is_ending=True))

    def leave(self) -> None:
        """In good order: nothing of the process is left on the machine."""
        with Root.open(self.path) as root:
            root.unlink("process.json", missing_ok=True)

    # Who has it

    @contextmanager
    def locked(self) -> Iterator[None]:
        """For as long as a process runs on it. The lock goes with the process, however that ends."""
        fd = self._lock_file()
        try:
            _take(fd, self)
            yield
        finally:
            os.close(fd)

    @property
    def is_running(self) -> bool:
        try:
            fd = os.open(self.path / "lock", os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        except PermissionError:  # a plain user may know, too
            return self.holder is not None
        try:
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(fd)
        return False

    @property
    def holder(self) -> int | None:
        """The process that runs on it, as the kernel knows it."""
        try:
            found = (self.path / "lock").stat()
        except FileNotFoundError:
            return None
        device = f"{os.major(found.st_dev):02x}:{os.minor(found.st_dev):02x}:{found.st_ino}"
        for line in _LOCKS.read_text().splitlines():
            words = line.split()
            if words[1] == "FLOCK" and words[3] == "WRITE" and words[5] == device:
                return int(words[4])
        return None

    def _lock_file(self) -> int:
        return os.open(self.path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o640)

    def check_is_removable(self) -> None:
        """Only a home, and only what is on the same disk: what somebody mounted in it is theirs."""
        from kubevirt.host import mounts  # noqa: PLC0415  # only for this

        if not self.is_there:
            raise HomeError(
                f"{self.path} is no embedded home, so it is left alone", reason="NotFound"
            )
        if found := mounts.below(self.path):
            raise HomeError(
                f"a file system is mounted at {found[0]}, and its data would go, too; unmount it first"
            )

    def remove(self) -> None:
        """With all data. Only one on which nobody runs."""
        self.check_is_removable()
        with self.locked(), Root.open(self.path.parent) as root:
            try:
                root.remove_tree(self.path.name)
            except OSError as error:
                if error.errno != errno.EBUSY:
                    raise  # else a disk is mounted right there: it is empty now, and stays

    # Small files

    def _read(self, name: str, kind: type[T]) -> T | None:
        """None for a file that is not there, or was damaged: nothing in these is worth failing for."""
        try:
            with Root.open(self.path) as root:
                return msgspec.json.decode(root.read(name, limit=_LIMIT), type=kind)
        except (FileNotFoundError, msgspec.MsgspecError):
            return None

    def _write(self, name: str, data: bytes) -> None:
        with Root.open(self.path) as root:
            root.write(name, data, mode=0o644)

    def _text(self, name: str) -> str:
        with Root.open(self.path) as root, suppress(FileNotFoundError):
            return root.read(name, limit=_LIMIT).decode(errors="replace").strip()
        return ""


def _take(fd: int, home: Home) -> None:
    for attempt in range(_TRIES):
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if attempt + 1 < _TRIES:
                time.sleep(_PAUSE_S)
        else:
            return
    found = home.process
    who = f"process {found.pid}" if found else "another process"
    raise HomeError(
        f"{home.path} is in use by {who}; end it with: virtctl down --home {home.path}",
        reason="HomeInUse",
    )
