"""The gate for disk images: what may become a guest's disk, and what is refused and why."""

from typing import Any, Final

import msgspec

from kubevirt.host.qemu_img.program import (
    FORMATS,
    LIMITS,
    Format,
    ImageError,
    ImageLimits,
    ask,
    node,
    opened,
)

_REACHES_OUT: Final = "an image that a guest is given must stand alone"


class Image(msgspec.Struct, frozen=True, kw_only=True):
    """An image that has passed the gate."""

    path: str
    format: Format
    virtual_bytes: int
    """Size of the disk that a guest sees."""
    actual_bytes: int
    """What it takes on the host."""


class Qcow2Details(msgspec.Struct, frozen=True, kw_only=True, rename="kebab"):
    data_file: str | None = None
    encrypt: dict[str, Any] | None = None
    corrupt: bool = False


class Details(msgspec.Struct, frozen=True, kw_only=True):
    """What only one format has."""

    data: Qcow2Details = Qcow2Details()


class Info(msgspec.Struct, frozen=True, kw_only=True, rename="kebab"):
    """What `qemu-img info` says about any image, as far as it matters here. Nothing is promised."""

    format: str
    virtual_size: int
    actual_size: int = 0
    dirty_flag: bool = False
    encrypted: bool = False
    backing_filename: str | None = None
    format_specific: Details = Details()


async def describe(
    path: str, image_format: Format | None = None, *, limits: ImageLimits = LIMITS
) -> Info:
    """Looks at an image and nothing behind it; without a format, qemu-img finds out which it is."""
    with opened(path) as fd:
        name = node(fd, image_format) if image_format else f"/proc/self/fd/{fd}"
        # It may be the disk of a guest that runs, who holds a lock.
        return await ask(Info, "info", "--force-share", name, path=path, fd=fd, limits=limits)


async def admit(
    path: str, image_format: str | None = None, *, limits: ImageLimits = LIMITS
) -> Image:
    """Looks at the image at `path` and returns it, or raises an `ImageError` that says why not.

    Without a format the image is probed, and must turn out raw or qcow2. A disk that a guest has
    written to is never probed, since a raw disk is whatever its guest wrote: say its format.
    """
    stated = None if image_format is None else _known(path, image_format)
    info = await describe(path, stated, limits=limits)
    found = _known(path, info.format)
    _check_alone(path, info)
    if info.virtual_size > limits.virtual_bytes:
        raise _refusal(
            path, f"its disk has {info.virtual_size} bytes; {limits.virtual_bytes} are the most"
        )
    if info.virtual_size == 0:
        raise _refusal(path, "its disk has no bytes at all")
    return Image(
        path=path,
        format=found,
        virtual_bytes=info.virtual_size,
        actual_bytes=info.actual_size,
    )


def _known(path: str, image_format: str) -> Format:
    found = next((each for each in FORMATS if each == image_format), None)
    if found is None:
        raise _refusal(path, f"its format is {image_format}; convert it to qcow2 or raw")
    return found


def _check_alone(path: str, info: Info) -> None:
    qcow2 = info.format_specific.data
    if info.backing_filename is not None:
        raise _refusal(path, f"it names a backing file; {_REACHES_OUT}")
    if qcow2.data_file is not None:
        raise _refusal(path, f"it keeps its data in another file; {_REACHES_OUT}")
    if info.encrypted or qcow2.encrypt is not None:
        raise _refusal(path, "it is encrypted; give it decrypted")
    if info.dirty_flag or qcow2.corrupt:
        raise _refusal(
            path, "it is marked as damaged or not closed; repair it with qemu-img check -r all"
        )


def _refusal(path: str, why: str) -> ImageError:
    return ImageError(f"the disk image {path} is refused: {why}")
