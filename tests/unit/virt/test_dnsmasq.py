"""dnsmasq's file: complete for a guest, and closed to whoever writes its manifest."""

from typing import Any

import pytest
from tests.unit.virt.pods import DUAL_STACK, ETH0, a_pod, the_plan

from kubevirt.base.errors import UserError
from kubevirt.virt.network.dhcp import DhcpServer, RawOption, V4Lease, V6Lease
from kubevirt.virt.network.dnsmasq import config
from kubevirt.virt.network.facts import PodLink, Route

PREAMBLE = 10


def config_of(interface: dict[str, Any], *links: PodLink, **patch: Any) -> list[str]:
    plan = the_plan(interface, a_pod(*links), **patch)
    assert plan.dhcp is not None
    return config(plan.dhcp).splitlines()


def test_a_guest_behind_masquerade_gets_one_fixed_lease() -> None:
    lines = config_of({"masquerade": {}, "macAddress": "02:00:00:00:00:01"})
    assert lines[:PREAMBLE] == [
        "# One guest's DHCP server. Free text stands here as hexadecimal bytes, or quoted.",
        "port=0",
        "no-resolv",
        "no-hosts",
        "no-ping",
        "leasefile-ro",
        "dhcp-authoritative",
        "dhcp-ignore=tag:!known",
        "except-interface=lo",
        "bind-dynamic",
    ]
    search = "default.svc.cluster.local,svc.cluster.local,cluster.local"
    assert lines[PREAMBLE:] == [
        "interface=k6t-eth0",
        "dhcp-host=02:00:00:00:00:01,10.0.2.2,testvm,86313600",
        "dhcp-range=10.0.2.2,static,255.255.255.0,86313600",
        "dhcp-option=3,10.0.2.1",
        "dhcp-option-force=26,1450",
        "dhcp-option-force=6,10.96.0.10",
        f"dhcp-option-force=119,{search}",
        "dhcp-option-force=15,default.svc.cluster.local",
    ]


def test_a_guest_on_a_bridge_gets_the_pods_address_from_a_foreign_server() -> None:
    link = PodLink(
        name="eth0",
        mac=ETH0.mac,
        mtu=1500,
        addresses=ETH0.addresses,
        routes=(
            *ETH0.routes,
            Route(destination="10.96.0.0/12", gateway="10.244.1.1"),
            Route(destination="169.254.1.1/32"),
        ),
    )
    lines = config_of({"bridge": {}}, link)
    assert lines[PREAMBLE + 2 : PREAMBLE + 7] == [
        "dhcp-range=10.244.1.5,static,255.255.255.0,86313600",
        "shared-network=169.254.75.10,10.244.1.5",
        "dhcp-option=3,10.244.1.1",
        "dhcp-option-force=26,1500",
        "dhcp-option-force=6,10.96.0.10",
    ]
    routes = "10.96.0.0/12,10.244.1.1,169.254.1.1/32,0.0.0.0,0.0.0.0/0,10.244.1.1"
    assert f"dhcp-option-force=121,{routes}" in lines


def test_a_guest_without_router_is_not_told_of_one() -> None:
    link = PodLink(name="eth0", mac=ETH0.mac, mtu=1500, addresses=ETH0.addresses)
    assert "dhcp-option=3" in config_of({"bridge": {}}, link)


def test_a_guest_with_two_families_gets_two_addresses() -> None:
    lines = config_of({"masquerade": {}, "macAddress": "02:00:00:00:00:01"}, DUAL_STACK)
    assert "dhcp-host=02:00:00:00:00:01,10.0.2.2,[fd10:0:2::2],testvm,86313600" in lines
    assert lines[-5:-1] == [
        "enable-ra",
        "dhcp-range=fd10:0:2::2,static,120,86313600",
        "ra-param=k6t-eth0,mtu:1450,high,60",
        "dhcp-option=option6:dns-server,[fd00:10:96::a]",
    ]
    assert lines[-1].startswith("dhcp-option=option6:domain-search,default.svc.cluster.local")


def test_a_guest_with_ipv6_only_hears_nothing_of_ipv4() -> None:
    server = DhcpServer(
        link="k6t-eth0",
        mac="02:00:00:00:00:01",
        hostname="testvm",
        mtu=1500,
        v6=V6Lease(address="fd10:0:2::2", prefix_length=120),
    )
    assert config(server).splitlines()[PREAMBLE:] == [
        "interface=k6t-eth0",
        "dhcp-host=02:00:00:00:00:01,[fd10:0:2::2],testvm,86313600",
        "enable-ra",
        "dhcp-range=fd10:0:2::2,static,120,86313600",
        "ra-param=k6t-eth0,mtu:1500,high,60",
    ]


def test_options_of_the_site_are_passed_on() -> None:
    options = {
        "tftpServerName": 'a "quoted" \\ name, #1',
        "bootFileName": "pxelinux.0",
        "ntpServers": ["192.0.2.1", "192.0.2.2"],
        "privateOptions": [{"option": 240, "value": "a,b\n"}, {"option": 241, "value": "7"}],
    }
    lines = config_of({"masquerade": {}, "dhcpOptions": options})
    assert lines[-5:] == [
        "dhcp-option-force=42,192.0.2.1,192.0.2.2",
        r'dhcp-option-force=66,"a \"quoted\" \\ name, #1"',
        'dhcp-option-force=67,"pxelinux.0"',
        "dhcp-option-force=240,61:2c:62:0a",
        "dhcp-option-force=241,55",
    ]


def test_a_lease_without_resolver_says_nothing_of_one() -> None:
    lines = config(DhcpServer(**SERVER)).splitlines()
    assert lines[PREAMBLE + 2 :] == [
        "dhcp-range=10.0.2.2,static,255.255.255.0,86313600",
        "dhcp-option=3",
        "dhcp-option-force=26,1450",
    ]


def test_search_domains_are_cut_to_what_an_option_holds() -> None:
    domains = tuple(f"{letter * 60}.example" for letter in "abcdef")
    plan = the_plan({"masquerade": {}}, a_pod(search_domains=domains))
    assert plan.dhcp is not None
    line = next(each for each in config(plan.dhcp).splitlines() if ",aaa" in each)
    assert line.count(".example") == 3


SERVER: dict[str, Any] = {
    "link": "k6t-eth0",
    "mac": "02:00:00:00:00:01",
    "hostname": "testvm",
    "mtu": 1450,
    "v4": V4Lease(address="10.0.2.2", prefix_length=24, server="10.0.2.1"),
}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"mac": "02:00\ndhcp-script=/bin/sh"}, "is no MAC address"),
        ({"link": "k6t,lo"}, "the network link 'k6t,lo' cannot be used as a name"),
        ({"hostname": "a,b"}, "the host name 'a,b' is no DNS label; set spec.hostname"),
        ({"hostname": ""}, "is no DNS label"),
        ({"search": ("a b",)}, "Search domain is not valid: 'a b'"),
        ({"search": ("10.0.0.1",)}, "Search domain is not valid: '10.0.0.1'"),
        ({"search": ("a" * 64,)}, "Search domain is not valid"),
        (
            {"options": (RawOption(code=67, value=b"a\nport=53"),)},
            "DHCP option 67 holds a character that is not printable ASCII",
        ),
        ({"options": (RawOption(code=66, value="é".encode()),)}, "not printable ASCII"),
        ({"ntp_servers": ("192.0.2.1",) * 100}, "dhcp-option-force would have 1020 characters"),
    ],
)
def test_nothing_from_outside_becomes_configuration(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        config(DhcpServer(**(SERVER | change)))


@pytest.mark.parametrize("address", ["10.0.2.2,set:x", "10.0.2.2\nport=53", "localhost"])
def test_an_address_is_parsed_before_it_is_written(address: str) -> None:
    lease = V4Lease(address=address, prefix_length=24, server="10.0.2.1")
    with pytest.raises(ValueError, match=r"Only decimal digits|Expected 4"):
        config(DhcpServer(**(SERVER | {"v4": lease})))
