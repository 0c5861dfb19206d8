"""The root file system as the bytes of an ext4 partition, made without root.

mke2fs copies a folder; debugfs then sets owners, modes and times to what the tree says, since a
builder who is not root can neither own files as root nor reset the time of a change.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from guestimage import tools
from guestimage.tree import Entry, Tree

BLOCK_BYTES = 4096
_UUID = "6b756265-7669-7274-2d70-790000000001"
_HASH_SEED = "6b756265-7669-7274-2d70-790000000002"
_INODES_PER_GROUP = 2048
"""Fixed for the file system's whole life, however large it grows: one for each 64 KiB."""
_LARGEST_BYTES = 2 * 1024**4
"""Room is reserved for the tables of this size, all that a partition of an MBR can have."""
_FEATURES = "^metadata_csum,^64bit,^dir_index,^orphan_file"
"""Checksums cost a guest without hardware help time and protect it from nothing here."""


def write(tree: Tree, path: Path, size_bytes: int) -> None:
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".root-") as folder:
        _stage(tree, Path(folder))
        _make(Path(folder), path, size_bytes)
    _set_owners(tree, path)


def _stage(tree: Tree, folder: Path) -> None:
    for name, entry in tree:
        path = folder / name
        if entry.is_folder:
            path.mkdir()
        elif entry.is_link:
            path.symlink_to(entry.content.decode())
        elif entry.is_file:
            path.write_bytes(entry.content)


def _make(folder: Path, path: Path, size_bytes: int) -> None:
    path.unlink(missing_ok=True)
    extended = ",".join(
        [
            f"hash_seed={_HASH_SEED}",
            f"resize={_LARGEST_BYTES // BLOCK_BYTES}",
            *("root_owner=0:0", "lazy_itable_init=0", "lazy_journal_init=0", "nodiscard"),
        ]
    )
    tools.run(
        *("mke2fs", "-q", "-F", "-t", "ext4", "-b", str(BLOCK_BYTES), "-m", "0"),
        *("-N", str(_INODES_PER_GROUP), "-J", "size=4", "-L", "root", "-U", _UUID),
        *("-O", _FEATURES, "-E", extended, "-d", folder, path, f"{size_bytes // 1024}k"),
    )


def _set_owners(tree: Tree, path: Path) -> None:
    commands = [command for name, entry in tree for command in _inode(name, entry)]
    for name in ("", "lost+found"):
        commands += _times(name)
    tools.run("debugfs", "-w", "-f", "-", path, stdin="\n".join(commands).encode())


def _inode(name: str, entry: Entry) -> Iterator[str]:
    yield f'set_inode_field "/{name}" mode 0{entry.mode:o}'
    yield f'set_inode_field "/{name}" uid {entry.owner}'
    yield f'set_inode_field "/{name}" gid {entry.group}'
    yield from _times(name)


def _times(name: str) -> Iterator[str]:
    for field in ("atime", "ctime", "mtime", "crtime"):
        yield f'set_inode_field "/{name}" {field} @{tools.EPOCH}'
        # The second half of a time: nanoseconds of the builder's clock.
        yield f'set_inode_field "/{name}" {field}_extra 0'
    yield f'set_inode_field "/{name}" generation 0'
