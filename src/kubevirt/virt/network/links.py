"""Links of a plan, in the order in which they are made. Each is told apart by its type."""

import msgspec


class Bridge(msgspec.Struct, frozen=True, kw_only=True, tag="bridge"):
    name: str
    mac: str
    mtu: int
    addresses: tuple[str, ...] = ()
    tx_checksum: bool = False
    """Off: the guest's DHCP client drops packets whose checksum is left to hardware."""


class Tap(msgspec.Struct, frozen=True, kw_only=True, tag="tap"):
    """Made with multiqueue, even for one queue less than two, only if `queues` is above 0."""

    name: str
    bridge: str
    mtu: int
    queues: int = 0
    owner: int = 107


class MovedLink(msgspec.Struct, frozen=True, kw_only=True, tag="moved"):
    """The pod's own link: renamed, given another MAC, stripped of addresses, put on the bridge."""

    original: str
    name: str
    bridge: str
    mac: str
    learning: bool = False
    """Off: else the bridge would learn the guest's MAC on the wrong side after a migration."""


class Dummy(msgspec.Struct, frozen=True, kw_only=True, tag="dummy"):
    """Bears the name and address of the moved link, for whoever looks for them in the pod."""

    name: str
    mac: str
    mtu: int
    addresses: tuple[str, ...] = ()


Link = Bridge | Tap | MovedLink | Dummy


class Sysctl(msgspec.Struct, frozen=True, kw_only=True):
    """A setting of the pod's network namespace."""

    key: str
    """Path below /proc/sys."""
    value: str
