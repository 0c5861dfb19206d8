"""The work queue against a model that is too simple to be wrong, under random histories.

The machine adds, delays and retries keys, parks workers in `get`, cancels them, finishes keys and
lets time pass. The model is a list, a few dicts and no wake-ups; both must hand out the same keys in
the same order at the same time.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
)

from kubevirt.base.virtual_time import VirtualClock, VirtualTimeLoop
from kubevirt.kube.backoff import BackoffSettings, KeyedBackoff
from kubevirt.kube.queue import WorkQueue

T = TypeVar("T")

KEYS = st.sampled_from("abcdef")
HALF_SECONDS = st.integers(1, 20).map(lambda halves: halves / 2)  # exact in binary: no rounding
BACKOFF = BackoffSettings(base_s=0.5, cap_s=8)


@dataclass
class Model:
    """What the queue promises, spelled out."""

    now: float = 0.0
    waiting: list[str] = field(default_factory=list)
    running: list[str] = field(default_factory=list)
    again: list[str] = field(default_factory=list)
    delayed: dict[str, tuple[float, int]] = field(default_factory=dict)
    failures: dict[str, int] = field(default_factory=dict)
    parked_workers: int = 0
    handed_out: list[str] = field(default_factory=list)
    puts: int = 0

    def add(self, key: str) -> None:
        if key in self.waiting or key in self.again:
            return
        (self.again if key in self.running else self.waiting).append(key)
        self.hand_out()

    def add_after(self, key: str, seconds: float) -> None:
        self.puts += 1
        due = self.now + seconds
        if key not in self.delayed or due < self.delayed[key][0]:
            self.delayed[key] = (due, self.puts)

    def retry(self, key: str) -> None:
        failures = self.failures.get(key, 0)
        self.failures[key] = failures + 1
        self.add_after(key, min(BACKOFF.base_s * 2**failures, BACKOFF.cap_s))

    def done(self, key: str) -> None:
        self.running.remove(key)
        if key in self.again:
            self.again.remove(key)
            self.waiting.append(key)
            self.hand_out()

    def advance(self, seconds: float) -> None:
        end = self.now + seconds
        while due := [key for key, (when, _) in self.delayed.items() if when <= end]:
            key = min(due, key=lambda key: self.delayed[key])
            self.now, _ = self.delayed.pop(key)
            self.add(key)
        self.now = end

    def hand_out(self) -> None:
        while self.parked_workers and self.waiting:
            self.parked_workers -= 1
            key = self.waiting.pop(0)
            self.running.append(key)
            self.handed_out.append(key)


class QueueMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner(loop_factory=VirtualTimeLoop)
        self.clock = VirtualClock()
        self.queue: WorkQueue[str] = WorkQueue("test", self.clock, backoff=KeyedBackoff(BACKOFF))
        self.model = Model()
        self.workers: list[asyncio.Task[None]] = []
        self.handed_out: list[str] = []

    def teardown(self) -> None:
        self.within(lambda: _cancel(self.workers))
        self.runner.close()

    def within(self, work: Callable[[], Awaitable[T]]) -> T:
        """Runs `work` in the loop, then lets everyone who was woken go on."""

        async def run() -> T:
            result = await work()
            for _ in range(20):
                await asyncio.sleep(0)
            return result

        return self.runner.run(run())

    def call(self, action: Callable[[], None]) -> None:
        async def act() -> None:
            action()

        self.within(act)

    @rule(key=KEYS)
    def add(self, key: str) -> None:
        self.call(lambda: self.queue.add(key))
        self.model.add(key)

    @rule(key=KEYS, seconds=HALF_SECONDS)
    def add_after(self, key: str, seconds: float) -> None:
        self.call(lambda: self.queue.add_after(key, seconds))
        self.model.add_after(key, seconds)

    @rule(key=KEYS)
    def retry(self, key: str) -> None:
        self.call(lambda: self.queue.retry(key))
        self.model.retry(key)

    @rule(key=KEYS)
    def forget(self, key: str) -> None:
        self.call(lambda: self.queue.forget(key))
        self.model.failures.pop(key, None)

    @rule()
    def a_worker_asks_for_a_key(self) -> None:
        async def get() -> None:
            self.handed_out.append(await self.queue.get())

        self.call(lambda: self.workers.append(asyncio.create_task(get())))
        self.model.parked_workers += 1
        self.model.hand_out()

    @precondition(lambda self: self.model.parked_workers)
    @rule(data=st.data())
    def a_parked_worker_is_cancelled(self, data: st.DataObject) -> None:
        parked = [task for task in self.workers if not task.done()]
        task = data.draw(st.sampled_from(parked))
        self.within(lambda: _cancel([task]))
        self.model.parked_workers -= 1

    @precondition(lambda self: self.model.parked_workers)
    @rule(key=KEYS, data=st.data())
    def a_worker_is_cancelled_in_the_moment_it_is_called(
        self, key: str, data: st.DataObject
    ) -> None:
        parked = [task for task in self.workers if not task.done()]
        task = data.draw(st.sampled_from(parked))

        async def add_then_cancel() -> None:
            self.queue.add(key)
            await _cancel([task])

        self.within(add_then_cancel)
        # The called worker never took the key: whoever else is parked gets it.
        self.model.parked_workers -= 1
        self.model.add(key)

    @precondition(lambda self: self.model.running)
    @rule(data=st.data())
    def a_key_is_done(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(self.model.running))
        self.call(lambda: self.queue.done(key))
        self.model.done(key)

    @rule(seconds=HALF_SECONDS)
    def time_passes(self, seconds: float) -> None:
        self.within(lambda: self.clock.sleep(seconds))
        self.model.advance(seconds)

    @invariant()
    def the_same_keys_were_handed_out_in_the_same_order(self) -> None:
        assert self.handed_out == self.model.handed_out

    @rule()
    def no_key_is_lost(self) -> None:
        """A rule and not an invariant: looking moves keys that are due, which nobody may rely on."""

        async def counts() -> tuple[int, int, int]:
            return self.queue.depth, self.queue.running, self.queue.delayed

        assert self.within(counts) == (
            len(self.model.waiting) + len(self.model.again),
            len(self.model.running),
            len(self.model.delayed),
        )

    @invariant()
    def no_key_has_two_workers(self) -> None:
        assert len(set(self.model.running)) == len(self.model.running)


async def _cancel(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


QueueMachine.TestCase.settings = settings(max_examples=100, stateful_step_count=50)
TestQueue = QueueMachine.TestCase
