"""The devices in a launcher's container, given to the user that it runs as.

A container has nodes of its own, with the owner and mode of the machine's: on some machines only root may open
them. Upstream's virt-handler does the same. A node that is the machine's own, shown in the container, stays as it
is: everybody's is nobody's to give.
"""

import os
import stat
from pathlib import Path
from typing import Final

from kubevirt.base.files import Root
from kubevirt.components.handler.launchers.door import Door

DEVICES: Final = ("dev/kvm", "dev/net/tun", "dev/vhost-net", "dev/vhost-vsock")


def give(door: Door, user: int) -> None:
    with Root.open(f"/proc/{door.peer.pid}/root") as inside:
        for device in DEVICES:
            if not inside.exists(device):
                continue
            found = inside.stat(device)
            is_wanted = stat.S_ISCHR(found.st_mode) and found.st_uid != user
            if is_wanted and not _is_machines(device, found):
                inside.chown(device, user, user)


def _is_machines(device: str, found: os.stat_result) -> bool:
    try:
        own = Path("/", device).stat()
    except OSError:
        return False
    return (own.st_dev, own.st_ino) == (found.st_dev, found.st_ino)
