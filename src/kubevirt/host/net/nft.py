"""nftables in the calling thread's namespace: a ruleset in one transaction, and what is there now.

The kernel answers with more than was said: handles, counters, defaults. `differences` compares
only what a transaction asks for. It reads `nft`'s JSON on both sides, so it depends on no text.
"""

import asyncio
import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from kubevirt.base import commands
from kubevirt.virt.network.plan import Transaction

TIMEOUT_S: Final = 10.0
_FORGETTABLE: Final = ("handle", "counter", "comment")
Key = tuple[str, str, str]
"""Family, table, chain."""


def apply(transaction: Transaction) -> None:
    """All of it, or nothing."""
    _nft("-j", "-f", "-", stdin=json.dumps(transaction).encode())


def differences(transaction: Transaction) -> tuple[str, ...]:
    """What of a transaction is not so, in words. Rules of others in chains of their own are theirs."""
    wanted_chains, wanted_rules = _wanted(transaction)
    tables = sorted({key[:2] for key in wanted_chains})
    chains, rules = _listed(tables)
    found = []
    for key, chain in wanted_chains.items():
        if key not in chains:
            found.append(f"nftables has no chain {_shown(key)}")
        elif any(chains[key].get(field) != value for field, value in chain.items()):
            found.append(f"the nftables chain {_shown(key)} hangs elsewhere than planned")
        elif rules.get(key, []) != wanted_rules.get(key, []):
            found.append(f"the nftables chain {_shown(key)} has other rules than planned")
    return tuple(found)


def leftovers(undo: Transaction) -> tuple[str, ...]:
    """What a transaction deletes and is still there, in words."""
    gone = [each["delete"] for each in undo["nftables"] if "delete" in each]
    tables = {(each["table"]["family"], each["table"]["name"]) for each in gone if "table" in each}
    own = {_key(each["chain"]) for each in gone if "chain" in each}
    chains, _ = _listed(sorted(tables | {key[:2] for key in own}))
    return tuple(
        f"nftables still has the chain {_shown(key)}"
        for key in chains
        if key in own or key[:2] in tables
    )


def chain_that_drops(hook: str, *, spare: str) -> str | None:
    """A chain of others that drops by default what passes a hook; `spare` is our own table."""
    listing = json.loads(_nft("-j", "list", "chains"))["nftables"]
    return next(
        (
            _shown(_key(each["chain"]))
            for each in listing
            if "chain" in each
            and each["chain"].get("hook") == hook
            and each["chain"].get("policy") == "drop"
            and each["chain"]["table"] != spare
        ),
        None,
    )


def _wanted(transaction: Transaction) -> tuple[dict[Key, Any], dict[Key, list[Any]]]:
    added = [each["add"] for each in transaction["nftables"] if "add" in each]
    chains = {_key(each["chain"]): each["chain"] for each in added if "chain" in each}
    return chains, _rules(each["rule"] for each in added if "rule" in each)


def _listed(tables: Iterable[tuple[str, str]]) -> tuple[dict[Key, Any], dict[Key, list[Any]]]:
    """Chains and rules of these tables, as `nft` lists them."""
    wanted = set(tables)
    listing = json.loads(_nft("-j", "list", "ruleset"))["nftables"]
    chains = [each["chain"] for each in listing if "chain" in each]
    rules = [each["rule"] for each in listing if "rule" in each]
    return (
        {_key(each): each for each in chains if _key(each)[:2] in wanted},
        _rules(each for each in rules if (each["family"], each["table"]) in wanted),
    )


def _rules(rules: Iterable[Mapping[str, Any]]) -> dict[Key, list[Any]]:
    found: dict[Key, list[Any]] = {}
    for rule in rules:
        key = rule["family"], rule["table"], rule["chain"]
        found.setdefault(key, []).append(comparable(rule["expr"]))
    return found


def comparable(value: Any) -> Any:
    """Without what counts or numbers, and with sets in one order."""
    match value:
        case {"set": list(members)}:
            return {"set": sorted(map(comparable, members), key=json.dumps)}
        case Mapping():
            return {key: comparable(each) for key, each in value.items() if key not in _FORGETTABLE}
        case list() | tuple():
            return [each for each in map(comparable, value) if each != {}]
        case _:
            return value


def _key(chain: Mapping[str, Any]) -> Key:
    return chain["family"], chain["table"], chain["name"]


def _shown(key: Key) -> str:
    return " ".join(key)


def _nft(*args: str, stdin: bytes = b"") -> str:
    """Runs in the calling thread, so in its namespace; the thread's own loop waits for it."""
    return asyncio.run(commands.run("nft", *args, stdin=stdin, timeout_s=TIMEOUT_S)).text
