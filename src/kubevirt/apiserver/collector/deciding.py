"""What becomes of an object, given its owners and its dependants. Pure; uncertain means wait.

Kubernetes' rules. A dependant goes when none of its owners is there for it: an owner that waits for its
dependants is there, but not for them. While one owner stays, only the references to the others go.
"""

from collections.abc import Sequence

import msgspec

from kubevirt.apiserver.collector.traits import FOREGROUND, ORPHAN, Reference, Traits


class Above(msgspec.Struct, frozen=True, kw_only=True):
    """The owners of an object, as they were found."""

    solid: Sequence[Reference] = ()
    """There, and there to stay."""
    gone: Sequence[Reference] = ()
    waiting: Sequence[Reference] = ()
    """There until their dependants are gone."""
    leaving: Sequence[Reference] = ()
    """There until nothing belongs to them any more."""
    unknown: Sequence[Reference] = ()
    """Of a kind that nobody serves, perhaps only for now."""
    misplaced: Sequence[Reference] = ()
    """Of a kind with namespaces, named by an object that has none: it can never be found."""


class Below(msgspec.Struct, frozen=True, kw_only=True):
    """The dependants of an object."""

    any: bool = False
    blocking: bool = False
    """Whether there are some that it has to wait for."""
    waiting: bool = False
    """Whether there are some that wait for dependants in turn."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """One step; whoever took it looks again."""

    unlinked: tuple[str, ...] = ()
    """The uids of owners whose references go."""
    unblocks: bool = False
    """Its owners shall no longer wait for it: else they and it would wait for each other."""
    released: str = ""
    """The finalizer that goes, since there is nothing more to wait for."""
    deletion: str = ""
    """How it goes: Background, Foreground or Orphan."""


STAYS = Plan()


def decide(thing: Traits, above: Above, below: Below) -> Plan:
    if above.leaving:
        return _unlinked(above.leaving)
    if thing.leaves_dependants:
        return STAYS if below.any else Plan(released=ORPHAN)
    if thing.waits_for_dependants:
        return STAYS if below.blocking else Plan(released=FOREGROUND)
    if thing.deletion_timestamp or not thing.owners or above.unknown or above.misplaced:
        return STAYS
    if above.solid:
        return _unlinked([*above.gone, *above.waiting])
    if above.waiting and below.any:
        if below.waiting and any(each.block_owner_deletion for each in thing.owners):
            return Plan(unblocks=True)
        return Plan(deletion="Foreground")
    if ORPHAN in thing.holds:
        return Plan(deletion="Orphan")
    return Plan(deletion="Foreground" if FOREGROUND in thing.holds else "Background")


def _unlinked(references: Sequence[Reference]) -> Plan:
    return Plan(unlinked=tuple(each.uid for each in references))
