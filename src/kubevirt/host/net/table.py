"""A table of nftables as a whole: what it should hold, what it holds, and the one step between the two.

    loader = Loader()
    await machine.run(lambda: loader.load(wanted))  # whether there was anything to do

The kernel takes a transaction whole or not at all, so a packet meets the old table or the new one. What
rules have learnt (sets that they fill themselves) stays as it is while its set does.
"""

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from kubevirt.base import commands
from kubevirt.host.net import nft
from kubevirt.virt.network.nftables import Json, transaction
from kubevirt.virt.network.plan import Transaction

FAMILY: Final = "inet"
LISTING_LIMIT: Final = 64 << 20


class Chain(msgspec.Struct, frozen=True, kw_only=True):
    rules: Sequence[Sequence[Json]] = ()
    """Of each its expressions."""
    base: Mapping[str, Any] = {}
    """Type, hook, prio and policy of one that hangs on a hook."""


class Collection(msgspec.Struct, frozen=True, kw_only=True):
    """A set, or a map, which has `map` in its declaration."""

    declaration: Mapping[str, Any]
    elements: Sequence[Any] = ()
    is_learnt: bool = False
    """Filled by rules: what is in it is theirs."""

    @property
    def word(self) -> str:
        return "map" if "map" in self.declaration else "set"


class Table(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    chains: Mapping[str, Chain] = {}
    collections: Mapping[str, Collection] = {}


class Loader:
    """Loads one table again and again, and knows when there is nothing to do.

    Versions of nft write some things down in other words than they were told. So it is remembered how the
    table was listed right after it was loaded: while it is listed so, it is as it should be.
    """

    def __init__(self) -> None:
        self._wanted: Table | None = None
        self._listed = ""

    def load(self, wanted: Table) -> bool:
        """In the calling thread's namespace. Tells whether the table was any different."""
        present = listed(wanted.name)
        if present and wanted == self._wanted and _comparable(present, wanted) == self._listed:
            return False
        change = changes(wanted, present)
        if change is not None:
            nft.apply(change)
            present = listed(wanted.name)
        self._wanted = wanted
        self._listed = _comparable(present, wanted) if present else ""
        return change is not None


def unload(name: str) -> None:
    """Adding it first makes taking it away work also where it is gone already."""
    place = {"family": FAMILY, "name": name}
    nft.apply(transaction([{"add": {"table": place}}, {"delete": {"table": place}}]))


def listed(name: str) -> Table | None:
    """As it is now; None if there is none."""
    listing = commands.run(
        "nft",
        "-j",
        "list",
        "table",
        FAMILY,
        name,
        timeout_s=nft.TIMEOUT_S,
        output_limit=LISTING_LIMIT,
        check=False,
    )
    done = asyncio.run(listing)
    if done.exit_code and b"No such file" in done.stderr:
        return None
    return parsed(name, json.loads(done.check().text)["nftables"])


def parsed(name: str, listing: Sequence[Mapping[str, Any]]) -> Table:
    rules: dict[str, list[Sequence[Json]]] = {}
    for each in (each["rule"] for each in listing if "rule" in each):
        rules.setdefault(each["chain"], []).append(each["expr"])
    chains = [each["chain"] for each in listing if "chain" in each]
    collections = [each.get("set") or each["map"] for each in listing if {"set", "map"} & {*each}]
    return Table(
        name=name,
        chains={
            each["name"]: Chain(
                rules=rules.get(each["name"], ()),
                base={key: each[key] for key in ("type", "hook", "prio", "policy") if key in each},
            )
            for each in chains
        },
        collections={
            each["name"]: Collection(
                declaration={key: each[key] for key in _DECLARED if key in each},
                elements=each.get("elem", ()),
            )
            for each in collections
        },
    )


def changes(wanted: Table, present: Table | None) -> Transaction | None:
    """From what is there to what should be, or None if that is the same."""
    present = present or Table(name=wanted.name)
    if present.chains and _comparable(wanted, wanted) == _comparable(present, wanted):
        return None
    return transaction(_steps(wanted, present))


_DECLARED: Final = ("type", "map", "flags", "timeout", "size")


def _comparable(table: Table, wanted: Table) -> str:
    """Without what was learnt, and with sets in one order."""
    learnt = {name for name, each in wanted.collections.items() if each.is_learnt}
    chains = {
        name: [dict(chain.base), nft.comparable([list(rule) for rule in chain.rules])]
        for name, chain in table.chains.items()
    }
    collections = {
        name: [
            dict(each.declaration),
            [] if name in learnt else sorted(map(json.dumps, each.elements)),
        ]
        for name, each in table.collections.items()
    }
    return json.dumps([chains, collections], sort_keys=True)


def _steps(wanted: Table, present: Table) -> Iterator[Json]:
    """Rules first, since everything else is in use while there are rules."""
    yield {"add": {"table": {"family": FAMILY, "name": wanted.name}}}
    yield {"flush": {"table": {"family": FAMILY, "name": wanted.name}}}
    kept = {
        name
        for name, collection in wanted.collections.items()
        if name in present.collections and _is_alike(collection, present.collections[name])
    }
    yield from _taken_away(wanted, present, kept)
    for name, chain in wanted.chains.items():
        yield {"add": {"chain": {**_in(wanted, name=name), **chain.base}}}
    for name, collection in wanted.collections.items():
        place = _in(wanted, name=name)
        if name not in kept:
            yield {"add": {collection.word: {**place, **collection.declaration}}}
        if collection.elements:
            yield {"add": {"element": {**place, "elem": list(collection.elements)}}}
    for name, chain in wanted.chains.items():
        for rule in chain.rules:
            yield {"add": {"rule": {**_in(wanted, chain=name), "expr": list(rule)}}}


def _is_alike(one: Collection, other: Collection) -> bool:
    """But for flags, of which the kernel has some that nobody gave."""
    return all(
        one.declaration.get(key) == other.declaration.get(key)
        for key in _DECLARED
        if key != "flags"
    )


def _taken_away(wanted: Table, present: Table, kept: set[str]) -> Iterator[Json]:
    for name, collection in present.collections.items():
        if name not in kept:
            yield {"delete": {collection.word: _in(wanted, name=name)}}
        elif not wanted.collections[name].is_learnt:
            yield {"flush": {collection.word: _in(wanted, name=name)}}
    for name, chain in present.chains.items():
        if name not in wanted.chains or dict(chain.base) != dict(wanted.chains[name].base):
            yield {"delete": {"chain": _in(wanted, name=name)}}


def _in(table: Table, **what: str) -> dict[str, str]:
    return {"family": FAMILY, "table": table.name, **what}
