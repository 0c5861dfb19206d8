"""The table of a home's network."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kubevirt.embedded.network.services.fronts import Backend, Front
from kubevirt.embedded.network.services.rules import NameServers, Place, table
from kubevirt.host.net.table import Chain, Collection, Table, changes

PLACE = Place(
    table="t", links="kvp-*", gateway="10.244.0.1", pods="10.244.0.0/16", services="10.96.0.0/16"
)


def a_front(*addresses: str, **more: Any) -> Front:
    whole: dict[str, Any] = {
        "name": "default/web",
        "address": "10.96.0.7",
        "port": 80,
        "protocol": "tcp",
        "backends": [Backend(each, 8080) for each in addresses],
    }
    return Front(**{**whole, **more})


def targets(made: Table) -> dict[tuple[Any, ...], str]:
    return {
        tuple(key["concat"]): verdict["goto"]["target"]
        for key, verdict in made.collections["services"].elements
    }


def test_a_front_with_one_backend_leads_there() -> None:
    made = table(PLACE, [a_front("10.244.0.5")])
    chain = made.chains[targets(made)["10.96.0.7", "tcp", 80]]
    assert chain.rules[-1][-1] == {"dnat": {"family": "ip", "addr": "10.244.0.5", "port": 8080}}


def test_a_front_without_backends_is_not_in_the_map_and_so_refused() -> None:
    made = table(PLACE, [a_front()])
    assert targets(made) == {}
    refuses = [{"goto": {"target": "refuse"}}]
    assert list(made.chains["forward"].rules[-1][-1:]) == refuses
    assert list(made.chains["outgoing"].rules[-1][-1:]) == refuses


def test_several_backends_share_by_chance() -> None:
    made = table(PLACE, [a_front("10.244.0.5", "10.244.0.6", "10.244.0.7")])
    (rule,) = made.chains[targets(made)["10.96.0.7", "tcp", 80]].rules
    vmap = rule[0]["vmap"]
    assert vmap["key"] == {"numgen": {"mode": "random", "mod": 3, "offset": 0}}
    assert [each[0] for each in vmap["data"]["set"]] == [0, 1, 2]


def test_clients_are_remembered_where_the_service_says_so() -> None:
    made = table(PLACE, [a_front("10.244.0.5", "10.244.0.6", affinity_s=60)])
    learnt = {name: each for name, each in made.collections.items() if each.is_learnt}
    assert len(learnt) == 2
    assert {each.declaration["timeout"] for each in learnt.values()} == {60}
    other = table(PLACE, [a_front("10.244.0.5", "10.244.0.6", affinity_s=90)])
    assert not set(learnt) & set(other.collections)


def test_names_are_led_to_the_newest_server_and_tracked_apart() -> None:
    names = NameServers(address="10.96.0.10", ports=[4001, 4000])
    made = table(PLACE, [], names)
    udp = made.chains[targets(made)["10.96.0.10", "udp", 53]]
    assert udp.rules[-1][-1]["dnat"] == {"family": "ip", "addr": "10.244.0.1", "port": 4001}
    zones = [rule[-1]["mangle"]["value"] for rule in made.chains["zones-out"].rules]
    assert zones == [4001, 4001, 4000]
    assert "zones" not in table(PLACE, []).chains


def test_every_chain_that_is_gone_to_is_there() -> None:
    made = table(
        PLACE,
        [a_front("10.244.0.5"), a_front("10.244.0.5", "10.244.0.6", port=81, affinity_s=5)],
        NameServers(address="10.96.0.10", ports=[4000]),
    )
    text = json.dumps(
        [[chain.rules for chain in made.chains.values()], made.collections["services"].elements]
    )
    gone_to = {each.split('"')[0] for each in text.split('"target": "')[1:]}
    assert gone_to <= set(made.chains)


# From one table to another


def words(change: Any) -> list[str]:
    return [] if change is None else [next(iter(each)) for each in change["nftables"][1:]]


def test_a_table_that_is_as_it_should_be_is_not_touched() -> None:
    made = table(PLACE, [a_front("10.244.0.5", "10.244.0.6", affinity_s=5)])
    assert changes(made, made) is None
    assert changes(made, None) is not None


def test_what_was_learnt_stays_and_what_is_stale_goes() -> None:
    before = table(PLACE, [a_front("10.244.0.5", "10.244.0.6", affinity_s=5)])
    after = table(PLACE, [a_front("10.244.0.5", affinity_s=5)])
    change = changes(after, before)
    assert change is not None
    kept = next(name for name, each in after.collections.items() if each.is_learnt)
    steps = [each for each in change["nftables"] if kept in json.dumps(each)]
    assert all("rule" in json.dumps(each) for each in steps)  # neither made nor flushed
    gone = {
        step["delete"]["set"]["name"]
        for step in change["nftables"]
        if "set" in step.get("delete", {})
    }
    assert gone == {
        name for name, each in before.collections.items() if each.is_learnt and name != kept
    }


def test_elements_that_rules_have_learnt_are_no_difference() -> None:
    declared = {"type": "ipv4_addr", "flags": ["timeout"], "timeout": 5}
    chains = {"c": Chain()}
    wanted = Table(
        name="t",
        chains=chains,
        collections={"s": Collection(declaration=declared, is_learnt=True)},
    )
    found = Table(
        name="t",
        chains=chains,
        collections={"s": Collection(declaration=declared, elements=["10.244.0.5"])},
    )
    assert changes(wanted, found) is None


@given(st.permutations(["10.244.0.5", "10.244.0.6", "10.244.0.7"]), st.integers(0, 3))
def test_rules_come_before_what_they_use_when_things_go(order: list[str], count: int) -> None:
    """Nothing is deleted that is still in use: rules go first, then maps, then chains."""
    before = table(PLACE, [a_front(*order)])
    after = table(PLACE, [a_front(*order[:count])])
    steps = words(changes(after, before))
    if steps:
        assert steps[:2] == ["add", "flush"]
        last_delete = max((at for at, word in enumerate(steps) if word == "delete"), default=0)
        first_add = steps.index("add", 2)
        assert last_delete < first_add
