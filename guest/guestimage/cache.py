"""Results kept under the hash of what they were made from.

An entry appears whole or not at all: it is made in a folder of its own and renamed when it is
complete. Two builds that want the same wait for each other.
"""

import contextlib
import fcntl
import hashlib
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from guestimage import progress

_KEY_DIGITS = 16


def key_of(parts: Iterable[str | bytes]) -> str:
    """One key for a list of inputs; where one ends and the next begins is part of it."""
    digest = hashlib.sha256()
    for part in parts:
        raw = part.encode() if isinstance(part, str) else part
        digest.update(len(raw).to_bytes(8) + raw)
    return digest.hexdigest()[:_KEY_DIGITS]


def contents_of(folder: Path) -> Iterator[str | bytes]:
    """Names, modes and bytes of all files under a folder, as inputs of a key."""
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            yield f"{path.relative_to(folder)} -> {path.readlink()}"
        elif path.is_file() and "__pycache__" not in path.parts:
            yield f"{path.relative_to(folder)} {path.stat().st_mode & 0o111:o}"
            yield path.read_bytes()


class Cache:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def entry(self, key: str) -> Path:
        """Where an entry is, or will be."""
        return self._folder / key

    def has(self, key: str) -> bool:
        return self.entry(key).is_dir()

    @contextlib.contextmanager
    def making(self, key: str, *, resume: bool = False) -> Iterator[Path]:
        """A folder to make an entry in; it becomes the entry when the body succeeds.

        With `resume`, what an interrupted attempt left is found there again.
        """
        building = self._folder / f".{key}.building"
        if not resume:
            shutil.rmtree(building, ignore_errors=True)
        building.mkdir(parents=True, exist_ok=True)
        yield building
        shutil.rmtree(self.entry(key), ignore_errors=True)
        building.rename(self.entry(key))

    def keep_newest(self, count: int) -> None:
        """Forget older entries: each change of the sources leaves one behind."""
        entries = [path for path in self._folder.iterdir() if not path.name.startswith(".")]
        entries.sort(key=lambda path: path.stat().st_mtime, reverse=True)
        for path in entries[count:]:
            shutil.rmtree(path)

    @contextlib.contextmanager
    def only_one_builder(self, say: progress.Progress) -> Iterator[None]:
        self._folder.mkdir(parents=True, exist_ok=True)
        with (self._folder / ".lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                say.say("another build of the guest is running; waiting for it")
                fcntl.flock(lock, fcntl.LOCK_EX)
            yield
