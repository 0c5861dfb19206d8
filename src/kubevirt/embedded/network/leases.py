"""Which pod has which address: a small file for each, so that a crash forgets none.

An address that was given back is the last to be given again: who still remembers its old owner should
reach nobody rather than somebody else.
"""

import secrets
from collections.abc import Container, Mapping
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path
from typing import Final

import msgspec

from kubevirt.base.files import Root
from kubevirt.base.log import get_logger

log = get_logger(__name__)

_SUFFIX: Final = ".json"
_LIMIT: Final = 4096
_MOST: Final = 100_000


class Lease(msgspec.Struct, frozen=True, kw_only=True):
    uid: str
    """Of the pod."""
    address: str
    node: str
    pod: str = ""
    """Namespace and name, for people."""


class NoFreeAddress(Exception):  # noqa: N818  # it is what there is
    """All of the range are given out."""


def next_free(
    within: IPv4Network, first: IPv4Address, after: IPv4Address, taken: Container[IPv4Address]
) -> IPv4Address | None:
    """The first one from `after` on, around the end of the range to its beginning; the broadcast
    address is nobody's.
    """
    start, end = int(first), int(within.broadcast_address)
    count = end - start
    if count <= 0:
        return None
    offset = (int(after) + 1 - start) % count
    for step in range(count):
        candidate = IPv4Address(start + (offset + step) % count)
        if candidate not in taken:
            return candidate
    return None


class Leases:
    def __init__(self, folder: Path, within: IPv4Network, first: IPv4Address) -> None:
        """Reads what is there: the folder is made if it is not."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._root = Root.open(folder)
        self._within = within
        self._first = first
        self._by_uid = self._read()
        # Nobody knows what was given back just before a start, so it begins anywhere.
        self._last = within[secrets.randbelow(within.num_addresses)]

    def close(self) -> None:
        self._root.close()

    @property
    def all(self) -> Mapping[str, Lease]:
        return self._by_uid

    def get(self, uid: str) -> Lease | None:
        return self._by_uid.get(uid)

    def take(self, uid: str, node: str, pod: str) -> Lease:
        """The pod's, given now if it has none."""
        if found := self._by_uid.get(uid):
            return found
        taken = {IPv4Address(each.address) for each in self._by_uid.values()}
        address = next_free(self._within, self._first, self._last, taken)
        if address is None:
            raise NoFreeAddress(f"all {len(taken)} addresses of {self._within} are given out")
        lease = Lease(uid=uid, address=str(address), node=node, pod=pod)
        # Not durable: after a loss of power, nothing that had an address is left.
        self._root.write(_file(uid), msgspec.json.encode(lease), durable=False)
        self._by_uid[uid] = lease
        self._last = address
        return lease

    def give_back(self, uid: str) -> None:
        self._root.unlink(_file(uid), missing_ok=True)
        self._by_uid.pop(uid, None)

    def _read(self) -> dict[str, Lease]:
        found: dict[str, Lease] = {}
        taken: set[str] = set()
        for name in self._root.listdir(limit=_MOST):
            lease = self._decoded(name) if name.endswith(_SUFFIX) else None
            if lease is None or lease.address in taken or _file(lease.uid) != name:
                # Begun when somebody was killed, cut short by a loss of power, or of another range.
                log.warning("a lease that means nothing is removed", file=name)
                self._root.unlink(name, missing_ok=True)
                continue
            taken.add(lease.address)
            found[lease.uid] = lease
        return found

    def _decoded(self, name: str) -> Lease | None:
        try:
            lease = msgspec.json.decode(self._root.read(name, limit=_LIMIT), type=Lease)
            is_ours = IPv4Address(lease.address) in self._within
        except (msgspec.DecodeError, ValueError):
            return None
        return lease if is_ours else None


def _file(uid: str) -> str:
    """UIDs are the server's, and still no path."""
    return f"{''.join(each for each in uid if each.isalnum() or each == '-')[:64]}{_SUFFIX}"
