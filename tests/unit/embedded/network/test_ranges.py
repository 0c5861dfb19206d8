"""Ranges that collide with nothing."""

from ipaddress import IPv4Network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubevirt.base.errors import ConfigError
from kubevirt.embedded.network.ranges import PODS, SERVICES, choose, overlapping


def test_the_usual_ranges_are_kept_where_they_are_free() -> None:
    assert choose(["0.0.0.0/0", "192.0.2.0/24", "fd00::/8"]) == (PODS, SERVICES)


def test_a_route_into_the_usual_ones_gives_others() -> None:
    found = choose(["10.244.3.0/24", "10.96.0.1/32"])
    assert found.pods != PODS
    assert found.services != SERVICES


def test_a_home_beside_another_has_its_own() -> None:
    first = choose([])
    second = choose([first.pods, first.services])
    assert not IPv4Network(first.pods).overlaps(IPv4Network(second.pods))
    assert not IPv4Network(first.services).overlaps(IPv4Network(second.services))


def test_a_machine_without_room_is_told_so() -> None:
    with pytest.raises(ConfigError, match="no private range of addresses is free"):
        choose(["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"])


@given(st.lists(st.tuples(st.integers(0, 255), st.integers(0, 255), st.integers(9, 32))))
def test_what_is_chosen_overlaps_nothing(routes: list[tuple[int, int, int]]) -> None:
    taken = [IPv4Network(f"10.{a}.{b}.0/{length}", strict=False) for a, b, length in routes]
    found = [IPv4Network(each) for each in choose(map(str, taken))]
    assert not found[0].overlaps(found[1])
    assert not any(each.overlaps(other) for each in found for other in taken)


def test_only_what_reaches_into_our_ranges_is_told() -> None:
    ours = ("10.244.0.0/16", "10.96.0.0/16")
    routes = [
        ("0.0.0.0/0", "eth0"),
        ("10.244.7.0/24", "vpn"),
        ("192.168.0.0/24", "eth0"),
        ("fd00::/64", "eth0"),
    ]
    assert overlapping(ours, routes) == [("10.244.0.0/16", "10.244.7.0/24", "vpn")]
