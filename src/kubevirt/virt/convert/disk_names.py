"""Names of disks on their bus: vda, vdb, sda … A disk keeps the name that its status remembers."""

from collections.abc import Iterator, Mapping
from itertools import count
from typing import Final

from kubevirt.virt.convert.guest import Guest
from kubevirt.virt.disk_device import bus_of
from kubevirt.virt.errors import SpecError, shown

_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"


def disk_names(guest: Guest) -> Mapping[str, str]:
    """Device name by disk name."""
    remembered = {
        status.name: status.target for status in guest.vmi.status.volume_status if status.target
    }
    names: dict[str, str] = {}
    prefixes = {disk.name: _prefix(guest, disk.name) for disk in guest.devices.disks}
    if len(prefixes) < len(guest.devices.disks):
        _complain_about_twins(guest)
    for disk, prefix in prefixes.items():
        if (known := remembered.get(disk, "")).startswith(prefix) and known[2:].isalpha():
            names[disk] = known
    for disk, prefix in prefixes.items():
        if disk not in names:
            taken = set(names.values())
            names[disk] = next(name for name in _sequence(prefix) if name not in taken)
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


def _prefix(guest: Guest, name: str) -> str:
    disk = next(disk for disk in guest.devices.disks if disk.name == name)
    return "vd" if bus_of(disk, guest.architecture) == "virtio" else "sd"


def _complain_about_twins(guest: Guest) -> None:
    names = [disk.name for disk in guest.devices.disks]
    twin = next(name for name in names if names.count(name) > 1)
    raise SpecError(f"two disks are called {shown(twin)}; disks must not have the same Name.")
