"""subPath: a part of a volume for a container, which what lies in the volume cannot lead elsewhere.

A container that shares the volume may put links there and swap them at any moment. So the part is found by
the kernel in one step, which follows links only as long as they stay in the volume (those of published files
do), and what was found is mounted by its descriptor, never by its name. The container then gets that mount.
"""

import os
import re
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from kubevirt.base.errors import UserError
from kubevirt.base.files import Root
from kubevirt.embedded.node.expansion import expand
from kubevirt.embedded.node.volumes.contents import NotThere
from kubevirt.host import mounts

_REFERENCE: Final = re.compile(r"\$\(([^)]*)\)")


def expanded(expression: str, environment: Mapping[str, str]) -> str:
    """A subPathExpr as a path. Every variable must have a value."""
    for name in _REFERENCE.findall(expression.replace("$$", "")):
        if name not in environment:
            raise UserError(f'missing value for "{name}"')
    return expand(expression, environment)


def mount(volume: Path, path: str, target: Path, *, may_make: bool) -> None:
    """Mounts the part of `volume` at `path` on `target`, anew if it was. Missing folders are made, with
    the rights of the volume itself.
    """
    with Root.open(volume) as root:
        if may_make:
            _make(root, path)
        try:
            with root.followed(path) as fd:
                _attach(fd, target)
        except FileNotFoundError:
            raise NotThere(f"{path} is not in the volume") from None


def _make(root: Root, path: str) -> None:
    mode = stat.S_IMODE(root.stat().st_mode) & 0o777
    names = [each for each in path.split("/") if each not in ("", ".")]
    for depth in range(1, len(names) + 1):
        try:
            with root.followed("/".join(names[:depth])):
                continue
        except FileNotFoundError:
            pass
        with root.followed("/".join(names[: depth - 1]) or ".") as above:
            _mkdir(above, names[depth - 1], mode)


def _mkdir(folder: int, name: str, mode: int) -> None:
    # Who is quicker, or has put a link there that leads nowhere, is found out when it is used.
    with suppress(FileExistsError):
        os.mkdir(name, mode, dir_fd=folder)
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        fd = os.open(name, flags, dir_fd=folder)
        try:
            os.fchmod(fd, mode | stat.S_IMODE(os.fstat(fd).st_mode) & stat.S_ISGID)
        finally:
            os.close(fd)


def _attach(fd: int, target: Path) -> None:
    is_folder = stat.S_ISDIR(os.fstat(fd).st_mode)
    while mounts.unmount(target):
        pass
    _place(target, is_folder=is_folder)
    mounts.bind(f"/proc/self/fd/{fd}", target)


def _place(target: Path, *, is_folder: bool) -> None:
    """An empty folder or file, in a folder of ours, for a mount to hang on."""
    target.parent.mkdir(mode=0o750, parents=True, exist_ok=True)
    if target.exists() and target.is_dir() != is_folder:
        target.rmdir() if target.is_dir() else target.unlink()
    if is_folder:
        target.mkdir(mode=0o750, exist_ok=True)
    else:
        target.touch(mode=0o640)
