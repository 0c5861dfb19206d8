"""One pod, from its arrival to the moment that nothing is left of it.

    worker = PodWorker(pod, parts, records, judge)
    await worker.run()

Looks, decides (`life.py`), tells the server, acts, and waits for something to change. What was decided
last is held here; the server hears of it by the side (`status_writer.py`), a few changes at a time where
nobody waits for them. What an action changes shows in the memory of the pod as soon as it has begun, so
nothing is done twice; one that takes its time is a task of its own, and its key is held meanwhile.
"""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from datetime import datetime
from typing import Any, Final

import msgspec

from kubevirt.api.core.pod import Pod
from kubevirt.api.scheme import PODS
from kubevirt.base.errors import KubevirtError, Retry
from kubevirt.base.log import get_logger
from kubevirt.embedded.node import happenings, policy, stopping, surrounding
from kubevirt.embedded.node.actions import (
    Action,
    Delete,
    PrepareVolumes,
    SetUpNetwork,
    TearDown,
    Wait,
)
from kubevirt.embedded.node.happenings import Happening
from kubevirt.embedded.node.life import decide
from kubevirt.embedded.node.memory import PodMemory
from kubevirt.embedded.node.parts import Parts
from kubevirt.embedded.node.pod_containers import PodContainers
from kubevirt.embedded.node.pod_status import is_urgent, merged
from kubevirt.embedded.node.records import PodRecords
from kubevirt.embedded.node.seen import Verdict
from kubevirt.embedded.node.status_writer import StatusWriter
from kubevirt.embedded.objects.pods import spec_of
from kubevirt.kube.errors import Conflict, NotFound

log = get_logger(__name__)

Judge = Callable[[Pod], Verdict | None]
Key = tuple[str, ...]
Work = Callable[[], Coroutine[Any, Any, None]]

_SOONEST_S: Final = 0.01
_RETRY_S: Final = 1.0
_AFTER_BUG_S: Final = 5.0


class PodWorker:
    def __init__(self, pod: Pod, parts: Parts, folder: PodRecords, judge: Judge) -> None:
        self._pod = pod
        self._parts = parts
        self._judge = judge
        self._called = asyncio.Event()
        self._news = asyncio.Event()
        self._in_flight: dict[Key, asyncio.Task[None]] = {}
        self._tasks: asyncio.TaskGroup | None = None
        self._is_gone = False
        self._ceiling_s: float | None = None
        """Set when the home goes down: how long a container may take at most."""
        self._writer = StatusWriter(parts.client, parts.clock, pod, parts.settings.coalescing_s)
        self.memory = PodMemory.recall(pod, folder, parts.boot_id)
        self._containers = PodContainers(self)

    # For whoever holds it

    @property
    def pod(self) -> Pod:
        """With the status that was decided last."""
        return self._pod

    @property
    def parts(self) -> Parts:
        return self._parts

    @property
    def names(self) -> frozenset[str]:
        """Of its containers."""
        return frozenset(each.name for each in policy.all_containers(self._pod))

    @property
    def is_over(self) -> bool:
        """It takes no room on the node any more."""
        return self._pod.status.phase in policy.FINAL_PHASES

    def update(self, pod: Pod) -> None:
        """As the server has it now."""
        self._writer.learn(pod)
        before, now = self._pod.metadata, pod.metadata
        self._pod = merged(pod, self._pod.status)
        if not self.memory.is_known:
            return self.poke()
        if (before.generation, before.deletion_timestamp) != (
            now.generation,
            now.deletion_timestamp,
        ):
            self.memory.folder.keep_pod(self._pod)
        if (before.labels, before.annotations) != (now.labels, now.annotations):
            self._refresh_volumes()
        return self.poke()

    def wake(self) -> None:
        """Something came that its volumes may wait for, or one of them is overfull."""
        self._news.set()
        self.poke()

    def remove(self) -> None:
        """Its object is gone, and it has to go at once."""
        self._is_gone = True
        self._writer.forget()
        metadata = self._pod.metadata
        self._pod = msgspec.structs.replace(
            self._pod,
            metadata=msgspec.structs.replace(
                metadata,
                deletion_timestamp=metadata.deletion_timestamp or self._parts.clock.now(),
                deletion_grace_period_seconds=0,
            ),
        )
        self.poke()

    def evict(self, why: str) -> None:
        self.memory.verdict = Verdict(reason="Evicted", message=why)
        self.tell(happenings.evicted(why))
        self.poke()

    def go_down(self, ceiling_s: float) -> None:
        """The home goes down: all containers are stopped, and `run` returns. The pod stays."""
        self._ceiling_s = ceiling_s
        self.poke()

    # For its own parts

    def poke(self) -> None:
        self._called.set()

    def tell(self, happening: Happening) -> None:
        self._parts.tell(self._pod, happening)

    @property
    def is_going_down(self) -> bool:
        return self._ceiling_s is not None

    def refuse(self, reason: str, message: str) -> None:
        """The pod is not let in, or is sent away before anything of it has begun."""
        self.memory.verdict = Verdict(reason=reason, message=message, is_refusal=True)
        self.tell(Happening(reason=reason, message=message, is_warning=True))

    def begin(self, key: Key, work: Work) -> None:
        """Beside everything else, unless it is on its way already."""
        if key in self._in_flight or self._tasks is None:
            return
        task = self._tasks.create_task(self._carry_out(work))
        self._in_flight[key] = task
        task.add_done_callback(lambda _: self._is_done(key))

    def _is_done(self, key: Key) -> None:
        del self._in_flight[key]
        self.poke()

    def call_off(self, key: Key) -> None:
        if task := self._in_flight.get(key):
            task.cancel()

    def is_under_way(self, what: str) -> bool:
        return any(key[0] == what for key in self._in_flight)

    async def _carry_out(self, work: Work) -> None:
        try:
            await work()
        except Exception:  # one pod's trouble is not the others'
            log.exception("work for a pod failed", pod=self._pod.metadata.name)
            await self._parts.clock.sleep(_AFTER_BUG_S)

    # Life

    async def run(self) -> None:
        async with asyncio.TaskGroup() as self._tasks:
            writing = self._tasks.create_task(self._writer.run())
            self._come_in()
            self._containers.adopt()
            while not self._is_finished():
                self._called.clear()
                until = self._take_turn()
                await self._wait(until)
            writing.cancel()
            for task in list(self._in_flight.values()):
                task.cancel()
        if self._is_gone:
            await self._forget()
        else:
            self._leave()

    async def _forget(self) -> None:
        """The folder that components know goes only if nothing of anybody is in it; our own only when
        nothing runs in it, not even what the pod does not name.
        """
        for attempt in self.memory.folder.all_attempts():
            await self._containers.end(attempt)
        folder = self._parts.settings.pod_folder(self.memory.folder.uid)
        with suppress(OSError):
            (folder / "etc-hosts").unlink(missing_ok=True)
            folder.rmdir()
        await asyncio.to_thread(self.memory.folder.remove)  # a container may have written much

    def _leave(self) -> None:
        """Until the home comes up again."""
        self.memory.remember(is_down=True, network=None, has_volumes=False)
        try:
            self._parts.neighbours.groups.remove(self.memory.folder.uid)
        except (KubevirtError, OSError) as error:
            log.warning("control groups not removed", pod=self._pod.metadata.name, error=error)

    def _come_in(self) -> None:
        """What was let in once stays in. Volumes and network of one that is found again are seen to,
        since whoever kept them fresh is gone.
        """
        memory = self.memory
        if memory.is_known:
            self._refresh_volumes()
            return
        is_ending = policy.is_ending(self._pod, memory.seen(()), self._parts.clock.now())
        refusal = None if is_ending else self._judge(self._pod)
        if refusal is not None:
            self.refuse(refusal.reason, refusal.message)
        elif not is_ending:
            self._let_in()

    def _let_in(self) -> None:
        try:
            self.memory.let_in(self._pod)
        except OSError as error:
            why = f"the node cannot write down that the pod is here: {error.strerror}"
            self.tell(Happening(reason="FailedSync", message=why, is_warning=True))
            raise Retry(why) from None

    def _refresh_volumes(self) -> None:
        if self.memory.state.has_volumes and not self.memory.state.is_torn_down:
            self.begin(("refresh",), self._refresh)

    async def _refresh(self) -> None:
        await surrounding.prepare_volumes(
            lambda: self._pod, self.memory, self._parts, self._news, self.poke
        )
        if self.memory.network is not None:
            await surrounding.set_up_network(lambda: self._pod, self.memory, self._parts)

    def _is_finished(self) -> bool:
        """Nothing of it runs, and nobody will ask for it any more."""
        if self.memory.running() or self._containers.is_starting:
            return False
        return self.is_going_down or (self._is_gone and self.memory.state.is_torn_down)

    def _take_turn(self) -> datetime | None:
        """When to look again if nothing happens."""
        self._containers.keep_watch()
        self._look_at_volumes()
        now = self._parts.clock.now()
        seen = self.memory.seen(self._parts.settings.addresses)
        if self.is_going_down:
            return self._stop_everything(now)
        if self._containers.is_starting and policy.is_ending(self._pod, seen, now):
            return None  # what is about to run must be seen before it can be stopped
        plan = decide(self._pod, seen, now)
        before = self._pod.status
        self._pod = msgspec.structs.replace(self._pod, status=plan.status)
        for each in happenings.between(self._pod, before, plan.status):
            self.tell(each)
        if plan.status.reason == policy.DEADLINE.reason != before.reason:
            self.tell(happenings.deadline_exceeded())
        self._writer.want(plan.status, is_urgent=is_urgent(before, plan.status))
        for action in plan.actions:
            self._act(action)
        return plan.look_again

    def _look_at_volumes(self) -> None:
        why = self._parts.neighbours.volumes.overfull(self.memory.folder.uid)
        if why and self.memory.verdict is None:
            self.evict(why)

    def _stop_everything(self, now: datetime) -> datetime | None:
        grace = min(float(policy.grace_s(self._pod)), self._ceiling_s or 0)
        spec = msgspec.structs.replace(
            spec_of(self._pod), termination_grace_period_seconds=int(grace)
        )
        pod = msgspec.structs.replace(self._pod, spec=spec)
        waits = []
        for step in stopping.of_pod(pod, self.memory.seen(()), now):
            if isinstance(step, Wait):
                waits.append(step.until)
            else:
                self._act(step)
        return min(waits, default=None)

    async def _wait(self, until: datetime | None) -> None:
        wait_s = None
        if until is not None:
            wait_s = max((until - self._parts.clock.now()).total_seconds(), _SOONEST_S)
        with suppress(TimeoutError):
            async with self._parts.clock.timeout(wait_s):
                await self._called.wait()

    # Actions

    def _act(self, action: Action) -> None:
        match action:
            case PrepareVolumes():
                self.begin(("volumes",), self._prepare_volumes)
            case SetUpNetwork():
                self.begin(("network",), self._set_up_network)
            case TearDown():
                self.begin(("tear down",), self._tear_down)
            case Delete():
                self.begin(("delete",), self._delete)
            case _:
                if told := happenings.of_action(action):
                    self.tell(told)
                self._containers.act(action)

    async def _prepare_volumes(self) -> None:
        await surrounding.prepare_volumes(
            lambda: self._pod, self.memory, self._parts, self._news, self.poke
        )

    async def _set_up_network(self) -> None:
        await surrounding.set_up_network(lambda: self._pod, self.memory, self._parts)

    async def _tear_down(self) -> None:
        """Whatever is still being made for it is called off first."""
        for key, task in list(self._in_flight.items()):
            if key != ("tear down",):
                task.cancel()
                await asyncio.wait([task])
        if self.memory.is_known or self._is_gone:
            await surrounding.tear_down(lambda: self._pod, self.memory, self._parts)
        else:
            self.memory.remember(is_torn_down=True)

    async def _delete(self) -> None:
        """The object, once it says how the pod ended."""
        if self._is_gone:
            return
        await self._writer.flush()
        metadata = self._pod.metadata
        while not self._is_gone:
            try:
                await self._parts.client.delete(
                    PODS,
                    metadata.name or "",
                    metadata.namespace,
                    uid=metadata.uid,
                    grace_period_s=0,
                )
            except (NotFound, Conflict):
                self.remove()
            except KubevirtError as error:
                log.warning("pod not deleted", pod=metadata.name, error=error)
                await self._parts.clock.sleep(_RETRY_S)
            else:
                # Somebody's finalizer may hold it. It is not asked for again: we hear of its end.
                await asyncio.Event().wait()
