"""A file system as a value: paths and what stands there, before anything is written to a disk.

Owners and modes are part of the value, so that making an image needs no root, and the same tree
becomes the same bytes in every form (ext4, an initial RAM disk).
"""

import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath


@dataclass(frozen=True)
class Entry:
    """A file, folder, symbolic link or device; `mode` holds the kind as well, as the kernel does."""

    mode: int
    content: bytes = b""
    """A file's bytes, or where a link leads."""
    owner: int = 0
    group: int = 0
    device: tuple[int, int] = (0, 0)

    @property
    def is_folder(self) -> bool:
        return stat.S_ISDIR(self.mode)

    @property
    def is_file(self) -> bool:
        return stat.S_ISREG(self.mode)

    @property
    def is_link(self) -> bool:
        return stat.S_ISLNK(self.mode)


class Tree:
    """Entries by path; the folders above an entry come by themselves."""

    def __init__(self) -> None:
        self._entries: dict[str, Entry] = {}

    def add_file(
        self, path: str, content: bytes, *, mode: int = 0o644, owner: int = 0, group: int = 0
    ) -> None:
        self._add(path, Entry(stat.S_IFREG | mode, content, owner, group))

    def add_folder(self, path: str, *, mode: int = 0o755, owner: int = 0, group: int = 0) -> None:
        self._add(path, Entry(stat.S_IFDIR | mode, owner=owner, group=group))

    def add_link(self, path: str, target: str) -> None:
        self._add(path, Entry(stat.S_IFLNK | 0o777, target.encode()))

    def add_character_device(self, path: str, device: tuple[int, int], *, mode: int) -> None:
        self._add(path, Entry(stat.S_IFCHR | mode, device=device))

    def remove(self, path: str) -> None:
        del self._entries[path]

    def __contains__(self, path: str) -> bool:
        return path in self._entries

    def __getitem__(self, path: str) -> Entry:
        return self._entries[path]

    def __iter__(self) -> Iterator[tuple[str, Entry]]:
        """Sorted by path, so a folder comes before what it holds."""
        return iter(sorted(self._entries.items()))

    def size_bytes(self) -> int:
        return sum(len(entry.content) for entry in self._entries.values())

    def _add(self, path: str, entry: Entry) -> None:
        for parent in PurePosixPath(path).parents:
            if (name := str(parent)) != "." and name not in self._entries:
                self._entries[name] = Entry(stat.S_IFDIR | 0o755)
        self._entries[path] = entry
