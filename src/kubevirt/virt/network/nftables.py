"""nftables as data: libnftables' JSON, built from values, so that no text is ever parsed as rules.

A transaction flushes and refills our chains only: with a service mesh in the pod the table has
another user.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

Json = Mapping[str, Any]

TABLE: Final = "nat"
PREROUTING: Final = "prerouting"
INPUT: Final = "input"
OUTPUT: Final = "output"
POSTROUTING: Final = "postrouting"
PREINBOUND: Final = "KUBEVIRT_PREINBOUND"
POSTINBOUND: Final = "KUBEVIRT_POSTINBOUND"

_BASE_CHAINS: Final = ((PREROUTING, -100), (INPUT, 100), (OUTPUT, -100), (POSTROUTING, 100))
_OWN_CHAINS: Final = (PREINBOUND, POSTINBOUND)


def transaction(commands: Iterable[Json]) -> Json:
    return {"nftables": [{"metainfo": {"json_schema_version": 1}}, *commands]}


def nat_table(family: str) -> list[Json]:
    """The table and our chains, empty."""
    base = [
        {
            "add": {
                "chain": {
                    **_chain(family, name),
                    "type": "nat",
                    "hook": name,
                    "prio": priority,
                    "policy": "accept",
                }
            }
        }
        for name, priority in _BASE_CHAINS
    ]
    own: list[Json] = [{"add": {"chain": _chain(family, name)}} for name in _OWN_CHAINS]
    return [_add_table(family), *base, *own, *_flush(family)]


def without_nat_table(family: str, *, is_shared: bool) -> list[Json]:
    """Adding it first makes taking it away work also where it is gone already."""
    table = {"family": family, "name": TABLE}
    if not is_shared:
        return [_add_table(family), {"delete": {"table": table}}]
    names = (*_OWN_CHAINS, *(name for name, _ in _BASE_CHAINS))
    deleted = [{"delete": {"chain": _chain(family, name)}} for name in names]
    return [*nat_table(family), *deleted]


def rule(family: str, chain: str, *expressions: Json) -> Json:
    """Every rule counts: the first question in an incident is whether a packet came by."""
    *matches, verdict = expressions
    counter = {"counter": {"packets": 0, "bytes": 0}}
    place = {"family": family, "table": TABLE, "chain": chain}
    return {"add": {"rule": {**place, "expr": [*matches, counter, verdict]}}}


def from_link(name: str) -> Json:
    return _match({"meta": {"key": "iifname"}}, name)


def to_link(name: str) -> Json:
    return _match({"meta": {"key": "oifname"}}, name)


def source(family: str, addresses: Sequence[str]) -> Json:
    return _match(_payload(family, "saddr"), _one_or_set(addresses))


def destination(family: str, addresses: Sequence[str]) -> Json:
    return _match(_payload(family, "daddr"), _one_or_set(addresses))


def destination_ports(protocol: str, ports: Sequence[int | tuple[int, int]]) -> Json:
    """Single ports and ranges with both ends."""
    wanted = [port if isinstance(port, int) else {"range": list(port)} for port in ports]
    return _match(_payload(protocol, "dport"), _one_or_set(wanted))


def masquerade() -> Json:
    return {"masquerade": None}


def translate_destination(address: str) -> Json:
    return {"dnat": {"addr": address}}


def translate_source(address: str) -> Json:
    return {"snat": {"addr": address}}


def jump(chain: str) -> Json:
    return {"jump": {"target": chain}}


def leave() -> Json:
    return {"return": None}


def _add_table(family: str) -> Json:
    return {"add": {"table": {"family": family, "name": TABLE}}}


def _flush(family: str) -> list[Json]:
    names = (*(name for name, _ in _BASE_CHAINS), *_OWN_CHAINS)
    return [{"flush": {"chain": _chain(family, name)}} for name in names]


def _chain(family: str, name: str) -> Json:
    return {"family": family, "table": TABLE, "name": name}


def _payload(protocol: str, field: str) -> Json:
    return {"payload": {"protocol": protocol, "field": field}}


def _match(left: Json, right: object) -> Json:
    return {"match": {"op": "==", "left": left, "right": right}}


def _one_or_set(values: Sequence[Any]) -> Any:
    return values[0] if len(values) == 1 else {"set": list(values)}
