"""Device nodes that launchers may open: where the machine keeps a device to root, a node of our own for the same.

The machine's stays as it is. A container runtime takes over owner and mode of what a plugin names, or shows the
very node; either way the launcher's user may open it, and nobody else's rights change.
"""

import os
import stat
from pathlib import Path
from typing import Final

from kubevirt.base.log import get_logger

log = get_logger(__name__)

_OPEN_TO_ALL: Final = 0o006


def node(device: Path, folder: Path, user: int) -> Path:
    """The device's own node, or one in `folder` if that is needed and can be had."""
    found = device.stat()
    if not stat.S_ISCHR(found.st_mode) or found.st_mode & _OPEN_TO_ALL == _OPEN_TO_ALL:
        return device
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if os.statvfs(folder).f_flag & os.ST_NODEV:
            return device
        own = folder / device.name
        own.unlink(missing_ok=True)
        os.mknod(own, 0o600 | stat.S_IFCHR, found.st_rdev)
        os.chown(own, user, user)
    except OSError as error:
        log.warning("a device is offered as it is", device=str(device), reason=str(error))
        return device
    return own
