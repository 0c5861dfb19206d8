"""The garbage collector under random families, deletions and crashes, held to what it promises.

The machine makes objects that belong to others, in two namespaces and without one, to strangers and to
kinds that nobody serves; it relinks, holds, frees and deletes them in all three ways, and kills the
process. The model is the history: every change that anybody made is in the store's log. After each rest
the whole of it is read again from the beginning, and two things must hold.

Nothing wrong was ever done: what the collector marked or removed had no owner that was there for it; an
owner that was to go after its dependants went after them, and one that was to leave them behind left
none that names it. And nothing was left undone: whatever is still there has a reason to be.
"""

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple, TypeVar

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule
from tests.collecting import HOLD, HOME, World, reference

from kubevirt.apiserver.collector.traits import Reference, Traits, read
from kubevirt.apiserver.refusals import Refusal
from kubevirt.apiserver.storage.retention import RetentionSettings
from kubevirt.apiserver.storage.store import StoreSettings
from kubevirt.base.virtual_time import VirtualClock, VirtualTimeLoop

T = TypeVar("T")
Object = dict[str, Any]

PLACES = [("configmaps", HOME), ("secrets", HOME), ("configmaps", "away"), ("clusterroles", "")]
PLURALS = {"ConfigMap": "configmaps", "Secret": "secrets", "ClusterRole": "clusterroles"}
STRANGER = {"apiVersion": "v1", "kind": "ConfigMap", "name": "stranger", "uid": "stranger"}
UNSERVED = {"apiVersion": "example.org/v1", "kind": "Lamp", "name": "lamp", "uid": "lamp"}
POLICIES = st.sampled_from(["Background", "Foreground", "Orphan"])
SEED = st.integers(0, 10_000)


class Thing(NamedTuple):
    """An object as it was at some moment."""

    key: str
    traits: Traits
    since: int
    """The revision of its deletion mark; 0 if it has none."""
    revision: int
    """The last one that changed it."""


class State:
    """All objects at some moment of the history, replayed from its beginning."""

    def __init__(self) -> None:
        self.things: dict[str, Thing] = {}

    def owner(self, reference: Reference, of: Traits) -> Thing | None:
        """The owner, if it is where it should be."""
        plural = PLURALS.get(reference.kind)
        if plural is None:
            return None
        home = f"{of.namespace}/" if plural != "clusterroles" else ""
        group = "core" if home else "rbac.authorization.k8s.io"
        found = self.things.get(f"/registry/{group}/{plural}/{home}{reference.name}")
        return found if found and found.traits.uid == reference.uid else None

    def is_uncertain(self, thing: Traits) -> bool:
        """It names an owner that can be neither found nor missed."""
        return any(
            each.kind == "Lamp" or (not thing.namespace and each.kind != "ClusterRole")
            for each in thing.owners
        )

    def has_owner(self, thing: Traits, *, that_stays: bool) -> bool:
        """One that is there for it, perhaps only because somebody else holds it up."""
        found = [owner.traits for each in thing.owners if (owner := self.owner(each, thing))]
        return any(
            not (each.waits_for_dependants or each.leaves_dependants)
            and not (that_stays and each.deletion_timestamp)
            for each in found
        )

    def dependants(self, owner: Traits) -> Iterator[tuple[Thing, Reference]]:
        for thing in self.things.values():
            for each in thing.traits.owners:
                if each.uid == owner.uid:
                    yield thing, each


class CollectorMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner(loop_factory=VirtualTimeLoop)
        self.run(self._begin())

    async def _begin(self) -> None:
        retention = RetentionSettings(keep_events=1_000_000)
        self.world = World(VirtualClock(), store=StoreSettings(retention=retention))
        await self.world.start()
        await self.world.make("namespaces", {"metadata": {"name": "away"}}, "")
        self.made = 0
        self.by_people: set[int] = set()
        """Revisions of what people did."""

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)

    def teardown(self) -> None:
        try:
            self.run(self._settle_and_check())
        finally:
            self.run(self.world.crash())
            self.runner.close()

    # What people do

    async def _there(self) -> list[tuple[str, str, Object]]:
        found = []
        for plural, namespace in PLACES:
            for name in sorted(await self.world.names(plural, namespace)):
                object_ = await self.world.get(plural, name, namespace)
                assert object_
                found.append((plural, namespace, object_))
        return found

    async def _chosen(self, seed: int) -> tuple[str, str, Object] | None:
        there = await self._there()
        return there[seed % len(there)] if there else None

    async def _references(self, picks: list[tuple[int, bool]]) -> list[Object]:
        there = [each for _, _, each in await self._there()]
        possible = [reference(each) for each in there]
        if len(possible) > 2:
            possible += [STRANGER, UNSERVED]
        chosen = {}
        for seed, blocks in picks if possible else ():
            each = possible[seed % len(possible)]
            chosen[each["uid"]] = {**each, "blockOwnerDeletion": blocks}
        return list(chosen.values())

    @rule(
        place=st.sampled_from(PLACES),
        picks=st.lists(st.tuples(SEED, st.booleans()), max_size=3),
        is_held=st.booleans(),
    )
    def create(
        self, place: tuple[str, str], picks: list[tuple[int, bool]], *, is_held: bool
    ) -> None:
        self.run(self._create(place, picks, is_held=is_held))

    async def _create(
        self, place: tuple[str, str], picks: list[tuple[int, bool]], *, is_held: bool
    ) -> None:
        self.made += 1
        plural, namespace = place
        name = f"thing-{self.made}"
        references = await self._references(picks)
        with self._by_people(plural, namespace, name):
            await self.world.create(
                name,
                *references,
                plural=plural,
                namespace=namespace,
                finalizers=[HOLD] if is_held else (),
            )

    @rule(seed=SEED, picks=st.lists(st.tuples(SEED, st.booleans()), max_size=3))
    def relink(self, seed: int, picks: list[tuple[int, bool]]) -> None:
        self.run(self._relink(seed, picks))

    async def _relink(self, seed: int, picks: list[tuple[int, bool]]) -> None:
        if chosen := await self._chosen(seed):
            plural, namespace, object_ = chosen
            name = object_["metadata"]["name"]
            references = await self._references(picks)
            with self._by_people(plural, namespace, name):
                await self.world.patch(name, {"ownerReferences": references}, plural, namespace)

    @rule(seed=SEED, policy=POLICIES)
    def delete(self, seed: int, policy: str) -> None:
        self.run(self._delete(seed, policy))

    async def _delete(self, seed: int, policy: str) -> None:
        if chosen := await self._chosen(seed):
            plural, namespace, object_ = chosen
            name = object_["metadata"]["name"]
            with self._by_people(plural, namespace, name):
                await self.world.delete(name, policy, plural, namespace)

    @rule(seed=SEED)
    def free(self, seed: int) -> None:
        self.run(self._free(seed))

    async def _free(self, seed: int) -> None:
        held = [
            each
            for each in await self._there()
            if HOLD in each[2]["metadata"].get("finalizers", ())
        ]
        if held:
            plural, namespace, object_ = held[seed % len(held)]
            name, finalizers = (object_["metadata"][each] for each in ("name", "finalizers"))
            kept = [each for each in finalizers if each != HOLD]
            with self._by_people(plural, namespace, name):
                await self.world.patch(name, {"finalizers": kept}, plural, namespace)

    @contextmanager
    def _by_people(self, plural: str, namespace: str, name: str) -> Iterator[None]:
        """What happens to an object meanwhile is not the collector's doing. It may be gone already."""
        key = self.world.call("get", plural, name, namespace).key
        before = set(self.world.disk.revisions.get(key, ()))
        with suppress(Refusal):
            yield
        self.by_people |= set(self.world.disk.revisions.get(key, ())) - before

    @rule()
    def crash(self) -> None:
        self.run(self._crash())

    async def _crash(self) -> None:
        await self.world.crash()
        await self.world.start()

    @rule()
    def rest(self) -> None:
        self.run(self._settle_and_check())

    # What must hold

    async def _settle_and_check(self) -> None:
        await self.world.settle()
        state = State()
        for revision, event in sorted(self.world.disk.events.items()):
            if not _is_ours(event.key):
                continue
            before = state.things.get(event.key)
            after = read(event.entry.value) if event.entry else None
            if revision not in self.by_people and before:
                self._check_step(state, before, after, revision)
            if after is None:
                state.things.pop(event.key, None)
            else:
                since = before.since if before else 0
                if after.deletion_timestamp and not since:
                    since = revision
                state.things[event.key] = Thing(event.key, after, since, revision)
        self._check_end(state)

    def _check_step(self, state: State, before: Thing, after: Traits | None, revision: int) -> None:
        old = before.traits
        where = f"revision {revision}: {before.key}"
        was_ended = not old.deletion_timestamp and (after is None or after.deletion_timestamp)
        if was_ended:
            assert not state.has_owner(old, that_stays=True), (
                f"{where} went though its owner is there"
            )
            assert not state.is_uncertain(old), f"{where} went though its owner might be there"
            assert old.owners, f"{where} went though it belongs to nobody"
        if old.waits_for_dependants and not (after and after.waits_for_dependants):
            self._check_released(state, before, where)
        if old.leaves_dependants and not (after and after.leaves_dependants):
            late = [
                thing.key
                for thing, link in state.dependants(old)
                if state.owner(link, thing.traits) and not self._is_news(thing, before)
            ]
            assert not late, f"{where} left though {late} belong to it"

    def _check_released(self, state: State, owner: Thing, where: str) -> None:
        blocking = [
            thing
            for thing, each in state.dependants(owner.traits)
            if each.block_owner_deletion and not self._is_news(thing, owner)
        ]
        # Unless they wait for it in turn.
        truly = [each for each in blocking if not _waits_for(state, each, owner, set())]
        assert not truly, f"{where} went before {[each.key for each in truly]}"

    def _is_news(self, thing: Thing, owner: Thing) -> bool:
        """It came to belong to the owner, perhaps anew, after the owner's end had begun: nobody promised
        it anything.
        """
        history = sorted(self.world.disk.revisions.get(thing.key, ()))
        before = [each for each in history if each <= owner.since][-1:]
        since = [each for each in history if owner.since < each <= thing.revision]
        entries = [self.world.disk.events[each].entry for each in before + since]
        return not before or any(
            entry is None or all(each.uid != owner.traits.uid for each in read(entry.value).owners)
            for entry in entries
        )

    def _check_end(self, state: State) -> None:
        for thing in state.things.values():
            traits = thing.traits
            if traits.deletion_timestamp:
                assert self._has_reason_to_wait(state, thing, set()), (
                    f"{thing.key} waits for nothing"
                )
            elif traits.owners and not state.is_uncertain(traits):
                words = f"{thing.key} belongs to nobody and is there"
                assert state.has_owner(traits, that_stays=False), words
                for each in traits.owners:
                    owner = state.owner(each, traits)
                    assert owner, f"{thing.key} names an owner that is gone"
                    assert not owner.traits.waits_for_dependants, f"{thing.key} holds up its owner"

    def _has_reason_to_wait(self, state: State, thing: Thing, seen: set[str]) -> bool:
        """Somebody holds it, or one of those that it waits for."""
        if HOLD in thing.traits.holds:
            return True
        seen.add(thing.key)
        return any(
            not each.traits.deletion_timestamp or self._has_reason_to_wait(state, each, seen)
            for each, link in state.dependants(thing.traits)
            if link.block_owner_deletion and each.key not in seen
        )


def _waits_for(state: State, thing: Thing, owner: Thing, seen: set[str]) -> bool:
    """Whether the owner is among those that a dependant waits for."""
    if not thing.traits.waits_for_dependants or thing.key in seen:
        return False
    seen.add(thing.key)
    below = [each for each, link in state.dependants(thing.traits) if link.block_owner_deletion]
    return any(each.key == owner.key or _waits_for(state, each, owner, seen) for each in below)


def _is_ours(key: str) -> bool:
    return any(f"/{plural}/" in key for plural in PLURALS.values()) and "/thing-" in key


CollectorMachine.TestCase.settings = settings(max_examples=20, stateful_step_count=30)
TestCollector = CollectorMachine.TestCase
