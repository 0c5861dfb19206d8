"""What is known of a pod's network before a guest is put into it."""

from collections.abc import Mapping

import msgspec

from kubevirt.api.struct import NO_ENTRIES


class Route(msgspec.Struct, frozen=True, kw_only=True):
    destination: str
    """A network in CIDR form; 0.0.0.0/0 is the default route."""
    gateway: str | None = None
    """None if the destination is on the link."""


class PodLink(msgspec.Struct, frozen=True, kw_only=True):
    """A link that a CNI plugin has made."""

    name: str
    mac: str
    mtu: int
    addresses: tuple[str, ...] = ()
    """With prefix length, such as 10.244.1.5/24 and fd00:10:244::5/64."""
    routes: tuple[Route, ...] = ()


class PodFacts(msgspec.Struct, frozen=True, kw_only=True):
    links: Mapping[str, PodLink] = NO_ENTRIES
    """By name."""
    nameservers: tuple[str, ...] = ()
    """Addresses from the pod's resolv.conf."""
    search_domains: tuple[str, ...] = ()
    owner: int = 107
    """User and group that may open the taps."""
    istio: bool = False
    """Whether a service mesh's proxy shares the pod's network."""
    vhost_net: bool = False
