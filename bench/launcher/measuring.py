"""One function for each figure. Each returns every single value; what counts is decided in `figures.py`."""

import asyncio
import os
import select
import signal
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Self

from bench.launcher.guest import Guest, running
from bench.launcher.place import Place
from bench.launcher.processes import LIBVIRTD, MANAGER, MONITOR, QEMU, Process, weighed
from bench.launcher.stages import Stage
from clusterup.progress import Step
from kubevirt.base.errors import KubevirtError

BOOT_LIMIT_S = 900.0
BACK_LIMIT_S = 30.0
SETTLED_S = 6.0
"""After this the monitor takes a process for a healthy one, so the next death is again a first one."""
AT_ONCE = 4
"""Launchers that are started side by side: two for each core of a small machine."""


@dataclass
class Starts:
    seconds: list[float] = field(default_factory=list)
    stages: list[list[Stage]] = field(default_factory=list)


async def starts(place: Place, times: int, step: Step) -> Starts:
    """Warm: one start before them has filled the caches, as on a machine that has run a guest before."""
    found = Starts()
    for number in range(times + 1):
        step.detail = f"{number} of {times}"
        async with running(place) as guest:
            if number:
                found.seconds.append(guest.seconds)
                found.stages.append(guest.stages)
    return found


# Back again.


@dataclass
class Returns:
    manager: list[float] = field(default_factory=list)
    libvirtd: list[float] = field(default_factory=list)


async def returns(place: Place, times: int, step: Step) -> Returns:
    """How long nobody answers, after each of the two is killed under a guest that has booted."""
    found = Returns()
    async with running(place) as guest:
        await _booted([guest])
        for number in range(times):
            step.detail = f"{number} of {times}"
            await asyncio.sleep(SETTLED_S)
            found.manager.append(await _until_known_again(guest))
            found.libvirtd.append(await _until_asked_again(guest))
    return found


async def _until_known_again(guest: Guest) -> float:
    """A manager that answers and has found the guest."""
    began = _kill(guest.process(MANAGER))
    async with asyncio.timeout(BACK_LIMIT_S):
        await guest.answers()
        async with guest.asked() as launcher:
            while '"Running"' not in await launcher.domain():  # noqa: ASYNC110  # another process's state
                await asyncio.sleep(0.001)
    return time.monotonic() - began


async def _until_asked_again(guest: Guest) -> float:
    """An answer that only libvirt can give."""
    async with asyncio.timeout(BACK_LIMIT_S), guest.asked() as launcher:
        await launcher.stats()
        began = _kill(guest.process(LIBVIRTD))
        while True:
            try:
                await launcher.stats()
            except KubevirtError:
                await asyncio.sleep(0.001)
            else:
                return time.monotonic() - began


def _kill(pid: int) -> float:
    with _Ends(pid) as ends:
        os.kill(pid, signal.SIGKILL)
        began = time.monotonic()
        ends.wait(pid)
    return began


# The end.


@dataclass
class Endings:
    launcher: list[float] = field(default_factory=list)
    """From the end of QEMU to the end of the container."""
    everything: list[float] = field(default_factory=list)
    """To the end of the program that the user started: network and folders are gone too."""


async def endings(place: Place, times: int, step: Step) -> Endings:
    found = Endings()
    for number in range(times):
        step.detail = f"{number} of {times}"
        async with running(place) as guest:
            pids = guest.process(QEMU), guest.process(MONITOR), guest.pid
            ended = await asyncio.to_thread(_ended, pids)
            found.launcher.append(ended[1] - ended[0])
            found.everything.append(ended[2] - ended[0])
    return found


def _ended(pids: tuple[int, ...]) -> list[float]:
    """When each of them ends, after the first was asked to."""
    with _Ends(*pids) as ends:
        os.kill(pids[0], signal.SIGTERM)
        return [ends.wait(pid) for pid in pids]


class _Ends:
    """Processes whose end the kernel tells, so that nobody looks again and again."""

    def __init__(self, *pids: int) -> None:
        self._fds = {pid: os.pidfd_open(pid) for pid in pids}
        self._seen: dict[int, float] = {}
        self._waiting = select.poll()
        for fd in self._fds.values():
            self._waiting.register(fd, select.POLLIN)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for fd in self._fds.values():
            os.close(fd)

    def wait(self, pid: int) -> float:
        while self._fds[pid] not in self._seen:
            ended = self._waiting.poll(BACK_LIMIT_S * 1000)
            if not ended:
                raise TimeoutError(f"process {pid} does not end")
            for fd, _ in ended:
                self._seen[fd] = time.monotonic()
                self._waiting.unregister(fd)
        return self._seen[self._fds[pid]]


# Many.


@dataclass
class Crowd:
    guests: int = 0
    seconds_to_run: float = 0.0
    """Until the last guest runs, from the start of the first launcher."""
    seconds_to_boot: float = 0.0
    """Until the last one shows its login prompt."""
    weights: list[list[Process]] = field(default_factory=list)
    """By guest, each process with its memory."""


async def crowds(place: Place, sizes: tuple[int, ...], memory: str, step: Step) -> list[Crowd]:
    """Guests in growing number. The larger crowd contains the smaller one."""
    found: list[Crowd] = []
    async with AsyncExitStack() as stack:
        guests: list[Guest] = []
        waited = 0.0
        began = time.monotonic()
        for size in sizes:
            await _gather(place, size, memory, stack, guests, step)
            ran = time.monotonic() - began - waited
            step.detail = f"{size} run; waiting for their login prompts"
            await _booted(guests)
            booted = time.monotonic() - began - waited
            paused = time.monotonic()
            await asyncio.sleep(SETTLED_S)
            weights = [weighed(guest.pid) for guest in guests]
            found.append(Crowd(size, ran, booted, weights))
            waited += time.monotonic() - paused
    return found


async def _gather(
    place: Place,
    size: int,
    memory: str,
    stack: AsyncExitStack,
    guests: list[Guest],
    step: Step,
) -> None:
    turns = asyncio.Semaphore(AT_ONCE)

    async def join() -> None:
        async with turns:
            guests.append(await stack.enter_async_context(running(place, memory)))
            step.detail = f"{len(guests)} of {size} run"

    async with asyncio.TaskGroup() as tasks:
        for _ in range(size - len(guests)):
            tasks.create_task(join())


async def _booted(guests: list[Guest]) -> None:
    async with asyncio.timeout(BOOT_LIMIT_S):
        while not all(guest.has_booted for guest in guests):  # noqa: ASYNC110  # a guest's own screen
            await asyncio.sleep(0.1)
