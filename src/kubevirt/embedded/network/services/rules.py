"""The home's table of nftables: Services, the way out, and what nobody may. Pure.

    prerouting, output   an address of a Service becomes one behind it, by chance or by who came before
    postrouting          what leaves the machine leaves it under its address; so does what comes back to
                         the pod that sent it
    forward, input       nobody else's machine reaches pods, or the machine by addresses of pods
    forward, outgoing    an address of a Service that nobody answers for is refused

The table is our own: taking it away is one step, and nobody's rules are touched. A packet must please every
table, so what the machine's own firewall forbids stays forbidden.
"""

import hashlib
from collections.abc import Iterator, Sequence
from ipaddress import IPv4Network
from typing import Any, Final

import msgspec

from kubevirt.embedded.network.services.fronts import Backend, Front
from kubevirt.host.net.table import Chain, Collection, Table
from kubevirt.virt.network.nftables import Json

SERVICES: Final = "services"
HAIRPINS: Final = "hairpins"
REFUSE: Final = "refuse"
MOST_CLIENTS: Final = 65536
"""Whom a Service with affinity remembers. A client beyond that is served, and not remembered."""

_SOURCE: Final[Json] = {"payload": {"protocol": "ip", "field": "saddr"}}
_DESTINATION: Final[Json] = {"payload": {"protocol": "ip", "field": "daddr"}}
_PROTOCOL: Final[Json] = {"meta": {"key": "l4proto"}}
_PORT: Final[Json] = {"payload": {"protocol": "th", "field": "dport"}}


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Where the rules are to hold."""

    table: str
    links: str
    """The machine's ends of all cables to pods: a name with a star at its end."""
    gateway: str
    pods: str
    services: str


class NameServers(msgspec.Struct, frozen=True, kw_only=True):
    """Who answers for names behind the gateway's address; the first one is the newest."""

    address: str
    """Of their Service."""
    ports: Sequence[int]


def table(place: Place, fronts: Sequence[Front], names: NameServers | None = None) -> Table:
    served = [front for front in (*fronts, *_of_names(place, names)) if front.backends]
    chains: dict[str, Chain] = {**dict(_base(place)), **_zones(place, names)}
    clients: dict[str, Collection] = {}
    elements = []
    for front in served:
        entry, own, learnt = _of(front)
        chains |= own
        clients |= learnt
        key = {"concat": [front.address, front.protocol, front.port]}
        elements.append([key, {"goto": {"target": entry}}])
    addresses = sorted({backend.address for front in served for backend in front.backends})
    return Table(
        name=place.table,
        chains=chains,
        collections={
            SERVICES: Collection(
                declaration={
                    "type": ["ipv4_addr", "inet_proto", "inet_service"],
                    "map": "verdict",
                },
                elements=elements,
            ),
            HAIRPINS: Collection(
                declaration={"type": ["ipv4_addr", "ipv4_addr"]},
                elements=[{"concat": [each, each]} for each in addresses],
            ),
            **clients,
        },
    )


def _base(place: Place) -> Iterator[tuple[str, Chain]]:
    by_service = [
        {
            "vmap": {
                "key": {"concat": [_DESTINATION, _PROTOCOL, _PORT]},
                "data": f"@{SERVICES}",
            }
        }
    ]
    links, pods, services = place.links, _prefix(place.pods), _prefix(place.services)
    yield "prerouting", _hooked("nat", "prerouting", -100, by_service)
    yield "output", _hooked("nat", "output", -100, by_service)
    yield (
        "postrouting",
        _hooked(
            "nat",
            "postrouting",
            100,
            [
                _to(links),
                _match({"concat": [_SOURCE, _DESTINATION]}, f"@{HAIRPINS}"),
                {"snat": {"family": "ip", "addr": place.gateway}},
            ],
            [
                _match(_SOURCE, pods),
                _match(_DESTINATION, pods, "!="),
                _to(links, "!="),
                {"masquerade": None},
            ],
        ),
    )
    yield (
        "forward",
        _hooked(
            "filter",
            "forward",
            0,
            [_from(links), _match(_SOURCE, pods, "!="), _DROP],
            [_from(links, "!="), _to(links), _ANSWERS, {"accept": None}],
            [_from(links, "!="), _to(links), _DROP],
            [_match(_DESTINATION, services), {"goto": {"target": REFUSE}}],
        ),
    )
    yield (
        "input",
        _hooked(
            "filter",
            "input",
            0,
            [_from("lo", "!="), _from(links, "!="), _match(_DESTINATION, pods), _DROP],
        ),
    )
    redirect = _match({"payload": {"protocol": "icmp", "field": "type"}}, "redirect")
    yield (
        "outgoing",
        _hooked(
            "filter",
            "output",
            0,
            # A pod that came back to itself would be told that it need not have asked us.
            [_to(links), redirect, _DROP],
            [_match(_DESTINATION, services), {"goto": {"target": REFUSE}}],
        ),
    )
    yield (
        REFUSE,
        Chain(
            rules=[
                [_match(_PROTOCOL, "tcp"), {"reject": {"type": "tcp reset"}}],
                [{"reject": {"type": "icmp", "expr": "port-unreachable"}}],
            ]
        ),
    )


def _of_names(place: Place, names: NameServers | None) -> Iterator[Front]:
    if names is None:
        return
    for protocol in ("udp", "tcp"):
        yield Front(
            name="kube-system/kube-dns",
            address=names.address,
            port=53,
            protocol=protocol,
            backends=(Backend(place.gateway, names.ports[0]),),
        )


def _zones(place: Place, names: NameServers | None) -> dict[str, Chain]:
    """Each name server has its connections tracked apart from the others' (in a zone): the kernel
    remembers for half a minute who answered a client's port, and would lead it there again.
    """
    if names is None:
        return {}
    asked = [
        _match(_DESTINATION, names.address),
        _match({"payload": {"protocol": "udp", "field": "dport"}}, 53),
        _zone(names.ports[0]),
    ]
    answered = [
        [
            _match(_SOURCE, place.gateway),
            _match({"payload": {"protocol": "udp", "field": "sport"}}, port),
            _zone(port),
        ]
        for port in names.ports
    ]
    return {
        "zones": _hooked("filter", "prerouting", -300, asked),
        "zones-out": _hooked("filter", "output", -300, asked, *answered),
    }


def _zone(number: int) -> Json:
    return {"mangle": {"key": {"ct": {"key": "zone"}}, "value": number}}


def _of(front: Front) -> tuple[str, dict[str, Chain], dict[str, Collection]]:
    """Where packets for it go, and what else that needs."""
    chains: dict[str, Chain] = {}
    clients: dict[str, Collection] = {}
    names = {backend: _name("endpoint", front, backend) for backend in front.backends}
    for backend, name in names.items():
        chains[name] = Chain(rules=list(_translation(front, backend)))
        if front.affinity_s:
            clients[_clients(front, backend)] = Collection(
                declaration={
                    "type": "ipv4_addr",
                    "flags": ["timeout"],
                    "timeout": front.affinity_s,
                    "size": MOST_CLIENTS,
                },
                is_learnt=True,
            )
    if len(names) == 1:
        return next(iter(names.values())), chains, clients
    entry = _name("service", front)
    known = [
        [_match(_SOURCE, f"@{_clients(front, backend)}"), {"goto": {"target": name}}]
        for backend, name in names.items()
        if front.affinity_s
    ]
    chosen = [[number, {"goto": {"target": name}}] for number, name in enumerate(names.values())]
    number = {"numgen": {"mode": "random", "mod": len(names), "offset": 0}}
    chains[entry] = Chain(
        rules=[*known, [{"vmap": {"key": number, "data": {"set": chosen}}}]],
    )
    return entry, chains, clients


def _translation(front: Front, backend: Backend) -> Iterator[Sequence[Json]]:
    if front.affinity_s:
        # In a rule of its own: where there is no room for one more client, it is still served.
        yield [{"set": {"op": "update", "elem": _SOURCE, "set": f"@{_clients(front, backend)}"}}]
    yield [
        _match(_PROTOCOL, front.protocol),
        {"dnat": {"family": "ip", "addr": backend.address, "port": backend.port}},
    ]


def _clients(front: Front, backend: Backend) -> str:
    """Another one when the time is another: a set keeps the one that it was made with."""
    return _name("clients", front, backend, front.affinity_s)


def _name(kind: str, front: Front, *more: object) -> str:
    """Unlike any other, and still to be read by people."""
    whole = f"{front.name} {front.address} {front.protocol} {front.port} {more}"
    digest = hashlib.sha256(whole.encode()).hexdigest()[:10]
    return f"{kind}-{digest}-{front.name[:80]}"


def _hooked(kind: str, hook: str, priority: int, *rules: Sequence[Json]) -> Chain:
    base = {"type": kind, "hook": hook, "prio": priority, "policy": "accept"}
    return Chain(base=base, rules=rules)


_DROP: Final[Json] = {"drop": None}


def _match(left: Json, right: Any, op: str = "==") -> Json:
    return {"match": {"op": op, "left": left, "right": right}}


_ANSWERS: Final = _match({"ct": {"key": "state"}}, ["established", "related"], "in")


def _from(link: Any, op: str = "==") -> Json:
    return _match({"meta": {"key": "iifname"}}, link, op)


def _to(link: str, op: str = "==") -> Json:
    return _match({"meta": {"key": "oifname"}}, link, op)


def _prefix(text: str) -> Json:
    network = IPv4Network(text)
    return {"prefix": {"addr": str(network.network_address), "len": network.prefixlen}}
