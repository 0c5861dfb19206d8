"""Contents of volumes: what Kubernetes has mounted for an image to be made of it.

A ConfigMap or Secret is mounted as links into a folder that is swapped as a whole when the object changes:

    user-data  ->  ..data/user-data        ..data  ->  ..2030_01_01_12_00_00.123/

So links are followed, but only below the folder, and what begins with two dots is Kubernetes' own.
"""

import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.base.errors import UserError
from kubevirt.base.files import Root
from kubevirt.virt.errors import shown
from kubevirt.virt.layout import Layout
from kubevirt.virt.volumes.contents import FILE_LIMIT, SIZE_LIMIT
from kubevirt.virt.volumes.folders import Folder, folders_to_read
from kubevirt.virt.volumes.planning import Contents

DATA: Final = "..data"
"""Kubernetes' link to the current version of all files."""


def read_contents(vmi: VirtualMachineInstance, layout: Layout) -> Contents:
    folders = folders_to_read(vmi, layout)
    volumes: dict[str, Mapping[str, bytes]] = {}
    for each in folders:
        if each.volume:
            volumes[each.volume] = _joined(volumes.get(each.volume, {}), each)
    return Contents(
        volumes=volumes,
        credentials={each.credential: read_folder(each) for each in folders if each.credential},
    )


def _joined(before: Mapping[str, bytes], folder: Folder) -> Mapping[str, bytes]:
    """What was read of the volume's folders before, and of this one."""
    files = read_folder(folder)
    if not folder.only:
        return {**before, **files}
    rest = {name: data for name, data in before.items() if name not in folder.only}
    return {**rest, **{name: files[name] for name in folder.only if name in files}}


def read_folder(folder: Folder) -> Mapping[str, bytes]:
    """Its files by name, as they were at one moment."""
    try:
        with Root.open(_current(folder.path)) as root:
            return _files(root)
    except (FileNotFoundError, NotADirectoryError):
        if folder.optional:
            return {}
        what = f"volume {shown(folder.volume)}" if folder.volume else f"Secret {folder.credential}"
        raise UserError(
            f"the content of {what} is not there: its ConfigMap or Secret was not mounted at "
            f"{folder.path}; check that it exists",
            reason="MissingContent",
        ) from None


def _current(folder: str) -> str:
    """The folder that holds the files themselves, all of one version."""
    try:
        version = Path(folder, DATA).readlink()
    except OSError:  # mounted by something simpler than a kubelet: the files lie in the folder
        return folder
    return f"{folder}/{version.name}"


def _files(root: Root) -> Mapping[str, bytes]:
    names = [name for name in root.listdir(limit=FILE_LIMIT + 16) if not name.startswith("..")]
    files: dict[str, bytes] = {}
    left = SIZE_LIMIT
    for name in names:
        if stat.S_ISDIR(root.stat(name).st_mode):
            continue
        files[name] = root.read(name, limit=left)
        left -= len(files[name])
    return files
