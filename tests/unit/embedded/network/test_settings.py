"""Names and addresses that everything on the machine has from one place."""

from ipaddress import IPv4Address
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from kubevirt.embedded.network.settings import NetworkSettings, mac_of

LONGEST = 15
"""What the kernel takes for the name of a link."""


def settings(home_id: str = "", folder: str = "/home") -> NetworkSettings:
    return NetworkSettings(
        folder=Path(folder), api_port=6443, home_id=home_id, nodes=("node01", "node02")
    )


def test_the_default_home_has_short_names() -> None:
    made = settings()
    assert (made.gateway_link, made.table) == ("kvpy0", "kubevirt-embedded")
    assert made.link("uid").startswith("kvp-")


def test_addresses_follow_from_the_ranges() -> None:
    made = settings()
    assert [str(made.node_address(each)) for each in made.nodes] == ["10.244.0.1", "10.244.0.2"]
    assert str(made.gateway) == "10.244.0.1"
    assert str(made.dns_address) == "10.96.0.10"
    assert made.first_pod > made.node_address("node02")


@given(st.text("0123456789abcdef", min_size=8, max_size=8), st.text())
def test_names_fit_the_kernel_and_no_home_takes_anothers_links_for_its_own(
    home_id: str, uid: str
) -> None:
    one, default = settings(home_id), settings()
    for made in (one, default):
        assert len(made.link(uid)) <= LONGEST
        assert len(made.gateway_link) <= LONGEST
        assert not made.gateway_link.startswith(made.link_prefix)
    assert not one.link(uid).startswith(default.link_prefix)
    assert not default.link(uid).startswith(one.link_prefix)


def test_two_homes_know_their_gateways_apart() -> None:
    assert settings(folder="/one").gateway_mac != settings(folder="/two").gateway_mac


def test_a_mac_address_follows_from_the_address() -> None:
    assert mac_of(IPv4Address("10.244.1.5")) == "0a:58:0a:f4:01:05"
