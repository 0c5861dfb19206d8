"""Hostile strings cannot change what dnsmasq or nft are told to do, only what they say."""

import re
from collections.abc import Iterator
from ipaddress import ip_address, ip_network
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.property.hostile import check_sentence, spoiled, texts
from tests.unit.virt.pods import DUAL_STACK, a_guest, a_pod

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.base.errors import UserError
from kubevirt.virt.network.dhcp import DhcpServer, RawOption, V4Lease
from kubevirt.virt.network.dnsmasq import config
from kubevirt.virt.network.facts import PodFacts
from kubevirt.virt.network.plan import InterfacePlan, undo
from kubevirt.virt.network.planning import plan_network

OPTIONS = {
    "bootFileName": "pxelinux.0",
    "tftpServerName": "tftp.example",
    "ntpServers": ["192.0.2.1"],
    "privateOptions": [{"option": 240, "value": "x"}, {"option": 250, "value": "yy"}],
}


def a_hostile_target(binding: str) -> Any:
    interface = {
        "name": "default",
        binding: {},
        "macAddress": "02:00:00:00:00:01",
        "model": "virtio",
        "dhcpOptions": OPTIONS,
        "ports": [{"port": 80, "protocol": "TCP", "name": "web"}],
        "network": {"pod": {"vmNetworkCIDR": "10.0.2.0/24"}},
    }
    return msgspec.to_builtins(a_guest(interface, hostname="guest", subdomain="web"))


guests = st.sampled_from(["masquerade", "bridge"]).map(a_hostile_target)
pods = st.builds(
    a_pod,
    st.just(DUAL_STACK),
    search_domains=st.lists(texts, max_size=3).map(tuple) | st.just(("svc.cluster.local",)),
    istio=st.booleans(),
)

SAFE_LINES = (
    re.compile(
        r"# One guest's DHCP server\. Free text stands here as hexadecimal bytes, or quoted\."
    ),
    re.compile(r"(port=0|no-resolv|no-hosts|no-ping|leasefile-ro|dhcp-authoritative|bind-dynamic)"),
    re.compile(r"(dhcp-ignore=tag:!known|except-interface=lo|interface=k6t-eth0|enable-ra)"),
    re.compile(r"dhcp-host=[0-9a-f:]{17}(,[0-9.]+)?(,\[[0-9a-f:]+\])?,[a-z0-9_-]{1,63},86313600"),
    re.compile(r"dhcp-range=[0-9a-f.:]+,static,[0-9.]+,86313600"),
    re.compile(r"shared-network=[0-9.]+,[0-9.]+"),
    re.compile(r"ra-param=k6t-eth0,mtu:\d+,high,60"),
    re.compile(r"dhcp-option=3(,[0-9.]+)?"),
    re.compile(r"dhcp-option-force=(6|42|121),[0-9./,]+"),
    re.compile(r"dhcp-option-force=26,\d+"),
    re.compile(r"dhcp-option-force=(15|119),[a-z0-9._,-]+"),
    re.compile(r'dhcp-option-force=(66|67),"(?:[ !#-\[\]-~]|\\["\\])*"'),
    re.compile(r"dhcp-option-force=2[2-5]\d,(\d{1,3}|[0-9a-f]{2}(:[0-9a-f]{2})+)"),
    re.compile(r"dhcp-option=option6:dns-server(,\[[0-9a-f:]+\])+"),
    re.compile(r"dhcp-option=option6:domain-search(,[a-z0-9._-]+)+"),
)
NFT_WORDS = frozenset(
    [
        "ip",
        "ip6",
        "nat",
        "prerouting",
        "input",
        "output",
        "postrouting",
        "accept",
        "==",
        "iifname",
        "oifname",
        "saddr",
        "daddr",
        "dport",
        "tcp",
        "udp",
        "KUBEVIRT_PREINBOUND",
        "KUBEVIRT_POSTINBOUND",
        "eth0",
        "k6t-eth0",
    ]
)


def plans_of(data: Any, pod: PodFacts) -> tuple[InterfacePlan, ...]:
    try:
        return plan_network(msgspec.convert(data, VirtualMachineInstance), pod)
    except UserError as refusal:
        check_sentence(refusal)
        return ()


@given(spoiled(guests), pods)
@settings(max_examples=300)
def test_dnsmasq_reads_only_lines_that_we_meant(
    example: tuple[Any, tuple[str, ...]], pod: PodFacts
) -> None:
    for plan in plans_of(example[0], pod):
        if plan.dhcp is None:
            continue
        try:
            text = config(plan.dhcp)
        except UserError as refusal:
            check_sentence(refusal)
            continue
        lines = text.removesuffix("\n").split("\n")
        assert len(text.splitlines()) == len(lines)
        for line in lines:
            assert len(line) < 1024
            assert line.isascii()
            assert any(safe.fullmatch(line) for safe in SAFE_LINES), line


def strings_in(data: Any) -> Iterator[str]:
    match data:
        case str():
            yield data
        case dict():
            for value in data.values():
                yield from strings_in(value)
        case list():
            for value in data:
                yield from strings_in(value)
        case _:
            return


def is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


@given(spoiled(guests), pods)
@settings(max_examples=200)
def test_nft_is_told_addresses_numbers_and_our_own_words(
    example: tuple[Any, tuple[str, ...]], pod: PodFacts
) -> None:
    for plan in plans_of(example[0], pod):
        for ruleset in (plan.ruleset, undo(plan).ruleset):
            for text in strings_in(ruleset or {}):
                assert text in NFT_WORDS or is_address(text), text


@given(spoiled(guests), pods)
def test_names_and_addresses_of_links_are_a_kernels(
    example: tuple[Any, tuple[str, ...]], pod: PodFacts
) -> None:
    for plan in plans_of(example[0], pod):
        for link in plan.links:
            assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,14}", link.name)
            for address in getattr(link, "addresses", ()):
                ip_network(address, strict=False)
        for sysctl in plan.sysctls:
            assert re.fullmatch(r"net/ipv[46]/[a-z0-9_/-]+", sysctl.key)


def as_dnsmasq_reads(word: str) -> bytes:
    """One word of an option: quoted text, hexadecimal bytes, or one byte as a number."""
    if word.startswith('"'):
        assert word.endswith('"')
        text, rest = "", word[1:-1]
        while rest:
            if rest[0] == "\\":
                rest = rest[1:]
            else:
                assert rest[0] != '"'
            text, rest = text + rest[0], rest[1:]
        return text.encode("ascii")
    return bytes.fromhex(word.replace(":", "")) if ":" in word else bytes([int(word)])


@given(st.sampled_from([66, 67, 224, 254]), texts.filter(bool))
@settings(max_examples=300)
def test_dnsmasq_sends_the_bytes_of_the_manifest(code: int, text: str) -> None:
    value = text.encode()[:255]
    lease = V4Lease(address="10.0.2.2", prefix_length=24, server="10.0.2.1")
    server = DhcpServer(
        link="k6t-eth0",
        mac="02:00:00:00:00:01",
        hostname="guest",
        mtu=1500,
        v4=lease,
        options=(RawOption(code=code, value=value),),
    )
    try:
        line = config(server).splitlines()[-1]
    except UserError as refusal:
        check_sentence(refusal)
        return
    key, _, word = line.partition(",")
    assert key == f"dhcp-option-force={code}"
    assert as_dnsmasq_reads(word) == value
