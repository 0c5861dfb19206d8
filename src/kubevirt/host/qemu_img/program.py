"""How qemu-img is run: on a descriptor that was opened here, under limits, answering in JSON.

A path becomes a descriptor once, without following a link at its end, and qemu-img gets that
descriptor. So nothing is swapped between a check and its use, and no name is taken for an option or
a network address.
"""

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Literal, TypeVar

import msgspec

from kubevirt.base import commands
from kubevirt.base.errors import CommandFailed, CommandTimedOut, OutputTooLarge, UserError

Format = Literal["raw", "qcow2"]
FORMATS: Final[Sequence[Format]] = ("raw", "qcow2")

ANSWER_LIMIT: Final = 1 << 20
"""Bytes of one JSON answer. An honest one has under a kB; each snapshot in an image adds some."""

Answer = TypeVar("Answer")


class ImageError(UserError):
    """An image that is refused, or that qemu-img cannot use. The image must change."""

    def __init__(self, message: str) -> None:
        super().__init__(message, reason="InvalidImage")


class ImageLimits(msgspec.Struct, frozen=True, kw_only=True):
    """What looking at one image may cost."""

    virtual_bytes: int = 64 << 40
    """The largest disk that a guest may be shown; 64 TiB is more than the file systems below hold."""
    cpu_s: int = 20
    """Seconds of CPU time. An honest image takes some milliseconds."""
    memory_bytes: int = 1 << 30
    """Address space. qemu-img starts in 100 MiB; the largest tables that qcow2 allows take 130 more."""
    timeout_s: float = 60.0
    """Seconds by the clock, for a disk that does not answer."""

    def for_program(self, *, file_bytes: int = 0) -> commands.Limits:
        """`file_bytes` is the largest file that may be written: none at all when only looking."""
        return commands.Limits(
            cpu_s=self.cpu_s,
            memory_bytes=self.memory_bytes,
            file_bytes=file_bytes,
            open_files=64,
        )


LIMITS: Final = ImageLimits()


@contextmanager
def opened(path: str) -> Iterator[int]:
    """A descriptor of the file or block device at `path`. A link in its place is refused."""
    # A FIFO would block whoever opens it for reading, so it is opened without waiting.
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise ImageError(_why_closed(path, error)) from None
    try:
        mode = os.fstat(fd).st_mode
        if not stat.S_ISREG(mode) and not stat.S_ISBLK(mode):
            raise ImageError(f"{path} is no disk image: it is neither a file nor a block device")
        yield fd
    finally:
        os.close(fd)


def _why_closed(path: str, error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return f"there is no disk image at {path}"
    if Path(path).is_symlink():
        return f"the disk image {path} is a symbolic link, which is not followed"
    return f"the disk image {path} cannot be opened: {error.strerror}"


def node(fd: int, image_format: Format) -> str:
    """An image as qemu-img takes it: of this format, with nothing behind it, whatever it says."""
    file = {"driver": "file", "filename": f"/proc/self/fd/{fd}"}
    below = {"backing": None} if image_format == "qcow2" else {}
    described = {"driver": image_format, **below, "file": file}
    return "json:" + msgspec.json.encode(described).decode()


async def ask(
    kind: type[Answer],
    subcommand: str,
    *args: str,
    path: str,
    fd: int,
    limits: ImageLimits,
    allowed: Sequence[int] = (0,),
) -> Answer:
    """Runs one subcommand on an opened image and decodes what it says; `path` is for sentences."""
    try:
        done = await commands.run(
            "qemu-img",
            subcommand,
            "--output=json",
            *args,
            limits=limits.for_program(),
            timeout_s=limits.timeout_s,
            output_limit=ANSWER_LIMIT,
            pass_fds=(fd,),
            check=False,
        )
        if done.exit_code not in allowed:
            done.check()
        return msgspec.json.decode(done.stdout, type=kind)
    except CommandTimedOut:
        raise  # a disk may be slow today: this one is worth another try
    except OutputTooLarge as error:
        raise ImageError(
            f"the disk image {path} is refused: qemu-img {error.how} while it described it"
        ) from None
    except CommandFailed as error:
        raise refused(path, fd, error) from None
    except msgspec.DecodeError as error:
        raise ImageError(
            f"the disk image {path} is refused: qemu-img describes it as no image can be ({error})"
        ) from None


def refused(path: str, fd: int, error: CommandFailed) -> ImageError | CommandFailed:
    """Why an image cannot be used, if that is the image's fault."""
    if error.exit_code is None or b"No space left" in error.stderr:
        return error  # it never ran, or the disk is full
    said = error.stderr.decode(errors="replace")
    words = " ".join(said.replace(f"/proc/self/fd/{fd}", path).split())
    words = words.removeprefix("qemu-img: ")
    cause = f"qemu-img {error.how}" if error.exit_code < 0 or not words else words[:400]
    return ImageError(f"the disk image {path} is refused: {cause}")
