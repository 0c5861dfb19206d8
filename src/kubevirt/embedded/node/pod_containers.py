"""The containers of one pod: starts them, watches them, asks them, stops them.

A part of `worker.py`: what it decides is done here, and what comes of it is put into the pod's memory.
"""

import asyncio
import signal
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, Final, Protocol

from kubevirt.api.core.container import Container
from kubevirt.api.core.pod import Pod
from kubevirt.base.errors import KubevirtError, Retry
from kubevirt.base.log import get_logger
from kubevirt.embedded.node import happenings, hooks, launching, records, sighting
from kubevirt.embedded.node.actions import (
    Action,
    BeginToStop,
    GetImage,
    Kill,
    RunPostStart,
    RunPreStop,
    Start,
    Terminate,
)
from kubevirt.embedded.node.happenings import Happening
from kubevirt.embedded.node.memory import PodMemory
from kubevirt.embedded.node.neighbours import NotNow
from kubevirt.embedded.node.parts import Parts
from kubevirt.embedded.node.policy import all_containers
from kubevirt.embedded.node.probes.asking import Asking, Target
from kubevirt.embedded.node.probes.prober import Prober, has_probes
from kubevirt.embedded.node.seen import Hook, Probed, Setback, Stopping, Tried
from kubevirt.embedded.runtime import hearing
from kubevirt.embedded.runtime.attempt import Attempt

log = get_logger(__name__)

_KILLED: Final = 137
_LOCK_S: Final = 0.05
_REFUSAL: Final = "UnexpectedAdmissionError"
"""Devices are not to be had: a kubelet does not let such a pod in, and whoever made it makes another."""
_IMAGE_REASONS: Final = ("ErrImagePull", "ErrImageNeverPull", "InvalidImageName")


class Worker(Protocol):
    """What this part knows of the worker."""

    memory: PodMemory

    @property
    def pod(self) -> Pod: ...
    @property
    def parts(self) -> Parts: ...
    @property
    def is_going_down(self) -> bool: ...
    def poke(self) -> None: ...
    def refuse(self, reason: str, message: str) -> None: ...
    def tell(self, happening: Happening) -> None: ...
    def begin(
        self, key: tuple[str, ...], work: Callable[[], Coroutine[Any, Any, None]]
    ) -> None: ...
    def call_off(self, key: tuple[str, ...]) -> None: ...
    def is_under_way(self, what: str) -> bool: ...


class PodContainers:
    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._asking = Asking(worker.parts.neighbours.keeper, worker.parts.standpoint)

    @property
    def is_starting(self) -> bool:
        """Something may run in a moment that is not seen yet."""
        return self._worker.is_under_way("start")

    @property
    def _memory(self) -> PodMemory:
        return self._worker.memory

    def adopt(self) -> None:
        """Whatever runs already, and was started by somebody before us."""
        for name, tried in self._memory.running():
            self._probe(name, tried)
        for container in all_containers(self._worker.pod):
            last = self._memory.last(container.name)
            if last is not None and not last.is_running and not last.is_of_before:
                self._end(container, last)

    def keep_watch(self) -> None:
        """Of all that runs, whoever started it."""
        for name, tried in self._memory.running():
            self._watch(name, tried)

    def act(self, action: Action) -> None:
        match action:
            case GetImage(container=name, number=number):
                self._worker.begin(("image", name), lambda: self._get_image(name, number))
            case Start(container=name, number=number):
                self._worker.begin(("start", name), lambda: self._start(name, number))
            case RunPostStart(container=name, number=number):
                self._memory.change(name, number, post_start=Hook.RUNNING)
                self._worker.begin(("hook", name), lambda: self._post_start(name, number))
                self._worker.poke()
            case BeginToStop(container=name, number=number):
                self._begin_to_stop(name, number)
            case RunPreStop(container=name, number=number, limit_s=limit_s):
                self._memory.change_stopping(name, number, pre_stop=Hook.RUNNING)
                self._worker.begin(("stop", name), lambda: self._pre_stop(name, number, limit_s))
                self._worker.poke()
            case Terminate(container=name, number=number):
                now = self._worker.parts.clock.now()
                self._memory.change_stopping(name, number, asked_at=now)
                number_of = self._stop_signal(name)
                self._worker.begin(("term", name), lambda: self._ask(name, number, number_of))
                self._worker.poke()
            case Kill(container=name, number=number):
                self._memory.change_stopping(name, number, is_killed=True)
                self._worker.begin(("kill", name), lambda: self._kill(name, number))

    def _container(self, name: str) -> Container:
        return next(each for each in all_containers(self._worker.pod) if each.name == name)

    def _attempt(self, name: str, number: int) -> Attempt:
        return self._memory.folder.attempt(name, number)

    # Coming up

    async def _get_image(self, name: str, number: int) -> None:
        container = self._container(name)
        try:
            image = await launching.image_for(self._worker.pod, container, self._worker.parts)
        except NotNow as error:
            self._set_back(name, error, container.image or "")
        except KubevirtError as error:
            self._set_back(name, NotNow("ErrImagePull", str(error)), container.image or "")
        else:
            self._memory.has_image(name, number, image)

    async def _start(self, name: str, number: int) -> None:
        container = self._container(name)
        try:
            tried = await launching.start(
                self._worker.pod, container, number, self._memory, self._worker.parts
            )
        except NotNow as error:
            if error.reason == _REFUSAL and not self._memory.has_begun:
                self._worker.refuse(error.reason, error.message)
            else:
                self._set_back(name, error, "")
        except KubevirtError as error:
            self._set_back(name, NotNow("CreateContainerError", str(error)), "")
        else:
            self._memory.add(name, tried)
            self._probe(name, tried)

    def _set_back(self, name: str, error: NotNow, image: str) -> None:
        before = self._memory.setbacks.get(name)
        is_image = error.reason in _IMAGE_REASONS
        times = before.times + 1 if before and is_image and before.image else 1
        self._memory.set_back(
            name,
            Setback(
                reason=error.reason,
                message=error.message,
                at=self._worker.parts.clock.now(),
                times=times,
                image=image,
            ),
        )

    # Being there

    def _watch(self, name: str, tried: Tried) -> None:
        self._worker.begin(("watch", name), lambda: self._see_end(name, tried))

    async def _see_end(self, name: str, tried: Tried) -> None:
        attempt = self._attempt(name, tried.number)
        while attempt.is_running:
            try:
                await attempt.ended()
            except Retry:
                await self._worker.parts.clock.sleep(_LOCK_S)
        for key in ("probe", "hook", "stop", "term", "kill"):
            self._worker.call_off((key, name))
        self._end(self._container(name), tried)
        self._worker.poke()
        await asyncio.to_thread(self._memory.folder.forget_old, name)

    def _end(self, container: Container, tried: Tried) -> None:
        attempt = self._attempt(container.name, tried.number)
        if (ending := attempt.ending) and ending.code == _KILLED and self._lacked_memory(container):
            records.keep_out_of_memory(attempt)
        ended = sighting.ended(container, attempt)
        self._memory.change(container.name, tried.number, ended=ended)

    def _lacked_memory(self, container: Container) -> bool:
        groups = self._worker.parts.neighbours.groups
        try:
            return groups.is_out_of_memory(self._memory.folder.uid, container.name)
        except (KubevirtError, OSError) as error:
            log.debug("control group not read", container=container.name, reason=str(error))
            return False

    def _target(self, name: str, number: int) -> Target:
        network = self._memory.network
        return Target(
            container=self._container(name),
            attempt=self._attempt(name, number),
            address=network.addresses[0] if network else "",
        )

    def _probe(self, name: str, tried: Tried) -> None:
        target = self._target(name, tried.number)
        if not has_probes(target) or tried.post_start is not Hook.DONE or tried.stopping:
            return
        prober = Prober(
            self._asking,
            target,
            clock=self._worker.parts.clock,
            started_at=tried.started_at,
            before=tried.probed,
            on_found=lambda found: self._found(name, tried.number, found),
            on_told=lambda kind, answer: self._worker.tell(
                happenings.of_answer(name, kind.capitalize(), answer)
            ),
        )
        self._worker.begin(("probe", name), prober.run)

    def _found(self, name: str, number: int, found: Probed) -> None:
        self._memory.change(name, number, probed=found)
        self._worker.poke()

    async def _post_start(self, name: str, number: int) -> None:
        container = self._container(name)
        handler = container.lifecycle.post_start if container.lifecycle else None
        if handler is None:
            return
        answer = await hooks.run(
            handler,
            self._target(name, number),
            hooks.POST_START_S,
            asking=self._asking,
            clock=self._worker.parts.clock,
        )
        self._memory.change(name, number, post_start=Hook.DONE if answer.is_good else Hook.FAILED)
        if not answer.is_good:
            self._worker.tell(happenings.post_start_failed(name))
        elif tried := self._memory.last(name):
            self._probe(name, tried)

    # Going down

    def _begin_to_stop(self, name: str, number: int) -> None:
        stopping = Stopping(
            since=self._worker.parts.clock.now(), is_interruption=self._worker.is_going_down
        )
        records.keep_stopping(self._attempt(name, number), stopping)
        self._memory.change(name, number, stopping=stopping)
        self._worker.call_off(("probe", name))
        self._worker.poke()

    async def _pre_stop(self, name: str, number: int, limit_s: float) -> None:
        container = self._container(name)
        handler = container.lifecycle.pre_stop if container.lifecycle else None
        if handler is not None:
            answer = await hooks.run(
                handler,
                self._target(name, number),
                limit_s,
                asking=self._asking,
                clock=self._worker.parts.clock,
            )
            if not answer.is_good:
                self._worker.tell(happenings.pre_stop_failed(name))
        self._memory.change_stopping(name, number, pre_stop=Hook.DONE)

    def _stop_signal(self, name: str) -> signal.Signals:
        """What the pod says, or its image, or SIGTERM. What is no signal is none."""
        lifecycle = self._container(name).lifecycle
        _, image = self._memory.images.get(name, (0, None))
        asked = (lifecycle.stop_signal if lifecycle else None) or (
            image.config.stop_signal if image else ""
        )
        with suppress(KeyError):
            return signal.Signals[asked if asked.startswith("SIG") else f"SIG{asked}"]
        return signal.SIGTERM

    async def end(self, attempt: Attempt) -> None:
        """At once, whatever it is."""
        clock = self._worker.parts.clock
        while attempt.is_running:
            await hearing.send(attempt, signal.SIGKILL, clock)
            await clock.sleep(_LOCK_S)

    async def _ask(self, name: str, number: int, what: signal.Signals) -> None:
        """Who does not hear it is killed when its time is up."""
        await hearing.ask(self._attempt(name, number), what, self._worker.parts.clock)

    async def _kill(self, name: str, number: int) -> None:
        await hearing.send(self._attempt(name, number), signal.SIGKILL, self._worker.parts.clock)
