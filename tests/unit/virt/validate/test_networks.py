"""Networks and network cards that are refused, with KubeVirt's field and words."""

import pytest
from tests.unit.virt.validate.judged import said, written
from tests.unit.virt.validate.spec_parts import CARDS, Case, card, cards

NETWORK: dict[str, Case] = {
    "a card without network": (
        cards({"name": "a", "bridge": {}}, networks=[{"name": "b", "pod": {}}]),
        f"{CARDS}[0].name",
        f"{CARDS}[0].name 'a' not found.",
    ),
    "a network without card": (
        cards(
            {"name": "a", "bridge": {}},
            networks=[{"name": "a", "pod": {}}, {"name": "b", "multus": {"networkName": "x"}}],
        ),
        "spec.networks[1].name",
        "spec.networks[1].name 'b' not found.",
    ),
    "twin networks": (
        cards(
            {"name": "a", "bridge": {}},
            networks=[{"name": "a", "pod": {}}, {"name": "a", "multus": {"networkName": "x"}}],
        ),
        "spec.networks[1].name",
        'Network with name "a" already exists, every network must have a unique name',
    ),
    "two cards on one network": (
        cards({"name": "a", "bridge": {}}, {"name": "a", "bridge": {}}),
        f"{CARDS}[1].name",
        "Only one interface can be connected to one specific network",
    ),
    "no binding": (
        cards({"name": "a"}),
        f"{CARDS}[0]",
        "logical a interface must have exactly one binding method or binding plugin",
    ),
    "two pod networks": (
        cards(
            {"name": "a", "bridge": {}},
            {"name": "b", "bridge": {}},
            networks=[{"name": "a", "pod": {}}, {"name": "b", "pod": {}}],
        ),
        "spec.interfaces",
        "more than one interface is connected to a pod network in spec.interfaces",
    ),
    "no type": (
        cards({"name": "a", "bridge": {}}, networks=[{"name": "a"}]),
        "spec.networks[0]",
        "should have a network type",
    ),
    "two types": (
        cards(
            {"name": "a", "bridge": {}},
            networks=[{"name": "a", "pod": {}, "multus": {"networkName": "x"}}],
        ),
        "spec.networks[0]",
        "should have only one network type",
    ),
    "multus of no name": (
        cards({"name": "a", "bridge": {}}, networks=[{"name": "a", "multus": {"networkName": ""}}]),
        "spec.networks[0]",
        "CNI delegating plugin must have a networkName",
    ),
    "masquerade elsewhere": (
        cards(
            {"name": "a", "masquerade": {}},
            networks=[{"name": "a", "multus": {"networkName": "x"}}],
        ),
        f"{CARDS}[0].name",
        "Masquerade interface only implemented with pod network",
    ),
    "the bridge's address": (
        card(macAddress="02:00:00:00:00:00"),
        f"{CARDS}[0].macAddress",
        "The requested MAC address is reserved for the in-pod bridge. Please choose another one.",
    ),
    "a strange name": (
        cards({"name": "a b", "masquerade": {}}, networks=[{"name": "a b", "pod": {}}]),
        f"{CARDS}[0].name",
        (
            "Network interface name can only contain alphabetical characters, numbers, dashes (-) or "
            "underscores (_)"
        ),
    ),
    "a strange model": (
        card(model="ne1000"),
        f"{CARDS}[0].model",
        f"interface {CARDS}[0].name uses model ne1000 that is not supported.",
    ),
    "no port": (card(ports=[{"port": 0}]), f"{CARDS}[0].ports[0]", "Port field is mandatory."),
    "a high port": (
        card(ports=[{"port": 65536}]),
        f"{CARDS}[0].ports[0]",
        "Port field must be in range 0 < x < 65536.",
    ),
    "a strange protocol": (
        card(ports=[{"port": 1, "protocol": "SCTP"}]),
        f"{CARDS}[0].ports[0].protocol",
        "Unknown protocol, only TCP or UDP allowed",
    ),
    "twin ports": (
        card(ports=[{"name": "a", "port": 1}, {"name": "a", "port": 2}]),
        f"{CARDS}[0].ports[1].name",
        "Duplicate name of the port: a",
    ),
    "a public option": (
        card(dhcpOptions={"privateOptions": [{"option": 3, "value": "x"}]}),
        f"{CARDS}[0].dhcpOptions.privateOptions",
        "provided DHCPPrivateOptions are out of range, must be in range 224 to 254",
    ),
    "time by name": (
        card(dhcpOptions={"ntpServers": ["time.example"]}),
        f"{CARDS}[0].dhcpOptions.ntpServers",
        "NTP servers must be a list of valid IPv4 addresses.",
    ),
    "slirp": (
        cards({"name": "a", "slirp": {}}),
        f"{CARDS}[0].slirp",
        "Slirp interface support has been discontinued since v1.3",
    ),
    "a small range": (
        cards(
            {"name": "a", "masquerade": {}},
            networks=[{"name": "a", "pod": {"vmNetworkCIDR": "10.0.0.0/31"}}],
        ),
        "spec.networks[0].pod",
        "VM CIDR subnet is too small, at least 2 host addresses are required: '10.0.0.0/31'",
    ),
}

CASES = NETWORK


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_a_refusal_names_the_field_and_the_reason(case: Case) -> None:
    patch, field, message = case
    assert (field, message) in said(written(patch))


def test_the_bridge_can_be_kept_off_the_pod_network() -> None:
    configuration = {"network": {"permitBridgeInterfaceOnPodNetwork": False}}
    assert said(written(cards({"name": "a", "bridge": {}}), configuration)) == [
        (
            f"{CARDS}[0].name",
            "Bridge on pod network configuration is not enabled under kubevirt-config",
        )
    ]
