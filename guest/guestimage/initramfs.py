"""The guest's files as an initial RAM disk: a whole guest without any disk, for kernelBoot."""

import gzip
from collections.abc import Iterator

from guestimage import tools
from guestimage.tree import Entry, Tree

_CONSOLE = (5, 1)
_ALIGNMENT = 4


def pack(tree: Tree) -> bytes:
    """A compressed cpio archive of the tree, in the kernel's `newc` format."""
    # init writes to its console before anyone could have mounted /dev.
    tree.add_character_device("dev/console", _CONSOLE, mode=0o600)
    archive = b"".join(_records(tree))
    return gzip.compress(archive, compresslevel=9, mtime=0)


def _records(tree: Tree) -> Iterator[bytes]:
    for number, (path, entry) in enumerate(tree, start=1):
        yield _record(path, entry, number)
    yield _record("TRAILER!!!", Entry(0), 0)


def _record(path: str, entry: Entry, number: int) -> bytes:
    name = path.encode() + b"\0"
    fields = (
        *(number, entry.mode, entry.owner, entry.group, 1, tools.EPOCH, len(entry.content)),
        *(0, 0, *entry.device, len(name), 0),
    )
    header = b"070701" + b"".join(f"{field:08x}".encode() for field in fields)
    return _padded(header + name) + _padded(entry.content)


def _padded(raw: bytes) -> bytes:
    return raw + b"\0" * (-len(raw) % _ALIGNMENT)
