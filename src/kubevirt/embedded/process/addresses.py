"""Ranges of addresses, so that several homes can be up on one machine: each tells the others what it has.

    /run/kubevirt-embedded/<id>.json      of a home that is on this machine, up or not

A home keeps the ranges that it once chose, since Services have addresses from them. Others keep away from them also
while it is down; where one that is up has them all the same, the home is refused.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from ipaddress import ip_network
from pathlib import Path
from typing import Final

import msgspec

from kubevirt.base.errors import ConfigError
from kubevirt.embedded.home import Home

REGISTER: Final = Path("/run/kubevirt-embedded")


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    home: str
    pods: str
    services: str

    @property
    def ranges(self) -> tuple[str, str]:
        return self.pods, self.services


async def take(home: Home, pods: str, services: str, register: Path = REGISTER) -> Entry:
    """With the ranges that were remembered, or new ones where they are empty; for as long as the home is
    there.
    """
    with _locked(register):
        others = _others(home, register)
        if pods and services:
            entry = Entry(home=str(home.path), pods=pods, services=services)
            _refuse_if_taken(entry, [each for each in others if _is_up(each)])
        else:
            entry = await _chosen(home, others)
        draft = register / f".{home.id}.tmp"
        draft.write_bytes(msgspec.json.encode(entry))
        draft.rename(register / f"{home.id}.json")
    return entry


async def _chosen(home: Home, others: list[Entry]) -> Entry:
    from kubevirt.embedded.network.ranges import free_ranges  # noqa: PLC0415  # netlink, once per home

    found = await free_ranges(also=[text for each in others for text in each.ranges])
    return Entry(home=str(home.path), pods=found.pods, services=found.services)


def _refuse_if_taken(entry: Entry, others: list[Entry]) -> None:
    for other in others:
        if any(
            ip_network(ours).overlaps(ip_network(theirs))
            for ours in entry.ranges
            for theirs in other.ranges
        ):
            raise ConfigError(
                f"{entry.home} has the addresses {entry.pods} and {entry.services}, which the home "
                f"{other.home} has, too, and that one is up; stop it with: virtctl down --home {other.home}",
                reason="AddressesInUse",
            )


def forget(home: Home, register: Path = REGISTER) -> None:
    """The home is about to be removed."""
    (register / f"{home.id}.json").unlink(missing_ok=True)


def _others(home: Home, register: Path) -> list[Entry]:
    """Of homes that are still there; entries of others go."""
    found = []
    for place in register.glob("*.json"):
        entry = None
        with suppress(OSError, msgspec.MsgspecError):
            entry = msgspec.json.decode(place.read_bytes(), type=Entry)
        if entry is None or not _is_there(entry, place.stem):
            place.unlink(missing_ok=True)
        elif place.stem != home.id:
            found.append(entry)
    return found


def _is_there(entry: Entry, home_id: str) -> bool:
    home = Home(Path(entry.home))
    return home.is_there and home.id == home_id


def _is_up(entry: Entry) -> bool:
    """Or died: what it left on the machine has its addresses, too."""
    home = Home(Path(entry.home))
    return home.is_running or home.process is not None


@contextmanager
def _locked(register: Path) -> Iterator[None]:
    register.mkdir(mode=0o755, parents=True, exist_ok=True)
    fd = os.open(register, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)
