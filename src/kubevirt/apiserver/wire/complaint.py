"""Why a message cannot be read, in the words of Go's decoder; Google's only says that it cannot.

Looked for when that has happened: the bytes are gone through once more, up to the place.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

EOF: Final = "unexpected EOF"
_OVERFLOW: Final = "proto: integer overflow"
_NEGATIVE: Final = "proto: negative length found during unmarshaling"
_BEGIN, _END = 3, 4
"""Of a group, which only those know who wrote before there were messages in messages."""
_FIXED: Final = {1: 8, 5: 4}
"""Values that are always so many bytes."""
_BITS: Final = 64


class Known(NamedTuple):
    """What is known of a field."""

    name: str
    """As Go calls it."""
    wires: tuple[int, ...]
    """In which forms it may come."""


class _Found(Exception):  # noqa: N818  # what was looked for
    """The complaint."""


def of(message: str, data: bytes, fields: Mapping[int, Known]) -> str:
    at = 0
    try:
        while at < len(data):
            at = _after_field(message, data, at, fields)
    except _Found as found:
        return str(found)
    return EOF


def _after_field(message: str, data: bytes, at: int, fields: Mapping[int, Known]) -> int:
    tag, at = _varint(data, at)
    number, wire = tag >> 3, tag & 7
    if wire == _END:
        raise _Found(f"proto: {message}: wiretype end group for non-group")
    if number == 0:
        raise _Found(f"proto: {message}: illegal tag {number} (wire type {tag})")
    known = fields.get(number)
    if known and wire not in known.wires:
        raise _Found(f"proto: wrong wireType = {wire} for field {known.name}")
    return _after_value(data, at, wire)


def _after_value(data: bytes, at: int, wire: int) -> int:
    match wire:
        case 0:
            return _varint(data, at)[1]
        case 1 | 5:
            return _within(data, at + _FIXED[wire])
        case 2:
            length, at = _varint(data, at)
            if length >> _BITS - 1:
                raise _Found(_NEGATIVE)
            return _within(data, at + length)
        case 3:
            return _after_group(data, at)
    raise _Found(f"proto: illegal wireType {wire}")


def _after_group(data: bytes, at: int) -> int:
    depth = 1
    while depth:
        tag, at = _varint(data, at)
        wire = tag & 7
        if wire in (_BEGIN, _END):
            depth += 1 if wire == _BEGIN else -1
        else:
            at = _after_value(data, at, wire)
    return at


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, _BITS, 7):
        byte = data[_within(data, at + 1) - 1]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value % (1 << _BITS), at
    raise _Found(_OVERFLOW)


def _within(data: bytes, at: int) -> int:
    if at > len(data):
        raise _Found(EOF)
    return at
