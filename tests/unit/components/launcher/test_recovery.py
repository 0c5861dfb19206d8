"""A guest that a full disk has stopped goes on by itself."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from kubevirt.base.clock import Clock
from kubevirt.base.errors import Unreachable
from kubevirt.components.launcher import recovery as recoveries
from kubevirt.components.launcher.recovery import LOOK_S, Recovery
from kubevirt.host.libvirt.states import DomainState, State

pytestmark = pytest.mark.virtual_time

STOPPED = DomainState(State.PAUSED, "IOError")
RUNS = DomainState(State.RUNNING, "Unpaused")


class Domain:
    def __init__(self, state: DomainState = RUNS) -> None:
        self.now = state
        self.resumed = 0
        self.failures = 0

    async def state(self) -> DomainState:
        return self.now

    async def resume(self) -> None:
        if self.failures:
            self.failures -= 1
            raise Unreachable("libvirt is away")
        self.resumed += 1
        self.now = RUNS


@asynccontextmanager
async def recovering(domain: Domain, clock: Clock) -> AsyncIterator[Recovery]:
    recovery = Recovery(domain, clock)  # type: ignore[arg-type]
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(recovery.keep_resuming())
        await clock.sleep(0.1)
        yield recovery
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def test_it_goes_on_when_there_is_room(
    clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    domain = Domain()
    monkeypatch.setattr(recoveries, "ROOM_BYTES", 1 << 62)
    async with recovering(domain, clock) as recovery:
        domain.now = STOPPED
        recovery.disk_is_full(str(tmp_path / "disk.qcow2"))
        await clock.sleep(60)
        assert domain.resumed == 0
        monkeypatch.setattr(recoveries, "ROOM_BYTES", 1)
        await clock.sleep(LOOK_S + 1)
        assert domain.resumed == 1


async def test_one_that_was_stopped_before_the_manager_came_is_tried(clock: Clock) -> None:
    domain = Domain(STOPPED)
    async with recovering(domain, clock):
        await clock.sleep(LOOK_S + 1)
        assert domain.resumed == 1


async def test_one_that_a_user_has_paused_stays_paused(clock: Clock, tmp_path: Path) -> None:
    domain = Domain(DomainState(State.PAUSED, "User"))
    async with recovering(domain, clock) as recovery:
        recovery.disk_is_full(str(tmp_path / "disk.qcow2"))
        await clock.sleep(60)
        assert domain.resumed == 0


async def test_nothing_is_looked_at_while_all_is_well(clock: Clock) -> None:
    domain = Domain()
    async with recovering(domain, clock):
        domain.now = STOPPED  # by an error of a disk that is not full: nobody said so
        await clock.sleep(60)
        assert domain.resumed == 0


async def test_libvirt_may_be_away_meanwhile(clock: Clock, tmp_path: Path) -> None:
    domain = Domain(STOPPED)
    domain.failures = 1
    async with recovering(domain, clock) as recovery:
        recovery.disk_is_full(str(tmp_path / "gone" / "disk.qcow2"))
        await clock.sleep(3 * LOOK_S)
        assert domain.resumed == 1
