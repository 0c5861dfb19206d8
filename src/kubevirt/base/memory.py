"""Memory that this process holds and no longer needs, given back to the machine."""

import contextlib
import ctypes
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

_MAPS: Final = Path("/proc/self/maps")
_PAGE_OUT: Final = 21
"""MADV_PAGEOUT: a kernel that does not know it, or does not let us, says no, and nothing is lost."""
_LIBC: Final = ctypes.CDLL(None, use_errno=True)
_LIBC.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)


def give_back(libraries: Iterable[str] = ()) -> None:
    """What was freed, and the code of libraries (by a part of their paths) that was loaded for something rare. Whoever
    needs that again has it read from its file, in milliseconds.
    """
    with contextlib.suppress(AttributeError):  # another libc than GNU's
        _LIBC.malloc_trim(0)
    names = tuple(libraries)
    for begin, end in _code(names) if names else ():
        _LIBC.madvise(begin, end - begin, _PAGE_OUT)


def _code(names: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    """Where it lies. What can be written is left alone: it is no longer what the file holds."""
    for line in _MAPS.read_text(encoding="utf-8", errors="replace").splitlines():
        span, rights, _, _, _, *path = line.split(None, 5)
        if path and "w" not in rights and any(name in path[0] for name in names):
            begin, end = (int(each, 16) for each in span.split("-"))
            yield begin, end
