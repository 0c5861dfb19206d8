"""nftables of a home on the machine's side: out by masquerade, in for answers only.

They stand in a table of their own for each home, so taking it away is one command, and nobody's
rules are touched. A packet must please every table: what the machine's own firewall forbids stays
forbidden.
"""

from collections.abc import Mapping
from typing import Any, Final

from kubevirt.virt.network.nftables import Json, transaction
from kubevirt.virt.network.plan import Transaction

_BASE_CHAINS: Final = (("postrouting", "nat", 100), ("forward", "filter", 0))


def rules(table: str, link: str, sources: Mapping[str, str]) -> Transaction:
    """`sources` has the home's network by family; `link` is the machine's end of its cable."""
    commands = [each for family in sources for each in _empty_table(family, table)]
    for family, network in sources.items():
        inside = _match(_payload(family, "saddr"), _prefix(network))
        outside = _match(_payload(family, "saddr"), _prefix(network), op="!=")
        commands += [
            # To the home itself nothing is translated, though broadcasts pass here.
            _rule(family, table, "postrouting", inside, _to(link, op="!="), {"masquerade": None}),
            _rule(family, table, "forward", _from(link), outside, {"drop": None}),
            _rule(family, table, "forward", _to(link), _answers(), {"accept": None}),
            _rule(family, table, "forward", _to(link), {"drop": None}),
        ]
    return transaction(commands)


def without(table: str, families: Mapping[str, str]) -> Transaction:
    """Adding it first makes taking it away work also where it is gone already."""
    return transaction(
        command
        for family in families
        for command in (
            {"add": {"table": _table(family, table)}},
            {"delete": {"table": _table(family, table)}},
        )
    )


def _empty_table(family: str, table: str) -> list[Json]:
    base = [
        {
            "add": {
                "chain": {
                    "family": family,
                    "table": table,
                    "name": name,
                    "type": kind,
                    "hook": name,
                    "prio": priority,
                    "policy": "accept",
                }
            }
        }
        for name, kind, priority in _BASE_CHAINS
    ]
    return [
        {"add": {"table": _table(family, table)}},
        {"flush": {"table": _table(family, table)}},
        *base,
    ]


def _table(family: str, name: str) -> Json:
    return {"family": family, "name": name}


def _rule(family: str, table: str, chain: str, *expressions: Json) -> Json:
    rule = {"family": family, "table": table, "chain": chain, "expr": list(expressions)}
    return {"add": {"rule": rule}}


def _from(link: str) -> Json:
    return _match({"meta": {"key": "iifname"}}, link)


def _to(link: str, op: str = "==") -> Json:
    return _match({"meta": {"key": "oifname"}}, link, op)


def _answers() -> Json:
    return _match({"ct": {"key": "state"}}, ["established", "related"], op="in")


def _payload(family: str, field: str) -> Json:
    return {"payload": {"protocol": family, "field": field}}


def _prefix(network: str) -> Any:
    address, _, length = network.partition("/")
    return {"prefix": {"addr": address, "len": int(length)}}


def _match(left: Json, right: Any, op: str = "==") -> Json:
    return {"match": {"op": op, "left": left, "right": right}}
