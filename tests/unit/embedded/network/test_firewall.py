"""Which rule of others stops pods. How nft writes them down is in `tests/component/embedded/network`."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kubevirt.embedded.network.firewall import obstacles, packets

WANTED = packets("kvp-00000000", "eth0")


def a_chain(name: str = "forward", **more: Any) -> dict[str, Any]:
    return {"chain": {"family": "inet", "table": "wall", "name": name, **more}}


def hooked(policy: str = "accept", **more: Any) -> dict[str, Any]:
    return a_chain(type="filter", hook="forward", prio=0, policy=policy, **more)


def a_rule(*expressions: Any, chain: str = "forward", handle: int = 7) -> dict[str, Any]:
    place = {"family": "inet", "table": "wall", "chain": chain, "handle": handle}
    return {"rule": {**place, "expr": list(expressions)}}


def from_link(name: str, op: str = "==") -> dict[str, Any]:
    return {"match": {"op": op, "left": {"meta": {"key": "iifname"}}, "right": name}}


DROP, ACCEPT = {"drop": None}, {"accept": None}


def handles(*ruleset: dict[str, Any]) -> set[int | None]:
    return {each.handle for each in obstacles(ruleset, WANTED)}


def test_a_rule_that_drops_everything_is_found() -> None:
    assert handles(hooked(), a_rule(DROP)) == {7}


def test_what_was_let_through_before_is_not_stopped() -> None:
    let = [a_rule(from_link(each), ACCEPT, handle=1) for each in ("kvp-*", "eth0")]
    assert handles(hooked("drop"), *let, a_rule(DROP)) == set()


def test_what_a_rule_asks_beyond_links_is_not_guessed() -> None:
    port = {
        "match": {
            "op": "==",
            "left": {"payload": {"protocol": "tcp", "field": "dport"}},
            "right": 25,
        }
    }
    assert handles(hooked(), a_rule(port, DROP)) == set()
    assert handles(hooked(), a_rule({"xt": {"type": "match", "name": "limit"}}, DROP)) == set()
    assert handles(hooked("drop"), a_rule(port, ACCEPT)) == {None}


def test_chains_are_followed_and_come_back() -> None:
    jump = a_rule({"jump": {"target": "more"}}, handle=1)
    assert handles(hooked(), a_chain("more"), jump, a_rule(DROP, chain="more")) == {7}
    back = a_rule({"return": None}, chain="more", handle=2)
    assert handles(hooked("drop"), a_chain("more"), jump, back) == {None}


def test_chains_that_follow_each_other_in_a_circle_end() -> None:
    assert handles(hooked(), a_rule({"jump": {"target": "forward"}})) == set()


def test_our_own_tables_are_not_others() -> None:
    chain = hooked("drop")
    chain["chain"]["table"] = "kubevirt-embedded"
    assert obstacles([chain], WANTED) == []


def test_a_set_of_links_is_understood() -> None:
    among = from_link("x")
    among["match"]["right"] = {"set": ["lo", "docker0"]}
    assert handles(hooked(), a_rule(among, DROP)) == set()
    among["match"]["op"] = "!="
    assert handles(hooked(), a_rule(among, DROP)) == {7}


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(_json, _json, st.sampled_from(["==", "!=", "in"]))
def test_whatever_a_rule_matches_is_no_trouble(left: Any, right: Any, operator: str) -> None:
    rule = a_rule({"match": {"op": operator, "left": left, "right": right}}, DROP)
    assert handles(hooked(), rule) == set()
