"""The cluster's network: one bridge in the control plane's namespace, a link to each node and one
to the host.

    host ── kvupN ─┐                      10.N.0.254
                   ├─ bridge (control plane) 10.N.0.1   API server, registry, DNS
    node01 ── eth0 ┤                      10.N.0.11  pods 10.N.129.0/24
    node02 ── eth0 ┘                      10.N.0.12  pods 10.N.130.0/24

Everything but the host's end lies in namespaces and vanishes with them; the host's end vanishes
with its peer. The host gets an address on that link and nothing else: no forwarding, no filter
rule, no route beyond the link's own.
"""

import contextlib
import ipaddress
import json
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from clusterup import errors, machines, processes, waiting

_CANDIDATES = range(200, 250)
_ALIAS = "kubevirt-cluster-up/"
_BRIDGE = "cluster"
_CLAIM = "\0kubevirt-cluster-up-network"
_CLAIM_LIMIT_S = 300.0


@dataclass(frozen=True)
class Plan:
    """Who has which address. `number` is the second octet of everything."""

    number: int
    nodes: int

    @property
    def host_link(self) -> str:
        return f"kvup{self.number}"

    @property
    def control_plane(self) -> str:
        return f"10.{self.number}.0.1"

    @property
    def host(self) -> str:
        return f"10.{self.number}.0.254"

    @property
    def pods(self) -> str:
        return f"10.{self.number}.128.0/17"

    def node(self, index: int) -> str:
        return f"10.{self.number}.0.{10 + index}"

    def node_pods(self, index: int) -> str:
        return f"10.{self.number}.{128 + index}.0/24"


@contextlib.asynccontextmanager
async def claim() -> AsyncIterator[None]:
    """Keep others from choosing a network until ours is in use. The claim is a socket name without
    a file, so it goes when we do.
    """
    with socket.socket(socket.AF_UNIX) as holder:

        async def is_ours() -> bool:
            with contextlib.suppress(OSError):
                holder.bind(_CLAIM)
                return True
            return False

        await waiting.until(is_ours, limit_s=_CLAIM_LIMIT_S, what="another cluster-up goes on")
        yield


async def choose(nodes: int) -> Plan:
    """A network that no route of this machine knows."""
    taken = [_network(route) for route in await _ip("-4", "route", "show", "table", "all")]
    for number in _CANDIDATES:
        network = ipaddress.ip_network(f"10.{number}.0.0/16")
        if not any(other and network.overlaps(other) for other in taken):
            return Plan(number, nodes)
    raise errors.Missing(
        f"all networks from 10.{_CANDIDATES.start}.0.0/16 to 10.{_CANDIDATES.stop - 1}.0.0/16 are in "
        "use by routes of this machine, and the cluster needs one to be reached; remove one of the "
        "routes (`ip route`) or bring down another cluster"
    )


def _network(route: dict[str, Any]) -> ipaddress.IPv4Network | None:
    destination = route.get("dst", "default")
    return None if destination == "default" else ipaddress.IPv4Network(destination)


async def connect(
    plan: Plan, cluster: str, control: machines.Machine, nodes: list[machines.Machine]
) -> None:
    """Make the links, addresses and routes between machines that have just started."""
    await control.run("ip", "-batch", "-", stdin="\n".join(_control_plane_links(plan)))
    await processes.run(
        *("ip", "link", "add", plan.host_link, "type", "veth"),
        *("peer", "name", "host", "netns", str(control.pid)),
    )
    await processes.run(
        "ip", "-batch", "-", stdin="\n".join(_host_links(plan, cluster, nodes, control))
    )
    await control.run("ip", "-batch", "-", stdin="\n".join(_control_plane_ports(plan)))
    for index, node in enumerate(nodes, start=1):
        await node.run("ip", "-batch", "-", stdin="\n".join(_node_links(plan, index)))
    for machine in (control, *nodes):
        await machine.run("/bin/sh", "-c", _SYSCTLS)


# A namespace starts with the host's or the kernel's defaults; these make it route for pods.
_SYSCTLS = """
echo 1 >/proc/sys/net/ipv4/ip_forward
for each in /proc/sys/net/ipv4/conf/*/rp_filter; do echo 0 >"$each"; done
"""


def _control_plane_links(plan: Plan) -> list[str]:
    return [
        "link set lo up",
        f"link add {_BRIDGE} type bridge",
        f"address add {plan.control_plane}/24 dev {_BRIDGE}",
        f"link set {_BRIDGE} up",
    ]


def _host_links(
    plan: Plan, cluster: str, nodes: list[machines.Machine], control: machines.Machine
) -> list[str]:
    return [
        # The alias tells whose link it is, also after a crash that left no record.
        f"link set {plan.host_link} alias {_ALIAS}{cluster}",
        f"address add {plan.host}/24 dev {plan.host_link}",
        f"link set {plan.host_link} up",
        *(
            f"link add name {node.name} netns {control.pid} type veth "
            f"peer name eth0 netns {node.pid}"
            for node in nodes
        ),
    ]


def _control_plane_ports(plan: Plan) -> list[str]:
    names = ["host", *(machines.node_name(index) for index in range(1, plan.nodes + 1))]
    return [
        *(f"link set {name} master {_BRIDGE} up" for name in names),
        *_pod_routes(plan, but=0),
    ]


def _node_links(plan: Plan, index: int) -> list[str]:
    return [
        "link set lo up",
        f"address add {plan.node(index)}/24 dev eth0",
        "link set eth0 up",
        f"route add default via {plan.control_plane}",
        *_pod_routes(plan, but=index),
    ]


def _pod_routes(plan: Plan, *, but: int) -> list[str]:
    return [
        f"route add {plan.node_pods(index)} via {plan.node(index)}"
        for index in range(1, plan.nodes + 1)
        if index != but
    ]


async def links_of(cluster: str) -> list[str]:
    """The host's ends of links to a cluster of that name."""
    return [
        link["ifname"]
        for link in await _ip("link", "show")
        if link.get("ifalias") == f"{_ALIAS}{cluster}"
    ]


async def remove_links(cluster: str) -> None:
    for name in await links_of(cluster):
        # Its peer's namespace may take it away at the same moment.
        await processes.run("ip", "link", "delete", name, check=False)


async def _ip(*words: str) -> list[dict[str, Any]]:
    said = (await processes.run("ip", "-json", *words)).stdout
    entries: list[dict[str, Any]] = json.loads(said or "[]")
    return entries
