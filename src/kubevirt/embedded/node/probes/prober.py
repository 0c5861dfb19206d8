"""Asks one try of a container by its probes, for as long as it runs."""

import asyncio
from collections.abc import Callable
from datetime import datetime

import msgspec

from kubevirt.api.core.probes import Probe
from kubevirt.base.clock import Clock
from kubevirt.embedded.node.probes.asking import Asking, Target
from kubevirt.embedded.node.probes.schedule import Answer, Probing, Schedule
from kubevirt.embedded.node.seen import Probed

OnFound = Callable[[Probed], None]
OnTold = Callable[[str, Answer], None]
"""Hears, by the kind of the probe, of every answer that is bad or has a warning."""


def has_probes(target: Target) -> bool:
    container = target.container
    return any((container.startup_probe, container.liveness_probe, container.readiness_probe))


class Prober:
    def __init__(
        self,
        asking: Asking,
        target: Target,
        *,
        clock: Clock,
        started_at: datetime,
        before: Probed,
        on_found: OnFound,
        on_told: OnTold,
    ) -> None:
        """`before` is what was found already, by a process that came before this one."""
        self._asking = asking
        self._target = target
        self._clock = clock
        self._probing = _going_on(Probing.of(target.container, started_at), before)
        self._on_found = on_found
        self._on_told = on_told

    async def run(self) -> None:
        """Until it is given up, or nobody wants to know any more (by cancelling this)."""
        await self._ask_by("startup")
        async with asyncio.TaskGroup() as tasks:
            for kind in ("liveness", "readiness"):
                tasks.create_task(self._ask_by(kind))

    async def _ask_by(self, kind: str) -> None:
        while (at := self._probing.due().get(kind)) is not None:
            schedule: Schedule = getattr(self._probing, kind)
            wait_s = (at - self._clock.now()).total_seconds()
            if wait_s > 0:
                await self._clock.sleep(min(wait_s, schedule.longest_wait_s))
            answer = await self._answer(schedule.probe, schedule.timeout_s)
            self._learn(kind, answer)

    async def _answer(self, probe: Probe, timeout_s: float) -> Answer:
        return await self._asking.ask(probe, self._target, timeout_s)

    def _learn(self, kind: str, answer: Answer) -> None:
        before = self._probing.found()
        self._probing = self._probing.after(kind, answer, self._clock.now())
        if answer.is_warning or not answer.is_good:
            self._on_told(kind, answer)
        if self._probing.found() != before:
            self._on_found(self._probing.found())


def _going_on(probing: Probing, before: Probed) -> Probing:
    changes: dict[str, Schedule] = {}
    if probing.startup is not None and before.has_started:
        changes["startup"] = msgspec.structs.replace(probing.startup, is_good=True)
    if probing.readiness is not None and before.is_ready:
        changes["readiness"] = msgspec.structs.replace(probing.readiness, is_good=True)
    return msgspec.structs.replace(probing, **changes)
