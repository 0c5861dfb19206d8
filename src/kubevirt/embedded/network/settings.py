"""What a home's network is made of: everything on the machine that has a name has it from here."""

import hashlib
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path
from typing import Final

import msgspec

RESOLVER_FILES: Final = (Path("/etc/resolv.conf"), Path("/run/systemd/resolve/resolv.conf"))
DNS_HOST: Final = 10
"""Which address of the services' range it has, as kubeadm chooses it."""
_FIRST_POD: Final = 16
"""Below it are the machine's and the nodes' own."""


class NetworkSettings(msgspec.Struct, frozen=True, kw_only=True):
    folder: Path
    """Of what must be found again; nobody else's."""
    api_port: int
    """Of the API server, on the loopback address and on the gateway's."""
    home_id: str = ""
    """Eight hex digits that set its names apart from other homes'; empty for the default home."""
    nodes: Sequence[str] = ("node01",)
    """The first one is the machine itself; others have a network namespace each."""
    pods: str = "10.244.0.0/16"
    services: str = "10.96.0.0/16"
    domain: str = "cluster.local"
    resolver_files: Sequence[Path] = RESOLVER_FILES
    """The machine's resolv.conf, and where else to look if that leads to its loopback."""

    @property
    def gateway_link(self) -> str:
        return f"kvpy-{self.home_id}" if self.home_id else "kvpy0"

    @property
    def link_prefix(self) -> str:
        """Of the machine's ends of all cables, and of nobody else's: rules know them by it."""
        return f"kvp{self.home_id[:4]}" if self.home_id else "kvp-"

    @property
    def table(self) -> str:
        return f"kubevirt-embedded-{self.home_id}" if self.home_id else "kubevirt-embedded"

    @property
    def gateway_mac(self) -> str:
        """By it the link is known to be ours."""
        digits = hashlib.sha256(f"gateway of {self.folder}".encode()).hexdigest()[:8]
        return f"0a:5b:{':'.join(digits[at : at + 2] for at in range(0, 8, 2))}"

    @property
    def pod_range(self) -> IPv4Network:
        return IPv4Network(self.pods)

    @property
    def service_range(self) -> IPv4Network:
        return IPv4Network(self.services)

    @property
    def gateway(self) -> IPv4Address:
        """The machine's, as pods know it, which is the first node's, too."""
        return self.pod_range[1]

    @property
    def dns_address(self) -> IPv4Address:
        return self.service_range[DNS_HOST]

    @property
    def first_pod(self) -> IPv4Address:
        return self.pod_range[_FIRST_POD]

    def node_address(self, node: str) -> IPv4Address:
        return self.pod_range[1 + list(self.nodes).index(node)]

    def link(self, uid: str) -> str:
        """The machine's end of a pod's cable."""
        return f"{self.link_prefix}{hashlib.sha256(uid.encode()).hexdigest()[:8]}"


def mac_of(address: IPv4Address) -> str:
    """Follows from the address, so that whoever remembers an old neighbour is right all the same."""
    return "0a:58:" + ":".join(f"{each:02x}" for each in address.packed)
