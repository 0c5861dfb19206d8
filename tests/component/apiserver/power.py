"""Power cuts: from a trace of what happened to a disk, what it may hold after a cut at any moment.

A write that was synced is there. One that was not may be there, may be missing, or may be there in
part; which, is the disk's choice, and here a random one. A new file may be missing altogether until
its folder was synced. `disk.c` makes the trace.
"""

import random
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

_HEADER = struct.Struct("=IIQQ")
_SECTOR = 512


class Operation(NamedTuple):
    kind: str
    """c: create, w: write, t: truncate, b and e: a sync begins and ends, u: unlink."""
    name: str
    offset: int
    """Of a write; of a sync the thread that does it."""
    length: int
    data: bytes


def read_trace(path: Path) -> list[Operation]:
    return list(_operations(path.read_bytes()))


def _operations(trace: bytes) -> Iterator[Operation]:
    position = 0
    while position < len(trace):
        kind, name_length, offset, length = _HEADER.unpack_from(trace, position)
        position += _HEADER.size
        name = trace[position : position + name_length].decode()
        position += name_length
        data = b""
        if chr(kind) == "w":
            data = trace[position : position + length]
            position += length
        yield Operation(chr(kind), name, offset, length, data)


@dataclass
class File:
    """What of a file is safe, and what was done to it since."""

    safe: bytearray = field(default_factory=bytearray)
    unsafe: list[Operation] = field(default_factory=list)
    syncs: dict[int, int] = field(default_factory=dict)
    """For each sync under way, by its thread: how much of `unsafe` it makes safe."""

    def take(self, operation: Operation) -> None:
        match operation.kind:
            case "w" | "t":
                self.unsafe.append(operation)
            case "b":
                self.syncs[operation.offset] = len(self.unsafe)
            case "e":
                count = self.syncs.pop(operation.offset)
                for done in self.unsafe[:count]:
                    _apply(self.safe, done)
                del self.unsafe[:count]
                self.syncs = {who: max(0, much - count) for who, much in self.syncs.items()}

    def after_a_cut(self, chance: random.Random) -> bytes:
        content = bytearray(self.safe)
        luck = chance.choice((0.0, 0.5, 1.0))
        for operation in self.unsafe:
            if chance.random() >= luck:
                continue
            if operation.kind == "w" and chance.random() < 0.2:
                torn = chance.randrange(0, operation.length + 1, _SECTOR)
                _apply(content, operation._replace(length=torn, data=operation.data[:torn]))
            else:
                _apply(content, operation)
        return bytes(content)


def _apply(content: bytearray, operation: Operation) -> None:
    if operation.kind == "t":
        del content[operation.length :]
        content.extend(bytes(operation.length - len(content)))
        return
    content.extend(bytes(max(0, operation.offset - len(content))))
    content[operation.offset : operation.offset + operation.length] = operation.data


class Disk:
    """The files of a folder, as operation after operation reaches them."""

    def __init__(self) -> None:
        self.files: dict[str, File] = {}
        self._new: set[str] = set()
        """Files whose names are not safe yet."""
        self._syncs: dict[int, set[str]] = {}

    def take(self, operation: Operation) -> None:
        match operation:
            case Operation("b", "."):
                self._syncs[operation.offset] = set(self._new)
            case Operation("e", "."):
                self._new -= self._syncs.pop(operation.offset)
            case Operation("c", name):
                self._new.add(name)
                self.files[name] = File()
            case Operation("u", name):
                self._new.discard(name)
                self.files.pop(name, None)
            case Operation(_, name):
                self.files[name].take(operation)

    def after_a_cut(self, chance: random.Random) -> Mapping[str, bytes]:
        return {
            name: file.after_a_cut(chance)
            for name, file in self.files.items()
            if name not in self._new or chance.random() < 0.5
        }
