"""The devices in a launcher's container, given to the user that it runs as.

A container has nodes of its own, with the owner and mode of the machine's: on some machines only root may open
them, and disks always. Upstream's virt-handler does the same. A node that is the machine's own, shown in the container,
stays as it is: everybody's is nobody's to give.
"""

import os
import stat
from pathlib import Path
from typing import Final

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.base.files import Root
from kubevirt.components.handler.launchers.door import Door
from kubevirt.virt.layout import Layout
from kubevirt.virt.volumes.location import block_volumes

DEVICES: Final = ("dev/kvm", "dev/net/tun", "dev/vhost-net", "dev/vhost-vsock")
_LAYOUT: Final = Layout()


def give(door: Door, user: int, vmi: VirtualMachineInstance) -> None:
    """Also the disks that are claims in block mode."""
    disks = (_LAYOUT.claim_device(each).lstrip("/") for each in block_volumes(vmi))
    with Root.open(f"/proc/{door.peer.pid}/root") as inside:
        for device in (*DEVICES, *disks):
            if not inside.exists(device):
                continue
            found = inside.stat(device)
            is_one = stat.S_ISCHR(found.st_mode) or stat.S_ISBLK(found.st_mode)
            if is_one and found.st_uid != user and not _is_machines(found):
                inside.chown(device, user, user)


def _is_machines(found: os.stat_result) -> bool:
    """By the file system that it is on: whatever its name is in the container, on the machine it may have another."""
    return found.st_dev == Path("/dev").stat().st_dev
