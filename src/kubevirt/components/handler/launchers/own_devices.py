"""The devices in a launcher's container, given to the user that it runs as.

A container has nodes of its own, with the owner and mode of the machine's: on some machines only root may open
them. Upstream's virt-handler does the same.
"""

import stat
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
            if stat.S_ISCHR(found.st_mode) and found.st_uid != user:
                inside.chown(device, user, user)
