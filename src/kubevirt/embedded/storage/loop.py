"""Loop devices: a file of ours as a disk, for volumes of mode Block.

The kernel knows which file a device stands for, and the folders of pods tell which volumes are in use; nothing
else is written down. So whoever comes after a crash finds both, and detaches what nobody uses. Devices of
files that are not ours are never touched.
"""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from kubevirt.base.commands import run
from kubevirt.base.errors import CommandFailed
from kubevirt.base.log import get_logger

log = get_logger(__name__)

IN_POD: Final = "volumeDevices/kubernetes.io~local-volume"
"""Where a pod's folder has a link for each of its devices, by volume: a kubelet's name."""
_KERNEL: Final = Path("/sys/block")
_GONE: Final = " (deleted)"


class LoopDevices:
    def __init__(self, volumes: Path, nodes: Path) -> None:
        """`volumes` holds the files, by the names of their volumes; `nodes` the folders of all nodes of
        the home, since each of them may use one.
        """
        self._volumes = volumes
        self._nodes = nodes
        self._lock = asyncio.Lock()

    def is_ours(self, file: Path) -> bool:
        return file.parent == self._volumes

    def find(self, file: Path) -> Path | None:
        """The device that stands for a file, if there is one."""
        name = os.path.realpath(file)
        return next((device for device, of in _attached() if of == name), None)

    async def attach(self, file: Path, link: Path) -> Path:
        """A device for a file of ours; `link`, in a pod's folder, says that it is in use."""
        async with self._lock:
            device = self.find(file)
            if device is None:
                done = await run("losetup", "--find", "--show", "--nooverlap", file)
                device = Path(done.text.strip())
                log.info("loop device attached", device=str(device), volume=file.name)
            _link(link, device)
            return device

    async def release(self) -> None:
        """Detaches the devices of our files that no pod has a link for."""
        async with self._lock:
            for device in self._unused():
                try:
                    await run("losetup", "--detach", device)
                    log.info("loop device detached", device=str(device))
                except CommandFailed as error:
                    # The next pod that goes tries again.
                    log.warning("loop device not detached", device=str(device), error=error)

    async def grown(self, file: Path) -> None:
        """The file is larger than it was: the device shall be, too."""
        if device := self.find(file):
            await run("losetup", "--set-capacity", device)

    def _unused(self) -> list[Path]:
        folder = os.path.realpath(self._volumes)
        found = []
        for device, file in _attached():
            above, _, name = file.removesuffix(_GONE).rpartition("/")
            if above == folder and not self._is_in_use(name):
                found.append(device)
        return found

    def _is_in_use(self, volume: str) -> bool:
        links = self._nodes.glob(f"*/root/var/lib/kubelet/pods/*/{IN_POD}/{volume}")
        return any(each.is_symlink() for each in links)


def _link(link: Path, device: Path) -> None:
    link.parent.mkdir(mode=0o750, parents=True, exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(device)


def _attached() -> Iterator[tuple[Path, str]]:
    """Device and file, of all that this machine has."""
    for place in _KERNEL.glob("loop*/loop/backing_file"):
        try:
            yield Path("/dev", place.parts[-3]), place.read_text().rstrip("\n")
        except OSError:  # detached while we look
            continue
