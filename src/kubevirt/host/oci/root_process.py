"""The process that unpacks the root of an image: alone with it, under limits, and gone afterwards.

    python -I -m kubevirt.host.oci.root_process < request

It opens the layers, makes the folder its root, forgets how to import (a module by the right name may lie in
the image) and unpacks. What it has to say is one JSON object on standard output.
"""

import ctypes
import errno
import io
import os
import sys
import threading
from collections.abc import Sequence
from typing import Final

import msgspec

from kubevirt.host.oci.errors import ContainerImageError
from kubevirt.host.oci.layers import Budget, Hashed, uncompressed
from kubevirt.host.oci.limits import UnpackLimits
from kubevirt.host.oci.root_unpacking import RootUnpacker, check_places
from kubevirt.host.oci.source import Slice

_NO_ROOM: Final = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)


class LayerFile(msgspec.Struct, frozen=True, kw_only=True):
    path: str
    offset: int
    size: int
    digest: str | None
    """None if it was checked before."""


class Request(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    folder: str
    layers: Sequence[LayerFile]
    limits: UnpackLimits


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    refused: str = ""
    """Why the image cannot be used."""
    no_room: str = ""
    """Why this machine cannot keep it."""


def main() -> None:
    request = msgspec.json.decode(sys.stdin.buffer.read(), type=Request)
    print(msgspec.json.encode(_answer(request)).decode())  # noqa: T201  # it is the answer


def _answer(request: Request) -> Answer:
    try:
        _unpack(request)
    except ContainerImageError as error:
        return Answer(refused=str(error))
    except OSError as error:
        if error.errno in _NO_ROOM:
            return Answer(no_room=os.strerror(error.errno))
        return Answer(
            refused=f"image {request.name} is refused: it cannot be unpacked ({error.strerror})"
        )
    return Answer()


def _unpack(request: Request) -> None:
    budget = Budget(request.name, request.limits, threading.Event())
    files = [_opened(layer) for layer in request.layers]
    sync = ctypes.CDLL(None, use_errno=True).syncfs
    os.umask(0o022)
    os.chroot(request.folder)
    os.chdir("/")
    sys.meta_path.clear()
    for layer, file in zip(request.layers, files, strict=True):
        hashed = Hashed(file, budget)
        RootUnpacker(budget).unpack(uncompressed(hashed, budget))
        if layer.digest is not None:
            hashed.check(layer.digest)
    check_places(budget)
    _reach_the_disk(sync)


def _opened(layer: LayerFile) -> io.BufferedIOBase:
    return Slice(io.FileIO(layer.path), layer.offset, layer.size)


def _reach_the_disk(sync: "ctypes._NamedFuncPointer") -> None:
    """All at once, files and names: an image that has its name must be whole after a power loss."""
    fd = os.open("/", os.O_RDONLY | os.O_DIRECTORY)
    try:
        if sync(fd):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    finally:
        os.close(fd)


if __name__ == "__main__":
    main()
