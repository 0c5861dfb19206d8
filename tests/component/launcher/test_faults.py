"""Whoever is killed, the guest runs on, and somebody finds it; if QEMU is killed, the end says so."""

import asyncio
import os
import shutil
import signal
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress

import pytest
from tests.component.launcher.world import LIBVIRT, LIMIT_S, World, launched

from kubevirt.host.libvirt.daemon import DaemonSettings
from kubevirt.rpc.errors import NoAnswer, Refused

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: it makes a container for each test"),
    pytest.mark.skipif(not shutil.which("bwrap"), reason="no bwrap: install bubblewrap"),
    pytest.mark.skipif(not shutil.which("libvirtd"), reason="no libvirtd: install libvirt-daemon"),
]


@pytest.mark.parametrize("who", ["manager", "libvirtd"])
async def test_who_is_killed_while_the_guest_runs_is_back_and_finds_it(who: str) -> None:
    async with launched() as world:
        await world.runs()
        qemu = world.pid_of("qemu")
        for _ in range(3):
            killed = world.kill(who)
            await world.is_back(who, killed)
            await answers(lambda: world.launcher.pause(world.vmi()))
            await world.handler.hears("Paused")
            await answers(lambda: world.launcher.unpause(world.vmi()))
            await world.handler.hears("Running")
        assert world.pid_of("qemu") == qemu
        await world.launcher.kill(world.vmi())
        assert await world.ended() == 0
        assert world.handler.states[-1] == "DELETED Shutoff"


async def answers(call: Callable[[], Awaitable[object]]) -> None:
    """Calls until there is an answer; how long that takes is measured in bench/."""
    async with asyncio.timeout(LIMIT_S):
        while True:
            try:
                await call()
            except NoAnswer:
                await asyncio.sleep(0.01)
            else:
                return


@pytest.mark.parametrize("delay_s", [0.0, 0.03, 0.1, 0.2, 0.4])
@pytest.mark.parametrize("who", ["manager", "libvirtd"])
async def test_who_is_killed_during_a_start_leaves_one_guest_in_the_end(
    who: str, delay_s: float
) -> None:
    async with launched() as world:
        starting = asyncio.create_task(sync_again_and_again(world))
        await asyncio.sleep(delay_s)
        world.kill(who)
        await starting
        await world.handler.hears("Running")
        await world.until(lambda: world.note("qemu-pid"))
        await world.until(lambda: len(world.qemus()) == 1)
        await answers(lambda: world.launcher.kill(world.vmi()))
        assert await world.ended() == 0


async def test_a_libvirtd_that_dies_while_it_asks_qemu_leaves_no_stray() -> None:
    async with launched(
        libvirt=DaemonSettings(home=LIBVIRT)
    ) as world:  # it has everything to learn
        starting = asyncio.create_task(sync_again_and_again(world))
        await world.until(lambda: any("-machine none" in line for line in world.qemus()))
        world.kill("libvirtd")
        await starting
        await world.handler.hears("Running")
        await world.until(lambda: len(world.qemus()) == 1)


async def test_a_qemu_that_never_speaks_to_the_next_libvirtd_does_not_keep_the_guest_from_starting() -> (
    None
):
    async with launched() as world:
        starting = asyncio.create_task(sync_again_and_again(world))
        await world.until(world.pid_of_guest)
        silent = world.pid_of_guest()
        assert silent is not None
        os.kill(silent, signal.SIGSTOP)
        world.kill("libvirtd")
        await starting
        await world.handler.hears("Running")
        await world.until(lambda: len(world.qemus()) == 1)


async def sync_again_and_again(world: World) -> None:
    """As a handler does."""
    async with asyncio.timeout(LIMIT_S):
        while True:
            try:
                await world.launcher.sync(world.vmi())
            except (NoAnswer, Refused):
                await asyncio.sleep(0.05)
            else:
                return


def program(pid: int) -> str:
    try:
        return os.readlink(f"/proc/{pid}/exe")  # noqa: PTH115  # as short as it gets
    except OSError:
        return ""


async def test_a_qemu_that_is_killed_is_a_crash_with_a_cause() -> None:
    async with launched() as world:
        await world.runs()
        world.kill("qemu")
        assert await world.ended() == 1
        why = "QEMU was ended by SIGKILL, by somebody or for lack of memory"
        assert world.note("ending") == f"the guest crashed: {why}"
        kind, report = world.handler.reports[-1]
        assert (kind, report.status.status, report.status.reason) == (
            *("DELETED", "Crashed", "Crashed"),
        )


@pytest.mark.parametrize("away", ["manager", "libvirtd", "both"])
async def test_a_guest_that_ends_while_nobody_looks_still_has_an_end(away: str) -> None:
    async with launched() as world:
        await world.runs()
        absent = ["manager", "libvirtd"] if away == "both" else [away]
        for who in absent:
            world.kill(who, signal.SIGSTOP)
        world.kill("qemu")
        await world.until(lambda: world.note("qemu-exit").endswith(" -9"))
        for who in absent:
            world.kill(who)
        assert await world.ended() == 1
        assert "QEMU was ended by SIGKILL" in world.note("ending")
        assert world.handler.states[-1] == "DELETED Crashed"


async def test_a_monitor_that_is_killed_takes_everything_with_it() -> None:
    async with launched() as world:
        await world.runs()
        pids = list(world.pids())
        os.kill(world.pid, signal.SIGKILL)
        await world.ended()
        await world.until(lambda: not any(program(pid) for pid in pids))


async def test_a_manager_that_comes_back_in_the_middle_of_the_grace_goes_on_with_it() -> None:
    async with launched(standalone=True) as world:
        await world.runs(terminationGracePeriodSeconds=3)
        began = time.monotonic()
        world.terminate()
        await world.handler.told(lambda it: len(it.reports) >= 2)
        world.kill("manager")
        await world.ended()
        assert time.monotonic() - began > 2.5
        assert world.note("ending") == "the guest was ended: it did not shut down within 3 s"


async def test_calls_wait_for_a_libvirtd_that_is_away() -> None:
    async with launched() as world:
        await world.runs()
        world.kill("libvirtd")
        await world.launcher.pause(world.vmi())
        await world.handler.hears("Paused")


async def test_a_ping_is_answered_while_libvirtd_hangs() -> None:
    async with launched() as world:
        await world.runs()
        pid = world.kill("libvirtd", signal.SIGSTOP)
        try:
            for _ in range(3):
                await world.launcher.ping()
        finally:
            os.kill(pid, signal.SIGCONT)


async def test_a_handler_that_was_away_hears_the_state_of_now() -> None:
    async with launched() as world:
        await world.runs()
        heard = len(world.handler.reports)
        world.handler.is_away = True
        await world.launcher.pause(world.vmi())
        await world.launcher.unpause(world.vmi())
        await world.launcher.pause(world.vmi())
        world.handler.is_away = False
        await world.handler.hears("Paused")
        assert len(world.handler.reports) - heard <= 2


async def test_a_handler_that_never_hears_does_not_keep_the_launcher() -> None:
    async with launched(farewell_s=1.0) as world:
        await world.runs()
        world.handler.is_away = True
        await world.launcher.kill(world.vmi())
        assert await world.ended() == 0
        assert "the handler did not hear of the end" in world.log
        world.handler.is_away = False


async def test_without_any_handler_a_launcher_waits_for_none() -> None:
    async with launched(standalone=True, has_handler=False) as world:
        await world.launcher.sync(world.vmi())
        await world.until(lambda: world.note("started") or (world.notes / "started").exists())
        await world.launcher.kill(world.vmi())
        assert await world.ended() == 0
        assert world.note("ending") == "the guest was ended: virt-handler asked for it"


async def test_a_preparer_that_dies_is_replaced_with_the_manager() -> None:
    async with launched() as world:
        await world.until(lambda: world.pid_of("preparer"))
        manager = world.pid_of("manager")
        world.kill("preparer")
        await sync_again_and_again(world)
        await world.handler.hears("Running")
        assert world.pid_of("manager") != manager
        await world.until(lambda: world.pid_of("preparer") is None)


async def test_a_launcher_that_is_told_to_end_during_a_start_leaves_nothing() -> None:
    for delay_s in (0.0, 0.1, 0.25):
        async with launched(standalone=True) as world:
            starting = asyncio.create_task(sync_once(world, terminationGracePeriodSeconds=0))
            await asyncio.sleep(delay_s)
            world.terminate()
            await world.ended()
            await starting
            assert world.note("ending")


async def sync_once(world: World, **changes: int) -> None:
    with suppress(NoAnswer, Refused):
        await world.launcher.sync(world.vmi(**changes))
