"""Disks: the plans of `virt.volumes` carried out, and what was found on the way.

Making a disk twice keeps the first, for its guest has written to it. An attempt to start that fails takes
away what it made, so the next one begins with nothing.
"""

import asyncio
import errno
import fcntl
import os
import stat
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final, assert_never

import msgspec

from kubevirt.base.errors import UserError
from kubevirt.components.launcher.claim_growth import SECTOR, grow
from kubevirt.host import iso
from kubevirt.host.qemu_img import disks as images
from kubevirt.host.qemu_img.checking import check
from kubevirt.host.qemu_img.image import Image, admit
from kubevirt.host.qemu_img.program import FORMATS, Format, ImageError
from kubevirt.virt.convert.facts import BackingFacts, BlockSizes, VolumeFacts
from kubevirt.virt.convert.notes import Note
from kubevirt.virt.errors import shown
from kubevirt.virt.volumes.plan import (
    BlankDisk,
    ExistingDisk,
    HostImage,
    IsoImage,
    MetricsDisk,
    Overlay,
    VolumePlan,
)

METRICS_BYTES: Final = 256 << 10
_LOGICAL_SIZE: Final = 0x1268  # BLKSSZGET
_PHYSICAL_SIZE: Final = 0x127B  # BLKPBSZGET


class Disk(msgspec.Struct, frozen=True, kw_only=True):
    """A disk that is in its place."""

    facts: VolumeFacts
    made: tuple[str, ...] = ()
    """Files that were not there before."""
    notes: tuple[Note, ...] = ()


class MissingDisk(UserError):  # noqa: N818  # it is what the volume has
    def __init__(self, message: str) -> None:
        super().__init__(message, reason="MissingDisk")


class Disks:
    """Makes the disks of one guest, side by side: each takes a program of its own."""

    def __init__(self, claim_tolerance_percent: int) -> None:
        self._tolerance_percent = claim_tolerance_percent

    async def make(
        self, plans: Iterable[VolumePlan], claim_bytes: dict[str, int]
    ) -> dict[str, Disk]:
        """By volume. `claim_bytes` has the sizes of claims as far as they are known."""
        tasks: dict[str, asyncio.Task[Disk]] = {}
        try:
            async with asyncio.TaskGroup() as group:
                for plan in plans:
                    made = self._made(plan, claim_bytes.get(plan.volume))
                    tasks[plan.volume] = group.create_task(made)
        except BaseException as error:
            remove(
                path
                for task in tasks.values()
                if task.done() and not task.cancelled() and task.exception() is None
                for path in task.result().made
            )
            if isinstance(error, BaseExceptionGroup):
                raise error.exceptions[
                    0
                ] from None  # the first tells enough, the others were stopped
            raise
        return {volume: task.result() for volume, task in tasks.items()}

    async def _made(self, plan: VolumePlan, claim_bytes: int | None) -> Disk:
        match plan:
            case Overlay():
                return await _overlay(plan)
            case BlankDisk():
                is_new = await images.create_blank(plan.path, plan.size_bytes)
                return _at(plan.path, is_new=is_new)
            case IsoImage():
                return await _image(plan)
            case ExistingDisk():
                return await self._claim(plan, claim_bytes)
            case HostImage():
                return await _host_image(plan)
            case MetricsDisk():
                is_new = await images.create_blank(plan.path, METRICS_BYTES, "raw")
                return _at(plan.path, is_new=is_new)
            case _:
                assert_never(plan)

    async def _claim(self, plan: ExistingDisk, claim_bytes: int | None) -> Disk:
        """A claim's disk; a file system that is still empty gets one as large as the claim, and one that has grown
        a larger one.
        """
        if _is_there(plan.path):
            if claim_bytes is not None and not plan.is_block and not plan.read_only:
                grow(Path(plan.path), claim_bytes)
            return _at(plan.path, is_block=plan.is_block)
        folder = Path(plan.path).parent
        if plan.is_block or plan.read_only or claim_bytes is None or not folder.is_dir():
            raise MissingDisk(
                f"volume {shown(plan.volume)} has no disk at {plan.path}; check its claim"
            )
        _check_writable(folder, plan.volume)
        size, notes = self._size_in(folder, plan.volume, claim_bytes)
        is_new = await images.create_blank(plan.path, size, "raw", mode=0o660)
        return msgspec.structs.replace(_at(plan.path, is_new=is_new), notes=notes)

    def _size_in(self, folder: Path, volume: str, wanted: int) -> tuple[int, tuple[Note, ...]]:
        """File systems take a little of a claim for themselves, so the disk may be a little smaller."""
        usage = os.statvfs(folder)
        free = usage.f_bavail * usage.f_frsize
        if free >= wanted:
            return wanted, ()
        if free < wanted * (100 - self._tolerance_percent) // 100:
            raise UserError(
                f"unable to create disk.img of volume {shown(volume)}: it needs {wanted} bytes and "
                f"the file system has {free} free; make room there, or use a claim that fits",
                reason="ClaimTooSmall",
            )
        note = Note(
            reason="ToleratedSmallPV",
            message=f"PV size too small: expected {wanted} B, found {free} B. Using it anyway, it is "
            f"within {self._tolerance_percent} % toleration",
        )
        return free // SECTOR * SECTOR, (note,)


async def _overlay(plan: Overlay) -> Disk:
    below = await _admitted(plan)
    if not (await check(below)).is_whole:
        # QEMU would read what is missing as zeros, and the guest would find out much later.
        raise UserError(
            f"the image of volume {shown(plan.volume)} is damaged or cut short; build or fetch it anew",
            reason="DamagedImage",
        )
    is_new = await images.create_overlay(plan.path, below)
    disk = _at(plan.path, is_new=is_new)
    backing = BackingFacts(
        path=below.path,
        format=below.format,
        is_block=plan.backing_is_block,
        direct_io=takes_direct_io(below.path),
    )
    facts = msgspec.structs.replace(disk.facts, format="qcow2", backing=backing)
    return msgspec.structs.replace(disk, facts=facts)


async def _admitted(plan: Overlay) -> Image:
    try:
        return await admit(plan.backing, _format(plan.backing_format))
    except ImageError as error:
        raise UserError(
            f"volume {shown(plan.volume)} is no disk that a guest can have: {error}; build or fetch it "
            f"anew, or name another image",
            reason=error.reason,
        ) from None


async def _image(plan: IsoImage) -> Disk:
    """Always anew: equal contents give equal bytes, and other contents are why it is made again."""
    is_new = not _is_there(plan.path)
    # In a thread: the library is slow for its size, and others make their disks meanwhile.
    await asyncio.to_thread(iso.write, plan.path, plan.label, plan.files)
    return _at(plan.path, is_new=is_new)


async def _host_image(plan: HostImage) -> Disk:
    if _is_there(plan.path):
        return _at(plan.path)
    if not plan.create or plan.size_bytes is None:
        raise MissingDisk(
            f"volume {shown(plan.volume)} has no disk at {plan.path}; make it on the node, or use "
            f"type DiskOrCreate with a capacity"
        )
    _check_writable(Path(plan.path).parent, plan.volume)
    return _at(plan.path, is_new=await images.create_blank(plan.path, plan.size_bytes, "raw"))


def _check_writable(folder: Path, volume: str) -> None:
    if not os.access(folder, os.W_OK | os.X_OK):
        user = os.geteuid()
        raise UserError(
            f"volume {shown(volume)} has no disk yet, and its folder on the node is closed to user {user}, "
            f"who would make one; open it, with `chown {user}` for example",
            reason="ClosedFolder",
        )


def _at(path: str, *, is_block: bool = False, is_new: bool = False) -> Disk:
    facts = VolumeFacts(
        is_block=is_block,
        direct_io=takes_direct_io(path),
        block_sizes=_block_sizes(path),
    )
    return Disk(facts=facts, made=(path,) if is_new else ())


def _is_there(path: str) -> bool:
    return Path(path).exists()


def _format(name: str | None) -> Format | None:
    return next((each for each in FORMATS if each == name), None)


def takes_direct_io(path: str) -> bool:
    """Whether the storage can be read past the host's cache; some network file systems cannot."""
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_DIRECT | os.O_NONBLOCK | os.O_CLOEXEC))
    except OSError as error:
        if error.errno == errno.EINVAL:
            return False
        raise MissingDisk(f"the disk {path} cannot be opened: {error.strerror}") from None
    return True


def _block_sizes(path: str) -> BlockSizes | None:
    found = os.stat(path)  # noqa: PTH116  # a descriptor would do, a Path would not save anything
    if not stat.S_ISBLK(found.st_mode):
        size = max(SECTOR, min(found.st_blksize, 4096))
        return BlockSizes(logical=size, physical=size)
    return BlockSizes(
        logical=_asked(path, _LOGICAL_SIZE),
        physical=_asked(path, _PHYSICAL_SIZE),
        discard_granularity=_discard_granularity(found.st_rdev),
    )


def _asked(path: str, question: int) -> int:
    """Of the device itself: a sandbox shows it, but seldom the part of /sys that describes it."""
    device = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        return int.from_bytes(fcntl.ioctl(device, question, bytes(4)), sys.byteorder)
    finally:
        os.close(device)


def _discard_granularity(number: int) -> int | None:
    """There is no such question; where /sys does not tell, QEMU has a value of its own."""
    queue = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}/queue")
    try:
        return int((queue / "discard_granularity").read_text()) or None
    except (OSError, ValueError):
        return None


def remove(paths: Iterable[str]) -> None:
    for path in paths:
        Path(path).unlink(missing_ok=True)
