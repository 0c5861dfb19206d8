"""Whether somebody else's rules of nftables stop what pods send, and which one. Pure.

A packet must please every table. So each chain that others have on its way is walked, as the kernel would,
for a packet of which only the links and the state of its connection are known. A rule that asks for anything
else may or may not concern it, and is passed over: what is found here stops everything, what is not found
may still stop something.
"""

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Final

import msgspec

Json = Mapping[str, Any]

OURS: Final = ("kubevirt-embedded", "kubevirt-home-")
"""How the names of our tables begin."""
_DEEPEST: Final = 16
_ENDS: Final = ("drop", "reject")


class Packet(msgspec.Struct, frozen=True, kw_only=True):
    what: str
    """In words."""
    hook: str
    iifname: str
    oifname: str = ""
    state: str = "new"


class Obstacle(msgspec.Struct, frozen=True, kw_only=True):
    packet: Packet
    family: str
    table: str
    chain: str
    handle: int | None
    """Of the rule; None for what the chain does to whatever no rule concerns."""

    @property
    def place(self) -> str:
        return f"{self.family} {self.table} {self.chain}"


def packets(link: str, uplink: str) -> tuple[Packet, ...]:
    """What must get through for pods to work."""
    return (
        Packet(what="packets from pod to pod", hook="forward", iifname=link, oifname=link),
        Packet(what="packets of pods to the outside", hook="forward", iifname=link, oifname=uplink),
        Packet(
            what="answers from the outside to pods",
            hook="forward",
            iifname=uplink,
            oifname=link,
            state="established",
        ),
        Packet(what="questions of pods to the name server", hook="input", iifname=link),
    )


def obstacles(ruleset: Sequence[Json], wanted: Sequence[Packet]) -> list[Obstacle]:
    """`ruleset` is the list in nft's JSON. The first obstacle of each packet in each chain."""
    walk = _Walk(ruleset)
    return [
        found
        for packet in wanted
        for chain in walk.base_chains(packet.hook)
        if (found := walk.end_of(packet, chain)) is not None
    ]


class _Walk:
    def __init__(self, ruleset: Sequence[Json]) -> None:
        chains = [each["chain"] for each in ruleset if "chain" in each]
        self._chains = {_key(each, "name"): each for each in chains}
        self._rules: dict[tuple[str, str, str], list[Json]] = {}
        for rule in (each["rule"] for each in ruleset if "rule" in each):
            self._rules.setdefault(_key(rule, "chain"), []).append(rule)

    def base_chains(self, hook: str) -> Iterator[Json]:
        for chain in self._chains.values():
            is_others = not str(chain["table"]).startswith(OURS)
            is_on_the_way = chain.get("hook") == hook and chain.get("type") == "filter"
            if is_others and is_on_the_way and chain["family"] in ("ip", "inet"):
                yield chain

    def end_of(self, packet: Packet, chain: Json) -> Obstacle | None:
        key = _key(chain, "name")
        verdict, rule = self._verdict(packet, key, 0)
        if verdict in _ENDS and rule is not None:
            return _obstacle(packet, _key(rule, "chain"), rule["handle"])
        if verdict == "" and chain.get("policy") == "drop":
            return _obstacle(packet, key, None)
        return None

    def _verdict(
        self, packet: Packet, key: tuple[str, str, str], depth: int
    ) -> tuple[str, Json | None]:
        """How the chain ends for it, and by which rule; empty if by none."""
        for rule in self._rules.get(key, ()):
            matches = [each["match"] for each in rule["expr"] if "match" in each]
            if not all(_holds(each, packet) for each in matches) or _is_unclear(rule):
                continue
            verdict, target = _said(rule)
            if verdict in ("accept", *_ENDS):
                return verdict, rule
            if verdict == "return":
                return "", None
            if verdict in ("jump", "goto") and depth < _DEEPEST:
                found = self._verdict(packet, (key[0], key[1], target), depth + 1)
                if found[0] or verdict == "goto":
                    return found
        return "", None


def _said(rule: Json) -> tuple[str, str]:
    for each in rule["expr"]:
        for word in ("accept", "return", *_ENDS):
            if word in each:
                return word, ""
        for word in ("jump", "goto"):
            if word in each:
                return word, str(each[word]["target"])
    return "", ""


def _is_unclear(rule: Json) -> bool:
    """It asks for something that has no form here: of iptables, a limit, a set."""
    known = {"match", "counter", "log", "accept", "return", "jump", "goto", "comment", *_ENDS}
    return any(not set(each) <= known for each in rule["expr"])


def _holds(match: Json, packet: Packet) -> bool:
    """Only what is surely so."""
    left, right, operator = match["left"], match["right"], match["op"]
    values = right.get("set", []) if isinstance(right, dict) else right
    values = values if isinstance(values, list) else [values]
    match left:
        case {"meta": {"key": "iifname" | "iif"}}:
            known = packet.iifname
        case {"meta": {"key": "oifname" | "oif"}} if packet.oifname:
            known = packet.oifname
        case {"ct": {"key": "state"}}:
            known = packet.state
        case _:
            return False
    is_among = any(isinstance(each, str) and fnmatchcase(known, each) for each in values)
    return is_among is (operator != "!=")


def _obstacle(packet: Packet, key: tuple[str, str, str], handle: int | None) -> Obstacle:
    family, table, chain = key
    return Obstacle(packet=packet, family=family, table=table, chain=chain, handle=handle)


def _key(thing: Json, name: str) -> tuple[str, str, str]:
    return str(thing["family"]), str(thing["table"]), str(thing[name])
