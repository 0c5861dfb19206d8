"""No event is lost, invented or undone, whatever the server and the network do.

Hypothesis changes objects and breaks things in any order, while a handler checks each change that it is
told against the history of the server: it must be the next one there. Only a list may leave out what was
undone before it. Between steps the changes so far, replayed, must be the cache; whenever everything is
mended and quiet, the cache must be the collection.

More examples: `pytest --hypothesis-profile=thorough tests/property`.
"""

import asyncio
import contextlib
import random
from collections.abc import Coroutine, Iterator
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from tests.lamps import LAMPS, Lamp, key, lamp

from kubevirt.base.errors import Unreachable
from kubevirt.base.virtual_time import VirtualClock, VirtualTimeLoop
from kubevirt.kube.cache.reflector import ReflectorSettings
from kubevirt.kube.cache.store import Change
from kubevirt.kube.informer import Informer
from kubevirt.kube.key import Key
from kubevirt.kube.watch import EventType, WatchEvent
from kubevirt.testing.faulty_server import FaultyServer, expired, overloaded
from kubevirt.testing.history import Data, Revision
from kubevirt.testing.view import View

names = st.sampled_from("abcde")
colours = st.sampled_from(["white", "red", "blue", "hidden", 7])
"""7 is no colour: a lamp that has it cannot be read."""

SETTINGS = ReflectorSettings(
    page_size=2,
    batch=2,
    # Time is cheap here, and a server that lies about the past is not to be believed, ever.
    rewind_after_s=1e9,
)
LONG_ENOUGH_S = 400.0
"""The longest back-off, a silent watch, a list and some more."""


class InformerMachine(RuleBasedStateMachine):
    field_selector = ""
    server_type = FaultyServer

    def __init__(self) -> None:
        super().__init__()
        self.loop = VirtualTimeLoop()
        self.clock = VirtualClock()
        self.server = self.server_type(self.clock)
        self.informer = Informer(
            self.server,
            LAMPS,
            clock=self.clock,
            field_selector=self.field_selector,
            indexes={"colour": lambda lamp: lamp.colour},
            settings=SETTINGS,
            randomness=random.Random(7),
        )
        self.witnesses: list[Witness] = []
        self.task: asyncio.Task[None] | None = None

    @initialize(streams=st.booleans(), objects=st.sets(names))
    def begin(self, *, streams: bool, objects: set[str]) -> None:
        self.server.streams_lists = streams
        for name in sorted(objects):
            self.write(name, "white")
        self.listen()
        self.start()

    # What people do

    @rule(name=names, colour=colours)
    def write(self, name: str, colour: str | int) -> None:
        async def write() -> None:
            if key(name) in self.server.history.state(LAMPS):
                self.server.update(LAMPS, key(name), {"colour": colour})
            else:
                self.server.create(LAMPS, lamp(name) | {"colour": colour})

        self.do(write())

    @rule(name=names)
    def delete(self, name: str) -> None:
        if key(name) in self.server.history.state(LAMPS):
            self.server.delete(LAMPS, key(name))

    @rule(name=names, colour=colours)
    def recreate(self, name: str, colour: str | int) -> None:
        self.delete(name)
        self.write(name, colour)

    # What servers and networks do

    @rule()
    def drop(self) -> None:
        self.server.drop_streams()

    @rule()
    def truncate(self) -> None:
        self.server.truncate_streams()

    @rule()
    def close(self) -> None:
        self.server.close_streams()

    @rule()
    def stall(self) -> None:
        self.server.stall_streams()

    @rule()
    def hang(self) -> None:
        self.server.hang()

    @rule()
    def go_on(self) -> None:
        self.server.go_on()

    @rule()
    def go_down(self) -> None:
        self.server.go_down()

    @rule()
    def come_back(self) -> None:
        self.server.come_back()

    @rule()
    def restart(self) -> None:
        self.server.go_down()
        self.server.come_back()

    @rule()
    def compact(self) -> None:
        self.server.compact()

    @rule(back=st.integers(0, 5), lies=st.booleans())
    def meet_a_replica_that_is_behind(self, back: int, *, lies: bool) -> None:
        to = max(self.server.history.number - back, self.server.history.compacted)
        self.server.fall_behind(to=to, lies=lies)
        self.server.drop_streams()

    @rule(changes=st.integers(0, 4))
    def repeat_changes(self, changes: int) -> None:
        self.server.repeats = changes

    @rule()
    def catch_up(self) -> None:
        self.server.catch_up()

    @rule(seconds=st.sampled_from([0.0, 0.3, 3.0, 40.0]))
    def delay_events(self, seconds: float) -> None:
        self.server.delay_s = seconds

    @rule(code=st.sampled_from([0, 410, 429, 500, 503]), times=st.integers(1, 3))
    def fail(self, code: int, times: int) -> None:
        errors: dict[int, Exception] = {0: Unreachable("reset"), 410: expired(1, 2)}
        self.server.fail_next(*[errors.get(code) or overloaded(code)] * times)

    @rule(streams=st.booleans())
    def change_server(self, *, streams: bool) -> None:
        """To another replica, of another version."""
        self.server.streams_lists = streams
        self.server.drop_streams()

    @rule(
        name=names,
        tenths=st.integers(20, 100),
        fault=st.sampled_from(["drop", "close", "stall", "compact", "delete", "recreate"]),
    )
    def interrupt_a_list(self, name: str, tenths: int, fault: str) -> None:
        """A slow list is what most can happen to."""
        self.server.go_down()
        self.recreate(name, "red")
        self.server.compact()
        self.server.come_back()
        self.server.delay_s = 0.3
        self.wait(tenths / 10)
        match fault:
            case "delete":
                self.delete(name)
            case "recreate":
                self.recreate(name, "blue")
                self.server.compact()
            case _:
                getattr(self, fault)()

    # What time and we do

    @rule(turns=st.integers(1, 12))
    def take_turns(self, turns: int) -> None:
        """Stops in the middle of things: between two pages, two events, two parts of a list."""

        async def turn() -> None:
            for _ in range(turns):
                await asyncio.sleep(0)

        self.do(turn())

    @rule(seconds=st.sampled_from([0.1, 1.0, 2.0, 5.0, 31.0, 62.0, 100.0]))
    def wait(self, seconds: float) -> None:
        self.do(self.clock.sleep(seconds))

    @rule()
    def pause_informer(self) -> None:
        self.stop()
        self.start()

    @precondition(lambda self: len(self.witnesses) < 3)
    @rule()
    def listen(self) -> None:
        self.witnesses.append(Witness(self.server, self.informer, self.field_selector))

    @rule()
    def mend_everything(self) -> None:
        self.server.go_on()
        self.server.come_back()
        self.server.catch_up()
        self.server.delay_s = 0.0
        self.server._failures.clear()
        self.do(self.clock.sleep(LONG_ENOUGH_S))
        self.check_that_the_cache_is_the_collection()

    # What must hold

    @invariant()
    def the_changes_told_are_the_cache(self) -> None:
        for witness in self.witnesses:
            witness.look()
            assert not witness.complaints, witness.complaints
            assert witness.replayed == {Key.of(each): each for each in self.informer}

    def check_that_the_cache_is_the_collection(self) -> None:
        shown = {
            key: data
            for key, data in self.server.history.state(LAMPS).items()
            if is_shown(data, self.field_selector)
        }
        versions = {
            key: (data["metadata"]["uid"], data["metadata"]["resourceVersion"])
            for key, data in shown.items()
        }
        readable = {key: value for key, value in versions.items() if shown[key]["colour"] != 7}
        cached = {Key.of(each): each for each in self.informer}
        assert {
            key: (each.metadata.uid, each.metadata.resource_version)
            for key, each in cached.items()
            if key not in self.informer.unreadable
        } == readable
        assert {
            key: (each.metadata.uid, each.metadata.resource_version)
            for key, each in self.informer.unreadable.items()
        } == {key: value for key, value in versions.items() if key not in readable}
        # What cannot be read is shown as it last could be, and only if it still is the same object.
        assert all(versions[key][0] == each.metadata.uid for key, each in cached.items())
        for colour in ["white", "red", "blue", "hidden"]:
            assert {Key.of(each) for each in self.informer.by_index("colour", colour)} == {
                key for key, each in cached.items() if each.colour == colour
            }
        assert self.informer.is_synced
        assert self.informer.last_error is None
        assert self.server.open_streams == 1

    def teardown(self) -> None:
        try:
            if self.task:
                self.mend_everything()
                self.the_changes_told_are_the_cache()
                self.stop()
                assert self.server.open_streams == 0
                assert not asyncio.all_tasks(self.loop)
        finally:
            self.loop.close()

    def start(self) -> None:
        self.task = self.loop.create_task(self.informer.run())

    def stop(self) -> None:
        assert self.task
        self.task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            self.loop.run_until_complete(self.task)

    def do(self, work: Coroutine[Any, Any, None]) -> None:
        self.loop.run_until_complete(work)


class Witness:
    """A handler that knows the history, and complains about what it is told and what it is not."""

    def __init__(self, server: FaultyServer, informer: Informer[Lamp], field_selector: str) -> None:
        self.complaints: list[str] = []
        self.replayed: dict[Key, Lamp] = {}
        self._server = server
        self._informer = informer
        self._field_selector = field_selector
        self._last_versions: dict[str, int] = {}
        self._present: set[str] = set()
        self._lists = 0
        self._told_up_to: int | None = None
        """Every change up to this version has been told. None when a list comes: it tells how things
        are, and that is all that can be asked of it.
        """
        self._is_introduced = False
        informer.add_handler(self)
        self._is_introduced = True

    def __call__(self, change: Change[Lamp]) -> None:
        self.look()
        try:
            self._check_that_it_is_next(change)
            self._check(change)
        except AssertionError as complaint:
            self.complaints.append(f"{complaint}: {change}")

    def look(self) -> None:
        """Complains about a change that the informer has passed by and did not tell."""
        position, lists = self._informer.resource_version, self._informer.counts["lists"]
        if position is None or lists != self._lists:
            self._lists, self._told_up_to = lists, None
        if position is None:
            return
        if self._told_up_to is None:
            self._told_up_to = int(position)
        left_out = self._next_to_be_told()
        if left_out is not None and left_out.number <= int(position):
            self.complaints.append(f"left out: {left_out}")
        self._told_up_to = max(self._told_up_to, int(position))

    def _check_that_it_is_next(self, change: Change[Lamp]) -> None:
        if self._told_up_to is None or not self._is_introduced:
            return
        expected = self._next_to_be_told()
        assert expected is not None, "told before it was"
        told = None if change.new is None else change.new.metadata.resource_version
        wanted = str(expected.number) if self._shows(expected) else None
        assert (change.key, told) == (expected.key, wanted), f"left out: {expected}"
        self._told_up_to = expected.number

    def _next_to_be_told(self) -> Revision | None:
        later = self._server.history.after(LAMPS, self._told_up_to or 0)
        return next(filter(self._has_to_be_told, later), None)

    def _has_to_be_told(self, revision: Revision) -> bool:
        if self._shows(revision):
            return bool(revision.data["colour"] != 7)  # what cannot be read is not told of
        return revision.key in self.replayed

    def _shows(self, revision: Revision) -> bool:
        return revision.type is not EventType.DELETED and is_shown(
            revision.data, self._field_selector
        )

    def _check(self, change: Change[Lamp]) -> None:
        uid = change.object.metadata.uid
        last = self._last_versions.get(uid)
        assert self.replayed.get(change.key) is change.old, "old is not what was told last"
        if change.new is None:
            assert uid in self._present, "deleted what was not there"
            assert last is not None
            assert self._was_hidden(uid, last, None), "deleted what is still there"
            self._present.discard(uid)
            del self.replayed[change.key]
            return
        assert change.old is None or change.old.metadata.uid == uid, "two objects in one change"
        version = int(change.new.metadata.resource_version or 0)
        assert self._existed(change.new, version), "this state never was"
        assert last is None or last < version, "back in time"
        if change.old is None and last is not None:
            assert self._was_hidden(uid, last, version), "came back from the dead"
        self._last_versions[uid] = version
        self._present.add(uid)
        self.replayed[change.key] = change.new

    def _existed(self, thing: Lamp, version: int) -> bool:
        return any(
            revision.number == version
            and revision.type is not EventType.DELETED
            and revision.key == Key.of(thing)
            and revision.data["metadata"]["uid"] == thing.metadata.uid
            and revision.data["colour"] == thing.colour
            for revision in self._revisions()
        )

    def _was_hidden(self, uid: str, after: int, before: int | None) -> bool:
        """Between these versions the object was deleted, or out of the selector's sight."""
        return any(
            after < revision.number
            and (before is None or revision.number < before)
            and revision.data["metadata"]["uid"] == uid
            and (
                revision.type is EventType.DELETED
                or not is_shown(revision.data, self._field_selector)
            )
            for revision in self._revisions()
        )

    def _revisions(self) -> list[Revision]:
        return list(self._server.history.after(LAMPS, 0))


def is_shown(data: Data, field_selector: str) -> bool:
    return not field_selector or data["colour"] != "hidden"


class SelectingInformerMachine(InformerMachine):
    """Objects also come and go because they change, under the same UID."""

    field_selector = "colour!=hidden"


class HastyServer(FaultyServer):
    """It tells how things are, and leaves out how they came to be like that."""

    def _news(self, view: View[Any], cursor: int) -> Iterator[WatchEvent[Any]]:
        last: dict[Key, WatchEvent[Any]] = {}
        for event in super()._news(view, cursor):
            assert event.object is not None
            last[Key.of(event.object)] = event
        yield from sorted(last.values(), key=lambda event: int(event.resource_version))


class HastyMachine(InformerMachine):
    server_type = HastyServer


def thoroughly() -> settings:
    """A few seconds with the house's profile."""
    return settings(max_examples=settings().max_examples * 2, stateful_step_count=40)


@pytest.mark.timeout(1800)
def test_an_informer_of_everything_misses_and_invents_nothing() -> None:
    run_state_machine_as_test(InformerMachine, settings=thoroughly())


@pytest.mark.timeout(1800)
def test_an_informer_with_a_selector_misses_and_invents_nothing() -> None:
    run_state_machine_as_test(SelectingInformerMachine, settings=thoroughly())


@pytest.mark.parametrize("end", ["changed again", "gone again"])
def test_a_change_that_is_left_out_is_noticed(end: str) -> None:
    machine = HastyMachine()
    machine.begin(streams=True, objects={"a"})
    machine.wait(1.0)
    machine.the_changes_told_are_the_cache()
    machine.go_down()
    if end == "changed again":
        machine.write("a", "red")
        machine.write("a", "blue")
    else:
        machine.recreate("b", "red")
        machine.delete("b")
    machine.come_back()
    machine.wait(5.0)
    with pytest.raises(AssertionError, match="left out"):
        machine.the_changes_told_are_the_cache()
    machine.stop()
    machine.loop.close()
