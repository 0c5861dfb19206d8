"""A path of the machine for a pod, if it is what the pod says it is."""

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Final

from kubevirt.embedded.node.volumes.contents import NotThere

_KINDS: Final[dict[str, tuple[Callable[[int], bool], str]]] = {
    "Directory": (stat.S_ISDIR, "a directory"),
    "DirectoryOrCreate": (stat.S_ISDIR, "a directory"),
    "File": (stat.S_ISREG, "a file"),
    "FileOrCreate": (stat.S_ISREG, "a file"),
    "Socket": (stat.S_ISSOCK, "a socket file"),
    "CharDevice": (stat.S_ISCHR, "a character device"),
    "BlockDevice": (stat.S_ISBLK, "a block device"),
}


def prepare(path: Path, kind: str) -> None:
    """Makes what may be made, and refuses what is something else. No kind is anything, or a folder that
    is made, as the common runtimes do.
    """
    if kind in ("", "DirectoryOrCreate") and not path.exists():
        path.mkdir(mode=0o755, parents=True)
    if kind == "FileOrCreate" and not path.exists():
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644))
    if kind not in _KINDS:
        return
    is_right, name = _KINDS[kind]
    if not path.exists() or not is_right(path.stat().st_mode):
        raise NotThere(f"hostPath type check failed: {path} is not {name}")
