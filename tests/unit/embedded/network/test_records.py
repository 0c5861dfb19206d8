"""Names of a cluster, and how dnsmasq is told of them."""

from ipaddress import IPv4Address, IPv4Network
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.embedded.network.things import a_service, a_slice, an_endpoint

from kubevirt.embedded.network.dns.config import Listening, reverse_zones, text
from kubevirt.embedded.network.dns.records import Port, Records, names_elsewhere, records

DOMAIN = "cluster.local"
WEB = "web.default.svc.cluster.local"
DB = "db.default.svc.cluster.local"
LISTENING = Listening(
    address=IPv4Address("10.244.0.1"),
    port=4000,
    domain=DOMAIN,
    reverse=(IPv4Network("10.96.0.0/16"),),
    resolver_file=Path("/etc/resolv.conf"),
)


def test_a_service_has_a_name_and_one_for_each_port_that_has() -> None:
    ports = [
        {"name": "http", "port": 80},
        {"port": 443},
        {"name": "d", "port": 53, "protocol": "UDP"},
    ]
    found = records([a_service(ports=ports)], [], DOMAIN, {})
    assert found == Records(
        addresses=[(WEB, "10.96.0.7")],
        aliases=[],
        ports=[Port(f"_http._tcp.{WEB}", WEB, 80), Port(f"_d._udp.{WEB}", WEB, 53)],
    )


def test_a_headless_service_has_its_endpoints_names() -> None:
    service = a_service("db", clusterIP="None")
    slices = a_slice(
        an_endpoint("10.244.0.5", hostname="db-0"),
        an_endpoint("10.244.0.6"),
        an_endpoint("10.244.0.7", conditions={"ready": False}),
        service="db",
    )
    found = records([service], [slices], DOMAIN, {})
    assert found.addresses == [
        (f"10-244-0-6.{DB}", "10.244.0.6"),
        (f"db-0.{DB}", "10.244.0.5"),
        (DB, "10.244.0.5"),
        (DB, "10.244.0.6"),
    ]
    assert found.ports == [
        Port(f"_http._tcp.{DB}", f"10-244-0-6.{DB}", 8080),
        Port(f"_http._tcp.{DB}", f"db-0.{DB}", 8080),
    ]


def test_a_headless_service_without_endpoints_has_no_names() -> None:
    assert records([a_service("db", clusterIP="None")], [], DOMAIN, {}) == Records(
        addresses=[], aliases=[], ports=[]
    )


def test_a_name_elsewhere_is_an_alias_of_ours_or_has_addresses() -> None:
    services = [
        a_service("alias", type="ExternalName", externalName=f"{WEB}."),
        a_service("shop", type="ExternalName", externalName="Shop.Example.org"),
    ]
    assert names_elsewhere(services, DOMAIN) == {"shop.example.org"}
    found = records(services, [], DOMAIN, {"shop.example.org": ["192.0.2.7", "192.0.2.8"]})
    assert found.aliases == [(f"alias.default.svc.{DOMAIN}", WEB)]
    assert found.addresses == [
        (f"shop.default.svc.{DOMAIN}", "192.0.2.7"),
        (f"shop.default.svc.{DOMAIN}", "192.0.2.8"),
    ]


@pytest.mark.parametrize(
    "name", ["a\nserver=/x/", "a,b", "a b", "", "-a", "a..b", "x" * 64, "Ä", "#", f"{'x.' * 150}x"]
)
def test_what_is_no_name_never_comes_to_the_configuration(name: str) -> None:
    alias = a_service("alias", type="ExternalName", externalName=f"{name}.{DOMAIN}")
    named = a_service("db", clusterIP="None")
    slices = a_slice(an_endpoint("10.244.0.5", hostname=name or "a/b"), service="db")
    found = records([alias, named], [slices], DOMAIN, {})
    lines = text(LISTENING, found).splitlines()
    assert not [line for line in lines if line.startswith("cname")]
    assert [line for line in lines if line.startswith("host-record")] == [
        f"host-record={DB},10.244.0.5"
    ]


@given(st.text(max_size=80))
def test_no_text_makes_more_lines_than_its_own(name: str) -> None:
    services = [a_service("x", type="ExternalName", externalName=name)]
    bare = len(text(LISTENING, Records()).splitlines())
    found = records(services, [], DOMAIN, {name: ["192.0.2.1"]})
    assert len(text(LISTENING, found).splitlines()) <= bare + 1


def test_the_configuration_of_a_small_cluster() -> None:
    found = records(
        [a_service(), a_service("db", clusterIP="None")],
        [a_slice(an_endpoint("10.244.0.5"), an_endpoint("10.244.0.6"), service="db")],
        DOMAIN,
        {},
    )
    assert (
        text(LISTENING, found)
        == f"""\
listen-address=10.244.0.1
port=4000
bind-interfaces
no-hosts
resolv-file=/etc/resolv.conf
cache-size=1000
local-ttl=5
dns-loop-detect
local=/cluster.local/
local=/96.10.in-addr.arpa/
txt-record=dns-version.cluster.local,1.1.0
host-record=10-244-0-5.{DB},10.244.0.5
host-record=10-244-0-6.{DB},10.244.0.6
host-record={DB},10.244.0.5
host-record={DB},10.244.0.6
host-record={WEB},10.96.0.7
srv-host=_http._tcp.{DB},10-244-0-5.{DB},8080,0,50
srv-host=_http._tcp.{DB},10-244-0-6.{DB},8080,0,50
srv-host=_http._tcp.{WEB},{WEB},80,0,100
"""
    )


@pytest.mark.parametrize(
    ("network", "zones"),
    [
        ("10.96.0.0/16", ["96.10.in-addr.arpa"]),
        ("10.96.4.0/24", ["4.96.10.in-addr.arpa"]),
        ("10.0.0.0/8", ["10.in-addr.arpa"]),
        ("172.16.0.0/15", ["16.172.in-addr.arpa", "17.172.in-addr.arpa"]),
    ],
)
def test_zones_of_addresses_end_between_bytes(network: str, zones: list[str]) -> None:
    assert list(reverse_zones(IPv4Network(network))) == zones


def test_the_same_cluster_gives_the_same_records_in_any_order() -> None:
    services = [a_service(f"s{number}", clusterIP=f"10.96.0.{number}") for number in range(1, 9)]
    assert records(services, [], DOMAIN, {}) == records(reversed(services), [], DOMAIN, {})
