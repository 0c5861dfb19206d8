"""emptyDir: a folder of the pod's own, on the disk or in memory, for as long as the pod lives.

On the disk a size limit is not enforced by the kernel: `usage.py` looks from time to time. In memory it is
the size of the file system.
"""

import os
from pathlib import Path

from kubevirt.api.core.pod_volumes import EmptyDirVolumeSource
from kubevirt.base.errors import UserError
from kubevirt.base.quantity import Quantity
from kubevirt.embedded.node.volumes import folders
from kubevirt.host import mounts


def prepare(pod_folder: Path, place: str, wanted: EmptyDirVolumeSource, group: int | None) -> Path:
    """What is there stays as it is: it is the pod's."""
    folder = folders.make(pod_folder, place, group=group)
    if is_in_memory(wanted) and not folder.is_mount():
        mode = folder.stat().st_mode & 0o7777
        mounts.memory(folder, mode, limit_bytes(wanted))
        if group is not None:
            os.chown(folder, -1, group)
            folder.chmod(mode)
    return folder


def is_in_memory(wanted: EmptyDirVolumeSource) -> bool:
    if wanted.medium in (None, "", "Memory"):
        return wanted.medium == "Memory"
    raise UserError(f'an emptyDir of medium "{wanted.medium}" cannot be had here; use Memory')


def limit_bytes(wanted: EmptyDirVolumeSource) -> int | None:
    """Zero is no limit either."""
    return Quantity.from_json(wanted.size_limit).value() or None if wanted.size_limit else None
