"""Which shared libraries a program needs, read from its own bytes.

Only what Debian's x86-64 programs are made of: 64-bit little-endian ELF. A file that is none (a
script, a static program) needs nothing.
"""

import struct
from collections.abc import Iterator

_PT_LOAD, _PT_DYNAMIC, _PT_INTERP = 1, 2, 3
_DT_NULL, _DT_NEEDED, _DT_STRTAB = 0, 1, 5
_SEGMENT = struct.Struct("<IIQQQQQQ")
_DYNAMIC = struct.Struct("<qQ")


def needs(program: bytes) -> list[str]:
    """Names of the libraries that the dynamic loader would look for."""
    if program[:6] != b"\x7fELF\x02\x01":
        return []
    segments = list(_segments(program))
    dynamic = [
        entry
        for kind, offset, _address, size in segments
        if kind == _PT_DYNAMIC
        for entry in _entries(program[offset : offset + size])
    ]
    names = [value for tag, value in dynamic if tag == _DT_NEEDED]
    if not names:
        return []
    table = _offset(segments, next(value for tag, value in dynamic if tag == _DT_STRTAB))
    return [_text(program, table + name) for name in names]


def loader(program: bytes) -> str | None:
    """The path of the dynamic loader that the program asks the kernel for."""
    if program[:6] != b"\x7fELF\x02\x01":
        return None
    for kind, offset, _address, _size in _segments(program):
        if kind == _PT_INTERP:
            return _text(program, offset)
    return None


def _segments(program: bytes) -> Iterator[tuple[int, int, int, int]]:
    start = struct.unpack_from("<Q", program, 32)[0]
    size, count = struct.unpack_from("<HH", program, 54)
    for index in range(count):
        kind, _flags, offset, address, _physical, in_file, _in_memory, _align = (
            _SEGMENT.unpack_from(program, start + index * size)
        )
        yield kind, offset, address, in_file


def _entries(raw: bytes) -> Iterator[tuple[int, int]]:
    for tag, value in _DYNAMIC.iter_unpack(raw):
        if tag == _DT_NULL:
            return
        yield tag, value


def _offset(segments: list[tuple[int, int, int, int]], address: int) -> int:
    for kind, offset, begins, size in segments:
        if kind == _PT_LOAD and begins <= address < begins + size:
            return offset + address - begins
    raise ValueError("an ELF file whose names lie outside its segments")


def _text(program: bytes, start: int) -> str:
    return program[start : program.index(b"\0", start)].decode()
