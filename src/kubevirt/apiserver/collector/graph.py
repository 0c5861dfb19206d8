"""Who belongs to whom: from the uid of an owner to the keys of its dependants, and back.

Kept small, since it is there for as long as the server: keys, uids, and whether an owner has to wait
for a dependant. Everything else is read from the store when it is needed.
"""

from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from kubevirt.apiserver.collector.deciding import Below
from kubevirt.apiserver.collector.traits import Reference, Traits


class Edge(NamedTuple):
    owner: str
    """Its uid."""
    blocks: bool
    """Whether an owner that waits for its dependants waits for this one."""


class Graph:
    def __init__(self) -> None:
        self._edges: dict[str, tuple[Edge, ...]] = {}
        """By the key of the dependant."""
        self._dependants: dict[str, set[str]] = {}
        """Their keys, by the uid of the owner."""
        self._held: dict[str, str] = {}
        """Owners that are held until their dependants have gone or were let go: uid and key."""
        self._holding: dict[str, str] = {}
        """The same, key and uid."""
        self._waiting: set[str] = set()
        """The keys of those among them whose dependants shall go."""
        self._gone: set[str] = set()
        """Owners that were seen to go while they had dependants, until those are gone too."""

    def __contains__(self, key: object) -> bool:
        return key in self._edges or key in self._holding

    def clear(self) -> None:
        """Forgets what will be read again. That an owner is gone stays true; `prune` then."""
        self._edges.clear()
        self._dependants.clear()
        self._held.clear()
        self._holding.clear()
        self._waiting.clear()

    def prune(self) -> None:
        """Forgets the owners that are gone and that nobody names any more."""
        self._gone &= self._dependants.keys()

    # Dependants

    def link(self, key: str, references: Iterable[Reference]) -> tuple[bool, set[str]]:
        """Says whose a dependant is now; tells whether that has changed, and gives the uids of owners
        that it no longer belongs to or no longer holds up.
        """
        before = self._edges.get(key, ())
        now = tuple(Edge(each.uid, bool(each.block_owner_deletion)) for each in references)
        if now == before:
            return False, set()
        self._unlink(key, before)
        if now:
            self._edges[key] = now
        for edge in now:
            self._dependants.setdefault(edge.owner, set()).add(key)
        return True, {edge.owner for edge in set(before).difference(now)}

    def unlink(self, key: str) -> set[str]:
        """Forgets a dependant that is gone; gives the uids of its owners."""
        before = self._edges.get(key, ())
        self._unlink(key, before)
        return {edge.owner for edge in before}

    def _unlink(self, key: str, edges: tuple[Edge, ...]) -> None:
        self._edges.pop(key, None)
        for owner in {edge.owner for edge in edges}:
            left = self._dependants[owner]
            left.discard(key)
            if not left:
                del self._dependants[owner]
                self._gone.discard(owner)

    def dependants(self, uid: str) -> Collection[str]:
        return self._dependants.get(uid, ())

    def below(self, uid: str) -> Below:
        keys = self.dependants(uid)
        if not keys:
            return Below()
        return Below(
            any=True,
            blocking=any(self._blocking(uid)) and not self._is_knotted(uid),
            waiting=not self._waiting.isdisjoint(keys),
        )

    def _blocking(self, uid: str) -> Iterator[str]:
        """Dependants that hold up their owner."""
        edge = Edge(uid, blocks=True)
        return (key for key in self.dependants(uid) if edge in self._edges[key])

    def _is_knotted(self, uid: str) -> bool:
        """Whether an owner waits only for such as wait for it in turn, round some corners: they were all
        deleted in the foreground, and none of them would ever begin.
        """
        above: dict[str, set[str]] = {}
        line = [uid]
        for owner in line:  # grows as we go: all that it waits for, and who waits for that
            for key in self._blocking(owner):
                if key not in self._waiting:
                    return False
                below = self._holding[key]
                if below not in above:
                    above[below] = set()
                    line.append(below)
                above[below].add(owner)
        knot, line = {uid}, [uid]
        for below in line:  # all that wait for it
            new = above.get(below, set()) - knot
            knot |= new
            line += new
        return above.keys() <= knot

    # Owners

    def hold(self, key: str, owner: Traits) -> bool:
        """Notes whether an owner is held for its dependants; tells whether it has begun to be."""
        was_held = key in self._holding
        self._release(key)
        if not owner.leaves_dependants and not owner.waits_for_dependants:
            return False
        self._held[owner.uid], self._holding[key] = key, owner.uid
        if not owner.leaves_dependants:
            self._waiting.add(key)
        return not was_held

    def _release(self, key: str) -> None:
        if key in self._holding:
            del self._held[self._holding.pop(key)]
            self._waiting.discard(key)

    def held(self, uid: str) -> str | None:
        """The key of an owner that is held for its dependants."""
        return self._held.get(uid)

    def is_leaving(self, uid: str) -> bool:
        """Whether an owner is held until nothing names it any more, from wherever."""
        return uid in self._held and self._held[uid] not in self._waiting

    def lose(self, key: str, uid: str) -> Collection[str]:
        """An owner is gone; gives the keys of the dependants that it leaves behind."""
        self._release(key)
        left = self.dependants(uid)
        if left:
            self._gone.add(uid)
        return left

    def has_lost(self, uid: str) -> bool:
        """Whether this owner was seen to go. A uid never comes back."""
        return uid in self._gone
