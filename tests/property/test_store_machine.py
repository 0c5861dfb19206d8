"""The store against a model that is too simple to be wrong, under random histories.

The machine writes with right and with outdated expectations, one by one and many at once, lists the
present and the past in pages, watches, compacts, restarts and crashes. The model is a list of all
events ever. Both logs, on disk and in memory, must agree with it after every step.
"""

import asyncio
import copy
import shutil
import tempfile
from collections.abc import Coroutine, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from kubevirt.apiserver.storage.errors import Compacted, Conflict, FutureRevision, StoreFull
from kubevirt.apiserver.storage.memory import MemoryDisk, memory_store
from kubevirt.apiserver.storage.records import Change, Entry, Event
from kubevirt.apiserver.storage.retention import RetentionSettings
from kubevirt.apiserver.storage.sqlite import open_store
from kubevirt.apiserver.storage.store import Store, StoreSettings
from kubevirt.apiserver.storage.watching import Watch, WatchSettings
from kubevirt.base.clock import SystemClock

T = TypeVar("T")

KEYS = st.sampled_from(["/a/1", "/a/2", "/a/2/x", "/ab/1", "/b/1", "/b"])
PREFIXES = st.sampled_from(["/", "/a/", "/a/2", "/b", "/b/", "/c/"])
VALUES = st.sampled_from([b"", b"1", b"2", b"x" * 5000])

SETTINGS = StoreSettings(
    chunk=2,
    retention=RetentionSettings(step=3, pause_s=0.0),
    watch=WatchSettings(replay=3),
)


def is_below(key: str, prefix: str) -> bool:
    return key.startswith(prefix) if prefix.endswith("/") else key == prefix


@dataclass
class Model:
    """All that ever happened."""

    events: list[Event] = field(default_factory=list)
    compacted: int = 0

    @property
    def revision(self) -> int:
        return len(self.events)

    def state(self, at: int | None = None) -> dict[str, Entry]:
        state: dict[str, Entry] = {}
        for event in self.events[:at]:
            if event.entry:
                state[event.key] = event.entry
            else:
                del state[event.key]
        return dict(sorted(state.items()))

    def write(self, changes: Sequence[Change]) -> list[Event | None] | Conflict:
        state = self.state()
        for change in changes:
            if state.get(change.key) != change.expected:
                return Conflict(change.key, state.get(change.key))
        return [self._apply(change) for change in changes]

    def _apply(self, change: Change) -> Event | None:
        before = change.expected
        if change.value == (before.value if before else None):
            return None
        revision = self.revision + 1
        entry = None
        if change.value is not None:
            created = before.created if before else revision
            entry = Entry(change.key, change.value, revision, created)
        event = Event(revision, change.key, entry, before)
        self.events.append(event)
        return event

    def heard(self, prefix: str, after: int) -> list[Event]:
        return [event for event in self.events[after:] if is_below(event.key, prefix)]


class StoreMachine(RuleBasedStateMachine):
    """Subclasses say where the store lives."""

    def open(self) -> AbstractAsyncContextManager[Store]:
        raise NotImplementedError

    def keep_only_what_a_crash_leaves(self) -> None:
        """From now on `open` finds what a process killed in this moment would have left."""
        raise NotImplementedError

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.model = Model()
        self.known: list[Entry] = []
        self.watches: list[tuple[Watch, str, int]] = []
        self.opened = self.open()
        self.store = self.run(self.opened.__aenter__())

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        async def limited() -> T:
            async with asyncio.timeout(30):
                return await work

        return self.runner.run(limited())

    def teardown(self) -> None:
        try:
            self.run(self.close())
        finally:
            self.runner.close()

    async def close(self) -> None:
        for watch, _, _ in self.watches:
            watch.close()
        await self.opened.__aexit__(None, None, None)

    async def reopen(self) -> None:
        self.opened = self.open()
        self.store = await self.opened.__aenter__()
        self.watches = [
            (self.store.watch(prefix, after=told), prefix, told)
            for _, prefix, told in self.watches
            if told >= self.model.compacted
        ]
        await self.hear()

    # What people do

    def a_change(self, data: st.DataObject) -> Change:
        """Of something as it is, or as it once was."""
        key = data.draw(KEYS)
        current = self.model.state().get(key)
        past = [entry for entry in self.known if entry.key == key]
        expected = data.draw(st.sampled_from([current, current, None, *past]))
        value = data.draw(st.one_of(st.none(), VALUES))
        if data.draw(st.booleans()) and expected:
            value = expected.value  # only a condition
        return Change(key, expected, value)

    @rule(data=st.data(), count=st.integers(1, 6))
    def several_write_at_once(self, data: st.DataObject, count: int) -> None:
        tickets = []
        for _ in range(count):
            changes = [self.a_change(data) for _ in range(data.draw(st.integers(1, 3)))]
            tickets.append(list({change.key: change for change in changes}.values()))

        async def write_all() -> list[Any]:
            writes = (self.store.write(*changes) for changes in tickets)
            return await asyncio.gather(*writes, return_exceptions=True)

        for found, changes in zip(self.run(write_all()), tickets, strict=True):
            expected = self.model.write(changes)
            if isinstance(expected, Conflict):
                assert isinstance(found, Conflict)
                assert (found.key, found.current) == (expected.key, expected.current)
            else:
                assert list(found) == expected
                self.known += [event.entry for event in expected if event and event.entry]

    @rule(key=KEYS, value=VALUES)
    def a_key_is_set(self, key: str, value: bytes) -> None:
        """Whatever it was: so that histories get long."""
        change = Change(key, self.model.state().get(key), value)
        assert list(self.run(self.store.write(change))) == self.model.write([change])

    @rule(key=KEYS)
    def a_key_is_read(self, key: str) -> None:
        assert self.run(self.store.get(key)) == self.model.state().get(key)

    @rule(
        prefix=PREFIXES.filter(lambda prefix: prefix.endswith("/")),
        limit=st.integers(0, 4),
        back=st.integers(-1, 12),
    )
    def a_revision_is_listed(self, prefix: str, limit: int, back: int) -> None:
        at = max(0, self.model.revision - back)
        if at > self.model.revision:
            with pytest.raises(FutureRevision):
                self.run(self.store.list(prefix, limit=limit, at=at))
            return
        if at < self.model.compacted:
            with pytest.raises(Compacted):
                self.run(self.store.list(prefix, limit=limit, at=at))
            return
        state = self.model.state(at)
        expected = [entry for entry in state.values() if is_below(entry.key, prefix)]
        found: list[Entry] = []
        page = self.run(self.store.list(prefix, limit=limit, at=at))
        while True:
            assert page.revision == at
            found += page.entries
            if not page.next:
                break
            assert len(page.entries) == limit
            assert page.next.remaining == len(expected) - len(found) > 0
            page = self.run(self.store.list(prefix, limit=limit, start=page.next))
        assert found == expected

    @rule(prefix=PREFIXES, back=st.integers(0, 12))
    def a_watch_begins(self, prefix: str, back: int) -> None:
        after = max(0, self.model.revision - back)
        if after < self.model.compacted:
            with pytest.raises(Compacted):
                self.store.watch(prefix, after=after)
            return
        self.watches.append((self.store.watch(prefix, after=after), prefix, after))
        self.watches_hear_everything_once()

    @rule()
    def watches_hear_everything_once(self) -> None:
        self.run(self.hear())

    async def hear(self) -> None:
        told = self.model.revision
        for watch, prefix, after in self.watches:
            expected = self.model.heard(prefix, after)
            assert await self._heard(watch, len(expected)) == expected
        self.watches = [(watch, prefix, told) for watch, prefix, _ in self.watches]

    @staticmethod
    async def _heard(watch: Watch, count: int) -> list[Event]:
        events: list[Event] = []
        while len(events) < count:
            events += await anext(watch)
        # Silence about all that comes now is part of it; and it makes the watch a live one.
        waiting = asyncio.ensure_future(anext(watch))
        for _ in range(20):
            await asyncio.sleep(0)
        assert not waiting.done()
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        return events

    # What happens to it

    @rule(keep=st.integers(0, 8))
    def the_past_is_compacted(self, keep: int) -> None:
        floor = max(0, self.model.revision - keep)
        self.run(self.store.compact(floor))
        self.model.compacted = max(self.model.compacted, floor)

    @rule()
    def it_restarts(self) -> None:
        self.run(self.close())
        self.run(self.reopen())

    @rule()
    def it_crashes(self) -> None:
        self.keep_only_what_a_crash_leaves()
        self.run(self.close())
        self.run(self.reopen())

    @invariant()
    def it_is_where_the_model_is(self) -> None:
        assert self.store.revision == self.model.revision
        assert self.store.compacted == self.model.compacted


class OnDiskMachine(StoreMachine):
    def __init__(self) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="store-machine-"))
        self.lives = 0
        super().__init__()

    @property
    def path(self) -> Path:
        return self.root / str(self.lives) / "store.db"

    def open(self) -> AbstractAsyncContextManager[Store]:
        return open_store(self.path, clock=SystemClock(), settings=SETTINGS)

    def keep_only_what_a_crash_leaves(self) -> None:
        left = self.path.parent
        self.lives += 1
        self.path.parent.mkdir()
        for file in left.iterdir():
            if file.suffix != ".lock" and not file.name.endswith("-shm"):
                shutil.copy(file, self.path.parent)

    def teardown(self) -> None:
        try:
            super().teardown()
        finally:
            shutil.rmtree(self.root)


class InMemoryMachine(StoreMachine):
    def __init__(self) -> None:
        self.disk = MemoryDisk()
        super().__init__()

    def open(self) -> AbstractAsyncContextManager[Store]:
        return memory_store(self.disk, clock=SystemClock(), settings=SETTINGS)

    def keep_only_what_a_crash_leaves(self) -> None:
        self.disk = copy.deepcopy(self.disk)

    @precondition(lambda self: self.model.revision)
    @rule(key=KEYS)
    def the_disk_is_full_for_a_while(self, key: str) -> None:
        self.disk.fault = StoreFull("no room")
        change = Change(key, self.model.state().get(key), b"too much")
        with pytest.raises(StoreFull):
            self.run(self.store.write(change))
        self.disk.fault = None


OnDiskMachine.TestCase.settings = settings(max_examples=25, stateful_step_count=30)
TestStoreOnDisk = OnDiskMachine.TestCase

InMemoryMachine.TestCase.settings = settings(max_examples=80, stateful_step_count=40)
TestStoreInMemory = InMemoryMachine.TestCase
