"""Names of disks on their bus: vda, vdb, sda … A disk keeps the name that its status remembers."""

import re
import string
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Final

from kubevirt.api.disks import Disk
from kubevirt.virt.convert.guest import Guest
from kubevirt.virt.disk_device import bus_of
from kubevirt.virt.errors import SpecError, shown

VIRTIO: Final = "vd"
OTHERS: Final = "sd"
PREFIXES: Final = (VIRTIO, OTHERS)

_LETTERS: Final = string.ascii_lowercase
_NAME: Final = re.compile(r"[sv]d[a-z]{1,3}")


def disk_names(guest: Guest) -> Mapping[str, str]:
    """Device name by disk name."""
    prefixes = {disk.name: _prefix(guest, disk) for disk in guest.devices.disks}
    if len(prefixes) < len(guest.devices.disks):
        raise _twins(guest)
    names = _remembered(guest, prefixes)
    taken = frozenset(names.values())
    free = {
        prefix: (name for name in _sequence(prefix) if name not in taken) for prefix in PREFIXES
    }
    for disk, prefix in prefixes.items():
        if disk not in names:
            names[disk] = next(free[prefix])
    return names


def index_of(name: str) -> int:
    """Place of a name in its sequence: vda is 0, sdz 25, sdaa 26."""
    number = 0
    for letter in name[2:]:
        number = number * len(_LETTERS) + _LETTERS.index(letter) + 1
    return number - 1


def _sequence(prefix: str) -> Iterator[str]:
    for number in count():
        name, rest = "", number
        while rest >= 0:
            rest, letter = divmod(rest, len(_LETTERS))
            name = _LETTERS[letter] + name
            rest -= 1
        yield prefix + name


def _prefix(guest: Guest, disk: Disk) -> str:
    return VIRTIO if bus_of(disk, guest.architecture) == "virtio" else OTHERS


def _remembered(guest: Guest, prefixes: Mapping[str, str]) -> dict[str, str]:
    """Names that the status gives, if the disk is still on that bus and nobody else has them."""
    names: dict[str, str] = {}
    for status in guest.vmi.status.volume_status:
        prefix = prefixes.get(status.name)
        is_name = _NAME.fullmatch(status.target) and status.target[:2] == prefix
        if is_name and status.target not in names.values():
            names[status.name] = status.target
    return names


def _twins(guest: Guest) -> SpecError:
    names = [disk.name for disk in guest.devices.disks]
    twin = next(name for name in names if names.count(name) > 1)
    return SpecError(f"two disks are called {shown(twin)}; disks must not have the same Name.")
