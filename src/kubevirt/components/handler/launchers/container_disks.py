"""Container disks that helper containers hold: shown to the launcher, each in its place.

A helper keeps an image mounted and listens at a socket in a folder that it shares with the launcher; who
connects learns from the kernel which process it is, and so where the image is. Where the node has mounted the
images into the launcher itself, there is nothing to do.
"""

import asyncio
import os
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Final

import msgspec

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.base.clock import Clock
from kubevirt.base.errors import Retry, UserError
from kubevirt.base.files import Root
from kubevirt.components.handler.launchers.door import Door
from kubevirt.components.handler.launchers.peer import peer_of
from kubevirt.host import foreign_mounts, mounts
from kubevirt.host.oci.unpacked import UnpackedImage
from kubevirt.rpc.errors import NoAnswer
from kubevirt.virt.layout import Layout

PATIENCE_S: Final = 5.0
"""How long a helper may take to come before its instance's owner is told that it is missing."""
KERNEL: Final = "kernel-boot"
_LAYOUT: Final = Layout()


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """A file of an image, and its place in the launcher's folder."""

    image: str
    path: str
    """In the image; empty for the only file in /disk."""
    place: str
    socket: str
    mounted: str
    """Where the whole image is in the launcher, if the node has mounted it there."""


def wanted(vmi: VirtualMachineInstance) -> Iterator[Wanted]:
    for index, volume in enumerate(vmi.spec.volumes):
        if disk := volume.container_disk:
            yield Wanted(
                image=disk.image,
                path=disk.path or "",
                place=f"disk_{index}.img",
                socket=f"disk_{index}.sock",
                mounted=_LAYOUT.image_volume(index),
            )
    firmware = vmi.spec.domain.firmware
    boot = firmware.kernel_boot.container if firmware and firmware.kernel_boot else None
    for path in (boot.kernel_path, boot.initrd_path) if boot else ():
        if boot and path:
            yield Wanted(
                image=boot.image,
                path=path,
                place=f"{KERNEL}/{PurePosixPath(path).name}",
                socket=f"{KERNEL}.sock",
                mounted=_LAYOUT.kernel_image,
            )


async def show(
    vmi: VirtualMachineInstance, door: Door, folder: Root, user: int, clock: Clock, waited_s: float
) -> None:
    """All of them. `waited_s` is how long helpers had time to come."""
    for each in wanted(vmi):
        if _is_shown(folder, each) or _is_mounted(door, each):
            continue
        try:
            await _show(each, folder, user, clock)
        except (NoAnswer, FileNotFoundError) as error:
            words = f"the image {each.image} is not there yet: its helper does not answer ({error})"
            if waited_s < PATIENCE_S:
                raise Retry(words) from None
            raise UserError(words, reason="ContainerDiskMissing") from None


async def _show(each: Wanted, folder: Root, user: int, clock: Clock) -> None:
    with folder.connectable(each.socket) as address:
        async with peer_of(address, user, f"the helper of image {each.image}", clock) as helper:
            tree = await asyncio.to_thread(
                foreign_mounts.borrow, helper.pid, _finder(each, helper.pid)
            )
            try:
                if not helper.is_alive:
                    raise NoAnswer("it has just ended")
                _put(tree, folder, each.place)
            finally:
                os.close(tree)


def _put(tree: int, folder: Root, place: str) -> None:
    if "/" in place:
        folder.mkdir(KERNEL, 0o755, exist_ok=True)
    if not folder.exists(place):
        folder.create(place, 0o644).close()
    with folder.open_file(place) as target:
        foreign_mounts.show(tree, target.fileno())


def hide(folder: Root) -> None:
    """Takes all of them away: a kubelet cannot remove a folder in which something is mounted."""
    with folder.followed(".") as fd:
        here = Path(f"/proc/self/fd/{fd}")
        names = [name for name in folder.listdir() if name.endswith(".img")]
        if folder.exists(KERNEL):
            names += [f"{KERNEL}/{name}" for name in folder.listdir(KERNEL)]
        for name in names:
            mounts.unmount(here / name)


def _is_shown(folder: Root, each: Wanted) -> bool:
    """The place of one that is not is empty."""
    try:
        return folder.stat(each.place).st_size > 0
    except (FileNotFoundError, NotADirectoryError):
        return False


def _is_mounted(door: Door, each: Wanted) -> bool:
    """In most images /var/run is a link; what it leads to is the launcher's own, and only looked at."""
    try:
        with (
            Root.open(f"/proc/{door.peer.pid}/root") as inside,
            inside.followed(each.mounted.lstrip("/")),
        ):
            return True
    except FileNotFoundError:
        return False


def _finder(each: Wanted, pid: int) -> Callable[[Root], str]:
    """Where the file is below the root of the helper."""
    folder = Path(f"/proc/{pid}/root")
    image = UnpackedImage(name=each.image, digest="", folder=folder)
    return lambda _: str(image.disk(each.path).relative_to(folder))
