"""Which homes there are on this machine, and whether their owners live.

A record is written before the first change that it stands for, and its owner holds a lock on it. The
kernel lets go of a lock when its owner dies, by whatever signal: so a record without a lock is of a
dead owner, and what it names is to be cleaned up. All of this happens behind one more lock, so that
two programs never make or clean up at once.
"""

import fcntl
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import msgspec

from kubevirt.base.files import Root
from kubevirt.base.log import get_logger

_LOCK: Final = "lock"
_SUFFIX: Final = ".home"

_log = get_logger("host.net.home")


class Record(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    link: str
    """The machine's end of the cable."""
    table: str
    sources: dict[str, str]
    """Network by nftables family."""
    forwarders: tuple[str, ...] = ()
    """Links whose forwarding we switched on, or found switched on by another home."""


class Records:
    """The folder of records, while its lock is held."""

    def __init__(self, root: Root) -> None:
        self._root = root

    def add(self, record: Record) -> io.FileIO:
        """The lock of a new record: open as long as its owner lives."""
        name = record.id + _SUFFIX
        self._root.write(name, msgspec.json.encode(record), durable=False)
        file = self._root.open_file(name)
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return file

    def remove(self, record: Record) -> None:
        self._root.unlink(record.id + _SUFFIX, missing_ok=True)

    def all(self) -> list[Record]:
        return [record for record, _ in self._found()]

    def orphans(self) -> list[Record]:
        return [record for record, is_held in self._found() if not is_held]

    def _found(self) -> Iterator[tuple[Record, bool]]:
        for name in self._root.listdir():
            if not name.endswith(_SUFFIX):
                continue
            with self._root.open_file(name) as file:
                is_held = _is_locked(file)
                try:
                    record = msgspec.json.decode(file.readall(), type=Record)
                except msgspec.DecodeError as error:
                    # Another version's. To stop for it would keep everybody from having a home.
                    _log.warning("a record of a home cannot be read", file=name, why=str(error))
                    continue
                yield record, is_held


@contextmanager
def locked(folder: Path) -> Iterator[Records]:
    """Waits for the folder's lock. It blocks, so it belongs in a thread."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with Root.open(folder) as root, _lock_file(root) as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield Records(root)


def _lock_file(root: Root) -> io.FileIO:
    try:
        return root.create(_LOCK)
    except FileExistsError:
        return root.open_file(_LOCK, os.O_RDWR)


def _is_locked(file: io.FileIO) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False
