"""Names of links in a pod. A kernel takes fifteen characters, so a network's own name is hashed."""

import hashlib
import re
from typing import Final

from kubevirt.api.interfaces import Network
from kubevirt.virt.errors import UnsafeNameError

NAME_LIMIT: Final = 15
PRIMARY_LINK: Final = "eth0"
PRIMARY_TAP: Final = "tap0"
HASHED_PREFIX: Final = "pod"
HASH_LENGTH: Final = 11

_LINK: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,14}")


def is_primary(network: Network) -> bool:
    """The pod's own network, or the Multus network that takes its place."""
    return network.pod is not None or bool(network.multus and network.multus.default)


def pod_link(network: Network) -> str:
    """The pod's end of a network, as the CNI plugin was asked to call it."""
    if is_primary(network):
        return PRIMARY_LINK
    return HASHED_PREFIX + hashlib.sha256(network.name.encode()).hexdigest()[:HASH_LENGTH]


def bridge(link: str) -> str:
    return checked_link(f"k6t-{link.removeprefix(HASHED_PREFIX)}")


def tap(network: Network) -> str:
    if is_primary(network):
        return PRIMARY_TAP
    return checked_link(f"tap{pod_link(network).removeprefix(HASHED_PREFIX)}")


def moved_link(link: str) -> str:
    """What a pod's link is called while a dummy bears its name."""
    return checked_link(f"{link.removeprefix(HASHED_PREFIX)}-nic")


def checked_link(name: str) -> str:
    """The name, if a kernel, nft and dnsmasq all take it for nothing but a name."""
    if not _LINK.fullmatch(name):
        raise UnsafeNameError("network link", name)
    return name
