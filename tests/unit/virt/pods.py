"""Pods for network tests: a spec with interfaces, and what their CNI plugins left behind."""

from typing import Any

from tests.unit.virt.domain_cases import a_vmi

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.virt.network.facts import PodFacts, PodLink, Route
from kubevirt.virt.network.plan import InterfacePlan
from kubevirt.virt.network.planning import plan_network

ETH0 = PodLink(
    name="eth0",
    mac="0a:58:0a:f4:01:05",
    mtu=1450,
    addresses=("10.244.1.5/24", "fe80::858:aff:fef4:105/64"),
    routes=(
        Route(destination="0.0.0.0/0", gateway="10.244.1.1"),
        Route(destination="10.244.1.0/24"),
    ),
)
DUAL_STACK = PodLink(
    name="eth0",
    mac=ETH0.mac,
    mtu=1450,
    addresses=("10.244.1.5/24", "fd00:10:244:1::5/64"),
)


def a_pod(*links: PodLink, **facts: Any) -> PodFacts:
    resolver = {
        "nameservers": ("10.96.0.10", "fd00:10:96::a"),
        "search_domains": ("default.svc.cluster.local", "svc.cluster.local", "cluster.local"),
    }
    return PodFacts(links={link.name: link for link in links or (ETH0,)}, **(resolver | facts))


def a_guest(*interfaces: dict[str, Any], **patch: Any) -> VirtualMachineInstance:
    """Each interface on the network of its name: the pod's for `default`, else one of Multus."""
    networks = [{"name": each["name"], **each.pop("network", {"pod": {}})} for each in interfaces]
    devices = {"interfaces": list(interfaces), **patch.pop("devices", {})}
    domain = {"devices": devices, **patch.pop("domain", {})}
    return a_vmi({"spec": {"domain": domain, "networks": networks, **patch}})


def the_plan(interface: dict[str, Any], pod: PodFacts | None = None, **patch: Any) -> InterfacePlan:
    (plan,) = plan_network(a_guest({"name": "default", **interface}, **patch), pod or a_pod())
    return plan
