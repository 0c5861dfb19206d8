"""What a node remembers of a pod on disk, so that a process that comes later knows as much as this one.

    pods/<uid>/pod.json        the pod as it was last seen, for when its object is gone
    pods/<uid>/state.json      what stands around its containers
    pods/<uid>/containers/<name>/<number>/
        …                      the attempt's own files (`runtime/attempt.py`), and beside them
        try.json               what it was made from
        stopping.json          how far it is on its way to its end
        message                its termination message
        out-of-memory          it was ended for want of memory

A draft becomes a file at once, so nobody reads half of one. Nothing waits for the disk: after a power loss
the containers are gone as well, and what the API server knows is enough to begin anew.
"""

import os
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from kubevirt.api.core.pod import Pod
from kubevirt.base.files import Root
from kubevirt.base.log import get_logger
from kubevirt.embedded.node.backoff import TRIES_THAT_COUNT
from kubevirt.embedded.node.neighbours import PodNetwork
from kubevirt.embedded.node.seen import Stopping
from kubevirt.embedded.runtime.attempt import Attempt

T = TypeVar("T")

log = get_logger(__name__)

_WHOLE_TRIES: Final = 2
"""This one and the one before: nobody can ask for what older ones said or wrote."""


class State(msgspec.Struct, frozen=True, kw_only=True):
    session: str
    """One for all that runs between two times that the machine, or the home, goes down."""
    boot_id: str
    has_volumes: bool = False
    network: PodNetwork | None = None
    is_torn_down: bool = False
    is_down: bool = False
    """The home went down in peace: whatever ran has ended."""


class TryRecord(msgspec.Struct, frozen=True, kw_only=True):
    began_at: datetime
    session: str
    image_id: str = ""


class PodRecords:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def uid(self) -> str:
        return self.folder.name

    def pod(self) -> Pod | None:
        return _read(self.folder / "pod.json", Pod)

    def begin(self, pod: Pod, state: State) -> None:
        """A pod without records would not be found again, so it does not begin before it has them."""
        self.folder.mkdir(mode=0o750, parents=True, exist_ok=True)
        _write(self.folder / "pod.json", pod)
        _write(self.folder / "state.json", state)

    def keep_pod(self, pod: Pod) -> None:
        _keep(self.folder / "pod.json", pod)

    def state(self) -> State | None:
        return _read(self.folder / "state.json", State)

    def keep_state(self, state: State) -> None:
        _keep(self.folder / "state.json", state)

    def attempt(self, name: str, number: int) -> Attempt:
        return Attempt(self.folder / "containers" / name / str(number))

    def attempts(self, name: str) -> list[Attempt]:
        return Attempt.all_in(self.folder / "containers" / name)

    def all_attempts(self) -> list[Attempt]:
        """Of all containers, also of those that the pod does not name."""
        folder = self.folder / "containers"
        names = sorted(each.name for each in folder.iterdir()) if folder.is_dir() else []
        return [attempt for name in names for attempt in self.attempts(name)]

    def forget_old(self, name: str) -> None:
        """All but the records of old tries, and tries that count for nothing. May take its time."""
        attempts = self.attempts(name)
        for attempt in attempts[:-TRIES_THAT_COUNT]:
            remove(attempt.folder)
        for attempt in attempts[-TRIES_THAT_COUNT:-_WHOLE_TRIES]:
            for each in attempt.folder.iterdir():
                if each.is_dir() and not each.is_symlink():
                    remove(each)
                elif each.name.startswith("log"):
                    each.unlink(missing_ok=True)

    def remove(self) -> None:
        remove(self.folder)


def remove(folder: Path) -> None:
    """With all that a container may have put there. What is not there need not be removed."""
    with suppress(FileNotFoundError, NotADirectoryError), Root.open(folder.parent) as root:
        root.remove_tree(folder.name)


# Beside an attempt


def begin(attempt: Attempt, record: TryRecord) -> None:
    """An attempt's folder before its start, whatever an earlier start has left there."""
    remove(attempt.folder)
    attempt.folder.mkdir(mode=0o750, parents=True)
    message = message_file(attempt)
    message.touch()
    message.chmod(0o666)  # whoever the container runs as
    _write(attempt.folder / "try.json", record)


def try_of(attempt: Attempt) -> TryRecord | None:
    return _read(attempt.folder / "try.json", TryRecord)


def has_begun(attempt: Attempt) -> bool:
    """The keeper was there, or is about to be."""
    return (attempt.folder / "started.json").exists() or attempt.is_running


def stopping_of(attempt: Attempt) -> Stopping | None:
    return _read(attempt.folder / "stopping.json", Stopping)


def keep_stopping(attempt: Attempt, stopping: Stopping) -> None:
    _keep(attempt.folder / "stopping.json", stopping)


def message_file(attempt: Attempt) -> Path:
    return attempt.folder / "message"


def is_out_of_memory(attempt: Attempt) -> bool:
    return (attempt.folder / "out-of-memory").exists()


def keep_out_of_memory(attempt: Attempt) -> None:
    with suppress(OSError):
        (attempt.folder / "out-of-memory").touch()


def _read(path: Path, kind: type[T]) -> T | None:
    """None for what is not there, or was not finished when the power went."""
    with suppress(FileNotFoundError, NotADirectoryError, msgspec.DecodeError):
        return msgspec.json.decode(path.read_bytes(), type=kind)
    return None


def _keep(path: Path, value: msgspec.Struct) -> None:
    """A disk that is full must not keep a pod from ending: what is not written is found out again."""
    try:
        _write(path, value)
    except OSError as error:
        log.warning("record of a pod not written", path=str(path), reason=error.strerror)


def _write(path: Path, value: msgspec.Struct) -> None:
    with Root.open(path.parent) as root:
        root.write(path.name, msgspec.json.encode(value), mode=0o640, durable=False)


def new_session() -> str:
    return os.urandom(8).hex()
