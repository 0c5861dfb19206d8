"""Device nodes that a launcher may open.

On most machines everybody may open /dev/net/tun, and only who owns a tap gets it. Where that is not so, and
for /dev/kvm, the sandbox gets a node of its own for the same device: the machine's stays as it is.
"""

import os
import stat
from pathlib import Path
from typing import Final

from kubevirt.base.errors import UserError
from kubevirt.components.launcher.standalone.folders import LAUNCHER

TUN: Final = Path("/dev/net/tun")
KVM: Final = Path("/dev/kvm")
_OPEN_TO_ALL: Final = 0o006


def node(device: Path, folder: Path) -> Path:
    """A node of the device that the launcher's user may open; in `folder` if a new one is needed."""
    try:
        found = device.stat()
    except FileNotFoundError:
        raise UserError(
            f"this machine has no {device}; load its kernel module: modprobe {device.name}",
            reason="DeviceMissing",
        ) from None
    if found.st_mode & _OPEN_TO_ALL == _OPEN_TO_ALL:
        return device
    if os.statvfs(folder).f_flag & os.ST_NODEV:
        raise UserError(
            f"{device} is for root only, and {folder} takes no device nodes; "
            f"allow it: chmod 0666 {device}",
            reason="DeviceForbidden",
        )
    own = folder / device.name
    if own.exists():
        return own
    os.mknod(own, 0o600 | stat.S_IFCHR, found.st_rdev)
    os.chown(own, LAUNCHER, LAUNCHER)
    return own
