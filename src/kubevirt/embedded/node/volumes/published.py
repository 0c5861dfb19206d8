"""Files that are put in place all at once: who looks sees the old ones or the new, never a mixture.

    token        -> ..data/token
    ..data       -> ..2030_01_01_00_00_00.5f3a
    ..2030_01_01_00_00_00.5f3a/token

Everything that a container sees leads through `..data`, and one rename turns that link over. Programs
that watch files know this from kubelets and wait for exactly that rename.
"""

import os
import stat
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Final

from kubevirt.base.errors import UnsafePath
from kubevirt.base.files import Root
from kubevirt.embedded.node.volumes.contents import File

_CURRENT: Final = "..data"
_DRAFT: Final = "..data_tmp"
_INTERNAL: Final = ".."
_FOLDER_MODE: Final = 0o755
_OF_GROUP: Final = 0o440
_LIMIT: Final = 4 << 20


def publish(
    folder: Path, files: Mapping[str, File], now: datetime, *, group: int | None = None
) -> bool:
    """Whether anything changed. Repairs what a crash left half done."""
    wanted = {_checked(path): _for_group(file, group) for path, file in files.items()}
    with Root.open(folder) as root:
        current = _current(folder)
        is_new = current is None or _found_in(root, current) != wanted
        if is_new:
            current = _write(root, wanted, now, group)
            _turn_over(folder, current)
        _show(folder, {path.split("/")[0] for path in wanted})
        _clear_away(root, keep=current or "")
    return is_new


def _checked(path: str) -> str:
    names = path.split("/")
    if not path or path.startswith(("/", _INTERNAL)) or not all(names) or ".." in names:
        raise UnsafePath(f"{path!r} is no path for a file of a volume")
    return path


def _for_group(file: File, group: int | None) -> File:
    return file if group is None else File(data=file.data, mode=file.mode | _OF_GROUP)


def _current(folder: Path) -> str | None:
    try:
        name = str((folder / _CURRENT).readlink())
    except FileNotFoundError:
        return None
    return name if "/" not in name and (folder / name).is_dir() else None


def _found_in(root: Root, version: str) -> dict[str, File]:
    with root.root(version) as below:
        return {
            path: File(data=below.read(path, limit=_LIMIT), mode=below.stat(path).st_mode & 0o7777)
            for path in _paths(below)
        }


def _paths(root: Root, below: str = ".") -> Iterator[str]:
    for name in root.listdir(below):
        path = name if below == "." else f"{below}/{name}"
        if stat.S_ISDIR(root.stat(path).st_mode):
            yield from _paths(root, path)
        else:
            yield path


def _write(root: Root, files: Mapping[str, File], now: datetime, group: int | None) -> str:
    version = f"..{now:%Y_%m_%d_%H_%M_%S}.{os.urandom(5).hex()}"
    root.mkdir(version, _FOLDER_MODE)
    for path, file in files.items():
        above, _, _ = path.rpartition("/")
        if above:
            root.mkdir(f"{version}/{above}", _FOLDER_MODE, parents=True, exist_ok=True)
        owner = (-1, group) if group is not None else None
        # They are made anew from their objects after a power loss.
        root.write(f"{version}/{path}", file.data, mode=file.mode, owner=owner, durable=False)
    return version


def _turn_over(folder: Path, version: str) -> None:
    draft = folder / _DRAFT
    draft.unlink(missing_ok=True)
    draft.symlink_to(version)
    draft.rename(folder / _CURRENT)


def _show(folder: Path, names: set[str]) -> None:
    shown = {each.name for each in folder.iterdir() if not each.name.startswith(_INTERNAL)}
    for name in names - shown:
        (folder / name).symlink_to(f"{_CURRENT}/{name}")
    for name in shown - names:
        (folder / name).unlink()


def _clear_away(root: Root, *, keep: str) -> None:
    """Versions that nothing leads to any more."""
    for name in root.listdir():
        if name.startswith(_INTERNAL) and name not in (keep, _CURRENT, _DRAFT):
            root.remove_tree(name)
