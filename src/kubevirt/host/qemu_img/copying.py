"""Copies of an image in another format, and how large they get. For the importer of DataVolumes, which is not built yet;
tests/component/host/test_qemu_img.py holds it.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import msgspec

from kubevirt.base import commands
from kubevirt.base.errors import CommandFailed
from kubevirt.host.qemu_img.image import Image
from kubevirt.host.qemu_img.program import (
    LIMITS,
    Format,
    ImageLimits,
    ask,
    node,
    opened,
    refused,
)

COPY_LIMITS: Final = ImageLimits(cpu_s=3600, timeout_s=4 * 3600)
"""A copy reads and writes the whole disk: an hour of CPU time packs some hundred GB."""

_SLACK_BYTES: Final = 64 << 20
"""How far a copy may pass what was measured: the tables of the new file."""
_PROGRESS: Final = re.compile(r"\(\s*(\d+(?:\.\d+)?)/100%\)")


class Measured(msgspec.Struct, frozen=True, kw_only=True, rename="kebab"):
    """Bytes that a file of another format would take."""

    required: int
    """For what the image holds now."""
    fully_allocated: int
    """Once every block has been written."""


async def measure(image: Image, target: Format, *, limits: ImageLimits = LIMITS) -> Measured:
    with opened(image.path) as fd:
        return await ask(
            Measured,
            "measure",
            "--force-share",
            "-O",
            target,
            node(fd, image.format),
            path=image.path,
            fd=fd,
            limits=limits,
        )


async def convert(
    image: Image,
    target: str,
    target_format: Format,
    *,
    progress: Callable[[float], None] = lambda _: None,
    limits: ImageLimits = COPY_LIMITS,
) -> None:
    """Copies an admitted image to the new file `target`; `progress` gets percents as they rise.

    A copy that fails or is given up leaves nothing behind. Zeros stay holes.
    """
    needed = await measure(image, target_format)
    allowed = limits.for_program(file_bytes=needed.fully_allocated + _SLACK_BYTES)
    with _new_file(target) as path, opened(image.path) as fd:
        await _copy(image, fd, path, target_format, progress, limits.timeout_s, allowed)


@contextmanager
def _new_file(target: str) -> Iterator[Path]:
    """An empty file, gone again if the body fails. A name that is taken is not ours to write to."""
    path = Path(target).absolute()
    path.touch(mode=0o600, exist_ok=False)
    try:
        yield path
    except BaseException:
        path.unlink(missing_ok=True)
        raise


async def _copy(
    image: Image,
    fd: int,
    target: Path,
    target_format: Format,
    progress: Callable[[float], None],
    timeout_s: float,
    allowed: commands.Limits,
) -> None:
    options = ("-p", "-U", "-O", target_format, node(fd, image.format))
    try:
        async with commands.stream(
            "qemu-img",
            "convert",
            *options,
            target,
            timeout_s=timeout_s,
            limits=allowed,
            pass_fds=(fd,),
        ) as lines:
            async for line in lines:
                if found := _PROGRESS.search(line):
                    progress(float(found[1]))
    except CommandFailed as error:
        raise refused(image.path, fd, error) from None
