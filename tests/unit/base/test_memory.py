"""Memory that is given back: out of the process, and there again when it is asked for."""

import mmap
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from kubevirt.base.memory import give_back

SIZE = 4 << 20


def in_memory(path: Path) -> int:
    """Bytes of a mapped file, as the kernel counts them."""
    found, is_there = 0, False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        if "-" in line.split()[0]:
            is_there = line.endswith(str(path))
        elif is_there and line.startswith("Rss:"):
            found += int(line.split()[1]) * 1024
    return found


@pytest.fixture
def library() -> Iterator[tuple[Path, mmap.mmap]]:
    """A file that this process has read by its mapping, as the loader maps code. It is on a disk, where /tmp may not be."""
    with (
        tempfile.NamedTemporaryFile(dir="/var/tmp", suffix=".so") as file,
        _mapped(file.fileno()) as mapped,
    ):
        assert mapped[:] == b"x" * SIZE
        yield Path(file.name), mapped


def _mapped(fd: int) -> mmap.mmap:
    os.write(fd, b"x" * SIZE)
    os.fsync(fd)
    return mmap.mmap(fd, SIZE, mmap.MAP_PRIVATE, mmap.PROT_READ)


def test_what_is_named_is_read_again_when_it_is_needed(library: tuple[Path, mmap.mmap]) -> None:
    path, mapped = library
    assert in_memory(path) == SIZE
    give_back([f"/{path.name}"])
    assert mapped[:] == b"x" * SIZE


def test_what_is_named_is_out_of_memory(library: tuple[Path, mmap.mmap]) -> None:
    path, _ = library
    give_back([f"/{path.name}"])
    assert in_memory(path) < SIZE // 10


def test_what_is_not_named_stays(library: tuple[Path, mmap.mmap]) -> None:
    path, _ = library
    give_back(["/another.so"])
    give_back()
    assert in_memory(path) == SIZE


def test_what_was_changed_stays_as_it_is(tmp_path: Path) -> None:
    """Data of a library, which is not what its file holds any more."""
    path = tmp_path / "library.so"
    path.write_bytes(b"x" * SIZE)
    with path.open("rb+") as file, mmap.mmap(file.fileno(), SIZE, mmap.MAP_PRIVATE) as mapped:
        mapped[:1] = b"y"
        give_back([f"/{path.name}"])
        assert mapped[:2] == b"yx"
