"""Device nodes of containers: each container has its own for a disk, as a container runtime makes it, with owner and mode of
the machine's.

So whoever gives a node to the container's user, as virt-handler does, gives away nothing of the machine's.
"""

import os
import stat
from pathlib import Path

from kubevirt.base.log import get_logger

log = get_logger(__name__)


def node(device: Path, own: Path) -> Path:
    """At `own`, made anew; the device's own one where the file system takes no devices."""
    found = device.stat()
    try:
        own.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if os.statvfs(own.parent).f_flag & os.ST_NODEV:
            return device
        own.unlink(missing_ok=True)
        os.mknod(own, 0o600 | stat.S_IFBLK, found.st_rdev)
        os.chown(own, found.st_uid, found.st_gid)
        own.chmod(stat.S_IMODE(found.st_mode))
    except OSError as error:
        log.warning("a disk is shown as it is", device=str(device), reason=str(error))
        return device
    return own
