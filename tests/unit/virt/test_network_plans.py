"""Masquerade and bridge: links, rules, leases, and the way back."""

from typing import Any

import pytest
from tests.unit.virt.pods import DUAL_STACK, ETH0, a_guest, a_pod, the_plan

from kubevirt.base.errors import UserError
from kubevirt.virt.convert.facts import InterfaceFacts
from kubevirt.virt.network import names
from kubevirt.virt.network.addresses import derived_mac
from kubevirt.virt.network.dhcp import V4Lease, V6Lease
from kubevirt.virt.network.facts import PodLink, Route
from kubevirt.virt.network.links import Bridge, Dummy, MovedLink, Sysctl, Tap
from kubevirt.virt.network.plan import InterfacePlan, Teardown, undo
from kubevirt.virt.network.planning import plan_network

UID = "f4686d2c-6e8d-4335-b8fd-81bee22f4814"
MACHINE = "e4686d2c-6e8d-4335-b8fd-81bee22f4814"


def rules(plan: InterfacePlan, family: str = "ip") -> dict[str, list[str]]:
    """The rules of a plan in words close to nft's, by chain."""
    assert plan.ruleset is not None
    found: dict[str, list[str]] = {}
    for command in plan.ruleset["nftables"]:
        rule = command.get("add", {}).get("rule")
        if rule and rule["family"] == family:
            words = " ".join(filter(None, map(in_words, rule["expr"])))
            found.setdefault(rule["chain"], []).append(words)
    return found


def in_words(expression: dict[str, Any]) -> str:
    ((kind, value),) = expression.items()
    if kind == "match":
        ((_, left),) = value["left"].items()
        name = left.get("key") or f"{left['protocol']} {left['field']}"
        right = value["right"]
        return f"{name} {right['set'] if isinstance(right, dict) and 'set' in right else right}"
    if kind in {"dnat", "snat"}:
        return f"{kind} to {value['addr']}"
    if kind == "jump":
        return f"jump {value['target']}"
    return "" if kind == "counter" else kind


def test_masquerade_puts_a_bridge_and_a_tap_beside_the_pods_link() -> None:
    plan = the_plan({"masquerade": {}})
    assert plan.links == (
        Bridge(name="k6t-eth0", mac="02:00:00:00:00:00", mtu=1450, addresses=("10.0.2.1/24",)),
        Tap(name="tap0", bridge="k6t-eth0", mtu=1450),
    )
    assert plan.sysctls == (
        Sysctl(key="net/ipv4/ip_forward", value="1"),
        Sysctl(key="net/ipv4/conf/k6t-eth0/route_localnet", value="1"),
    )
    mac = derived_mac(MACHINE, "default")
    assert plan.card == InterfaceFacts(tap="tap0", mac=mac, mtu=1450)
    assert plan.restores is None


def test_a_machine_keeps_its_mac_when_it_starts_again() -> None:
    first = the_plan({"masquerade": {}})
    second = the_plan({"masquerade": {}}, domain={"firmware": {"uuid": MACHINE}})
    other = the_plan({"masquerade": {}}, domain={"firmware": None})
    assert first.card.mac == second.card.mac
    assert other.card.mac == derived_mac(UID, "default")


def test_masquerade_sends_everything_to_the_guest_unless_ports_are_named() -> None:
    assert rules(the_plan({"masquerade": {}})) == {
        "postrouting": [
            "ip saddr 10.0.2.2 masquerade",
            "oifname k6t-eth0 jump KUBEVIRT_POSTINBOUND",
        ],
        "prerouting": ["iifname eth0 jump KUBEVIRT_PREINBOUND"],
        "KUBEVIRT_PREINBOUND": ["dnat to 10.0.2.2"],
        "KUBEVIRT_POSTINBOUND": ["ip saddr 127.0.0.1 snat to 10.0.2.1"],
        "output": ["ip daddr 127.0.0.1 dnat to 10.0.2.2"],
    }


def test_named_ports_alone_reach_the_guest() -> None:
    ports = [{"port": 80}, {"port": 53, "protocol": "UDP", "name": "dns"}]
    found = rules(the_plan({"masquerade": {}, "ports": ports}))
    assert found["KUBEVIRT_PREINBOUND"] == [
        "tcp dport 80 dnat to 10.0.2.2",
        "udp dport 53 dnat to 10.0.2.2",
    ]
    assert found["KUBEVIRT_POSTINBOUND"] == [
        "tcp dport 80 ip saddr 127.0.0.1 snat to 10.0.2.1",
        "udp dport 53 ip saddr 127.0.0.1 snat to 10.0.2.1",
    ]
    assert found["output"] == [
        "ip daddr 127.0.0.1 tcp dport 80 dnat to 10.0.2.2",
        "ip daddr 127.0.0.1 udp dport 53 dnat to 10.0.2.2",
    ]


def test_port_ranges_are_one_rule() -> None:
    ranges = [{"start": 8000, "end": 8100, "protocol": "TCP"}]
    found = rules(the_plan({"masquerade": {}, "portRanges": ranges}))
    assert found["KUBEVIRT_PREINBOUND"] == ["tcp dport {'range': [8000, 8100]} dnat to 10.0.2.2"]


def test_two_families_are_two_tables_in_one_transaction() -> None:
    plan = the_plan({"masquerade": {}}, a_pod(DUAL_STACK))
    assert plan.links[0] == Bridge(
        name="k6t-eth0",
        mac="02:00:00:00:00:00",
        mtu=1450,
        addresses=("10.0.2.1/24", "fd10:0:2::1/120"),
    )
    assert rules(plan, "ip6") == {
        "postrouting": [
            "ip6 saddr fd10:0:2::2 masquerade",
            "oifname k6t-eth0 jump KUBEVIRT_POSTINBOUND",
        ],
        "prerouting": ["iifname eth0 jump KUBEVIRT_PREINBOUND"],
        "KUBEVIRT_PREINBOUND": ["dnat to fd10:0:2::2"],
        "KUBEVIRT_POSTINBOUND": ["ip6 saddr ::1 snat to fd10:0:2::1"],
        "output": ["ip6 daddr ::1 dnat to fd10:0:2::2"],
    }
    assert rules(plan, "ip")["KUBEVIRT_PREINBOUND"] == ["dnat to 10.0.2.2"]
    assert plan.sysctls[-1] == Sysctl(key="net/ipv6/conf/all/forwarding", value="1")
    assert plan.dhcp is not None
    assert plan.dhcp.v6 == V6Lease(
        address="fd10:0:2::2", prefix_length=120, nameservers=("fd00:10:96::a",)
    )


def test_a_pod_with_ipv6_only_has_a_guest_with_ipv6_only() -> None:
    link = PodLink(name="eth0", mac=ETH0.mac, mtu=1450, addresses=("fd00::5/64",))
    plan = the_plan({"masquerade": {}}, a_pod(link))
    assert plan.dhcp is not None
    assert plan.dhcp.v4 is None
    assert rules(plan) == {}
    assert [sysctl.key for sysctl in plan.sysctls] == ["net/ipv6/conf/all/forwarding"]


def test_the_range_between_pod_and_guest_can_be_chosen() -> None:
    network = {"pod": {"vmNetworkCIDR": "192.168.7.9/29", "vmIPv6NetworkCIDR": "fd00:7::/64"}}
    plan = the_plan({"masquerade": {}, "network": network}, a_pod(DUAL_STACK))
    assert isinstance(plan.links[0], Bridge)
    assert plan.links[0].addresses == ("192.168.7.9/29", "fd00:7::1/64")
    assert rules(plan)["KUBEVIRT_PREINBOUND"] == ["dnat to 192.168.7.10"]


def test_a_mesh_keeps_its_ports_and_gets_the_traffic_first() -> None:
    found = rules(the_plan({"masquerade": {}}, a_pod(istio=True)))
    own = "[15000, 15001, 15004, 15006, 15008, 15009, 15020, 15021, 15053, 15090]"
    assert found["KUBEVIRT_PREINBOUND"] == ["tcp dport 22 dnat to 10.0.2.2"]
    assert found["output"] == [
        f"tcp dport {own} ip saddr 127.0.0.1 return",
        "ip daddr ['127.0.0.1', '10.244.1.5'] dnat to 10.0.2.2",
    ]
    assert found["KUBEVIRT_POSTINBOUND"] == [
        f"tcp dport {own} ip saddr 127.0.0.1 return",
        "ip saddr ['127.0.0.1', '127.0.0.6'] snat to 10.0.2.1",
    ]


def test_a_mesh_proxies_named_ports_but_for_ssh() -> None:
    ports = [{"port": 80}, {"port": 22}]
    found = rules(the_plan({"masquerade": {}, "ports": ports}, a_pod(istio=True)))
    assert found["KUBEVIRT_PREINBOUND"] == ["tcp dport 22 dnat to 10.0.2.2"]
    assert len(found["output"]) == 2


def test_applying_a_ruleset_again_replaces_it() -> None:
    plan = the_plan({"masquerade": {}})
    assert plan.ruleset is not None
    commands = [next(iter(command)) for command in plan.ruleset["nftables"]]
    assert commands[0] == "metainfo"
    assert commands.index("flush") < len(commands) - commands[::-1].index("flush")
    first_rule = next(
        number
        for number, command in enumerate(plan.ruleset["nftables"])
        if "rule" in command.get("add", {})
    )
    assert "flush" not in commands[first_rule:]
    assert commands[:first_rule].count("flush") == 6


def test_the_way_back_from_masquerade_leaves_nothing() -> None:
    back = undo(the_plan({"masquerade": {}}))
    assert back.deleted == ("tap0", "k6t-eth0")
    assert back.moved is None
    assert back.ruleset is not None
    assert back.ruleset["nftables"][-1] == {"delete": {"table": {"family": "ip", "name": "nat"}}}


def test_the_way_back_spares_the_table_of_a_mesh() -> None:
    back = undo(the_plan({"masquerade": {}}, a_pod(istio=True)))
    assert back.ruleset is not None
    deleted = [command["delete"] for command in back.ruleset["nftables"] if "delete" in command]
    assert len(deleted) == 6
    assert all("chain" in each for each in deleted)


def test_queues_follow_the_vcpus() -> None:
    many: dict[str, Any] = {
        "devices": {"networkInterfaceMultiqueue": True},
        "domain": {"cpu": {"cores": 3}},
    }
    plan = the_plan({"masquerade": {}}, **many)
    assert plan.queues == 3
    assert plan.links[1] == Tap(name="tap0", bridge="k6t-eth0", mtu=1450, queues=3)
    emulated = the_plan({"masquerade": {}, "model": "e1000e"}, **many)
    assert emulated.queues == 0


def test_vhost_is_used_where_it_is() -> None:
    plan = the_plan({"masquerade": {}}, a_pod(vhost_net=True, owner=1001))
    assert plan.card.vhost
    assert isinstance(plan.links[1], Tap)
    assert plan.links[1].owner == 1001


def test_the_guests_lease_knows_the_gateway_and_the_pods_resolver() -> None:
    plan = the_plan({"masquerade": {}, "macAddress": "02-00-5E-00-00-01"}, subdomain="web")
    assert plan.dhcp is not None
    assert plan.dhcp.v4 == V4Lease(
        address="10.0.2.2",
        prefix_length=24,
        server="10.0.2.1",
        router="10.0.2.1",
        nameservers=("10.96.0.10",),
    )
    assert plan.dhcp.mac == "02:00:5e:00:00:01"
    assert plan.dhcp.hostname == "testvm"
    assert plan.dhcp.search[0] == "web.default.svc.cluster.local"
    assert plan.dhcp.domain == "web.default.svc.cluster.local"


def test_a_subdomain_that_is_there_is_not_added_again() -> None:
    pod = a_pod(search_domains=("web.default.svc.cluster.local", "default.svc.cluster.local"))
    plan = the_plan({"masquerade": {}}, pod, subdomain="web")
    assert plan.dhcp is not None
    assert plan.dhcp.search == pod.search_domains


def test_the_bridge_binding_gives_the_pods_place_to_the_guest() -> None:
    plan = the_plan({"bridge": {}})
    other = derived_mac(UID, "default", "link")
    assert plan.links == (
        Bridge(name="k6t-eth0", mac=other, mtu=1450, addresses=("169.254.75.10/32",)),
        MovedLink(original="eth0", name="eth0-nic", bridge="k6t-eth0", mac=other),
        Tap(name="tap0", bridge="k6t-eth0", mtu=1450),
        Dummy(name="eth0", mac=ETH0.mac, mtu=1450, addresses=ETH0.addresses),
    )
    assert plan.sysctls == (Sysctl(key="net/ipv4/conf/all/arp_ignore", value="1"),)
    assert plan.ruleset is None
    assert plan.card == InterfaceFacts(tap="tap0", mac=ETH0.mac, mtu=1450)
    assert plan.dhcp is not None
    assert plan.dhcp.v4 == V4Lease(
        address="10.244.1.5",
        prefix_length=24,
        server="169.254.75.10",
        router="10.244.1.1",
        nameservers=("10.96.0.10",),
        is_foreign=True,
    )


def test_routes_beyond_the_default_are_handed_on_with_it_at_the_end() -> None:
    link = PodLink(
        name="eth0",
        mac=ETH0.mac,
        mtu=1450,
        addresses=ETH0.addresses,
        routes=(
            *ETH0.routes,
            Route(destination="10.96.0.0/12", gateway="10.244.1.1"),
            Route(destination="169.254.1.1/32"),
            Route(destination="fd00::/64"),
        ),
    )
    plan = the_plan({"bridge": {}}, a_pod(link))
    assert plan.dhcp is not None
    assert plan.dhcp.v4 is not None
    assert [route.destination for route in plan.dhcp.v4.routes] == [
        "10.96.0.0/12",
        "169.254.1.1/32",
        "0.0.0.0/0",
    ]


def test_without_a_default_route_the_guest_has_no_router() -> None:
    link = PodLink(name="eth0", mac=ETH0.mac, mtu=1450, addresses=ETH0.addresses)
    plan = the_plan({"bridge": {}}, a_pod(link))
    assert plan.dhcp is not None
    assert plan.dhcp.v4 is not None
    assert plan.dhcp.v4.router is None


def test_a_network_without_addresses_has_a_server_of_its_own() -> None:
    network = {"multus": {"networkName": "lab"}}
    name = names.pod_link(a_guest({"name": "lab", "network": network}).spec.networks[0])
    link = PodLink(name=name, mac="02:00:00:00:00:07", mtu=9000)
    (plan,) = plan_network(a_guest({"name": "lab", "bridge": {}, "network": network}), a_pod(link))
    assert plan.dhcp is None
    assert plan.sysctls == ()
    assert isinstance(plan.links[0], Bridge)
    assert plan.links[0].addresses == ()
    assert all(len(each.name) <= 15 for each in plan.links)


def test_the_way_back_from_the_bridge_gives_the_link_its_name_and_address() -> None:
    plan = the_plan({"bridge": {}})
    moved = plan.links[1]
    assert isinstance(moved, MovedLink)
    assert undo(plan) == Teardown(deleted=("eth0", "tap0", "k6t-eth0"), moved=moved, restores=ETH0)


def test_each_interface_has_a_server_address_of_its_own() -> None:
    lab = {"multus": {"networkName": "lab"}}
    guest = a_guest(
        {"name": "default", "masquerade": {}}, {"name": "lab", "bridge": {}, "network": lab}
    )
    name = names.pod_link(guest.spec.networks[1])
    link = PodLink(name=name, mac="02:00:00:00:00:07", mtu=1500, addresses=("192.0.2.5/24",))
    _, plan = plan_network(guest, a_pod(ETH0, link))
    assert isinstance(plan.links[0], Bridge)
    assert plan.links[0].addresses == ("169.254.75.11/32",)


def test_names_are_those_of_upstream() -> None:
    guest = a_guest(
        {"name": "default"},
        {"name": "blue", "network": {"multus": {"networkName": "x"}}},
        {"name": "main", "network": {"multus": {"networkName": "x", "default": True}}},
    )
    pod, blue, main = guest.spec.networks
    assert names.pod_link(pod) == names.pod_link(main) == "eth0"
    assert names.pod_link(blue) == "pod16477688c0e"
    assert names.bridge(names.pod_link(blue)) == "k6t-16477688c0e"
    assert names.tap(blue) == "tap16477688c0e"
    assert names.moved_link(names.pod_link(blue)) == "16477688c0e-nic"
    assert names.tap(pod) == "tap0"


def test_others_look_after_themselves() -> None:
    guest = a_guest(
        {"name": "default", "masquerade": {}, "state": "absent"},
        {"name": "fast", "sriov": {}},
        {"name": "own", "binding": {"name": "plugin"}},
    )
    assert plan_network(guest, a_pod()) == ()


@pytest.mark.parametrize(
    ("interface", "sentence"),
    [
        (
            {"masquerade": {}, "macAddress": "02:00:00:00:00:00"},
            "is reserved for the in-pod bridge",
        ),
        ({"masquerade": {}, "macAddress": "01:00:5e:00:00:01"}, "addresses a group of machines"),
        ({"masquerade": {}, "macAddress": "02:00:00"}, "has the MAC address '02:00:00'"),
        ({"masquerade": {}, "ports": [{"port": 0}]}, "Port field must be in range 0 < x < 65536"),
        ({"masquerade": {}, "ports": [{"port": 65536}]}, "Port field must be in range"),
        (
            {"masquerade": {}, "ports": [{"port": 1, "protocol": "SCTP"}]},
            "Unknown protocol, only TCP or UDP allowed, not 'SCTP'",
        ),
        (
            {"masquerade": {}, "portRanges": [{"start": 9, "end": 8, "protocol": "TCP"}]},
            "the port range 9 to 8 ends before it starts",
        ),
        (
            {
                "masquerade": {},
                "ports": [{"port": 1}],
                "portRanges": [{"start": 1, "end": 2, "protocol": "TCP"}],
            },
            "has both ports and portRanges",
        ),
        (
            {"masquerade": {}, "network": {"pod": {"vmNetworkCIDR": "10.0.2.0/31"}}},
            "VM CIDR subnet is too small, at least 2 host addresses are required: '10.0.2.0/31'",
        ),
        (
            {"masquerade": {}, "network": {"pod": {"vmNetworkCIDR": "somewhere"}}},
            "failed to parse VM CIDR: 'somewhere'",
        ),
        (
            {"masquerade": {}, "network": {"pod": {"vmNetworkCIDR": "fd00::/64"}}},
            "vmNetworkCIDR 'fd00::/64' is not an IPv4 range",
        ),
        (
            {"masquerade": {}, "network": {"multus": {"networkName": "x", "default": True}}},
            "Masquerade interface only implemented with pod network",
        ),
        ({"masquerade": {}, "bridge": {}}, "must have exactly one binding method"),
        (
            {"bridge": {}, "network": {"multus": {"networkName": "x"}}},
            r"pod link \(pod37a8eec1ce1\) is missing",
        ),
        (
            {"masquerade": {}, "dhcpOptions": {"ntpServers": ["time.example"]}},
            "NTP servers must be a list of valid IPv4 addresses.",
        ),
        (
            {"masquerade": {}, "dhcpOptions": {"ntpServers": ["192.0.2.1"] * 64}},
            "64 NTP servers are given; 63 are the most",
        ),
        (
            {
                "masquerade": {},
                "dhcpOptions": {"privateOptions": [{"option": 223, "value": "x"}]},
            },
            "must be in range 224 to 254",
        ),
        (
            {
                "masquerade": {},
                "dhcpOptions": {
                    "privateOptions": [{"option": 240, "value": "x"}, {"option": 240, "value": "y"}]
                },
            },
            "you have provided duplicate DHCPPrivateOptions",
        ),
        (
            {"masquerade": {}, "dhcpOptions": {"bootFileName": "x" * 256}},
            "the value of DHCP option 67 has 256 bytes; 255 are the most",
        ),
    ],
)
def test_a_network_that_cannot_be_is_refused(interface: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        the_plan(interface)


def test_an_ipv6_range_must_be_one() -> None:
    network = {"pod": {"vmIPv6NetworkCIDR": "10.0.0.0/8"}}
    with pytest.raises(UserError, match=r"vmIPv6NetworkCIDR '10.0.0.0/8' is not an IPv6 range"):
        the_plan({"masquerade": {}, "network": network}, a_pod(DUAL_STACK))


def test_a_pod_without_address_cannot_hide_a_guest() -> None:
    link = PodLink(name="eth0", mac=ETH0.mac, mtu=1450, addresses=("fe80::1/64", "127.0.0.1/8"))
    with pytest.raises(UserError, match="the pod's link eth0 has no address to hide the guest"):
        the_plan({"masquerade": {}}, a_pod(link))


def test_an_interface_without_network_is_refused() -> None:
    guest = a_guest({"name": "default", "masquerade": {}}, networks=[])
    with pytest.raises(UserError, match="failed to find network 'default'"):
        plan_network(guest, a_pod())
