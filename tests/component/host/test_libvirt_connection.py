"""Calls with limits, a daemon that dies or hangs, and what comes afterwards."""

import asyncio
import signal
import socket
import threading
from collections.abc import Awaitable
from pathlib import Path

import libvirt
import pytest
from tests.component.host.libvirt_world import (
    CLOCK,
    World,
    a_guest,
    needs_libvirt,
    next_event,
    running,
    world,
)

from kubevirt.host.libvirt.arrival import wait_for_socket
from kubevirt.host.libvirt.connection import connect
from kubevirt.host.libvirt.domain import create
from kubevirt.host.libvirt.errors import DaemonUnreachableError
from kubevirt.host.libvirt.events import Change, LifeChanged, Mailbox, Missed
from kubevirt.host.libvirt.states import State

pytestmark = needs_libvirt


async def test_a_daemon_that_is_killed_is_noticed_at_once_and_calls_say_so() -> None:
    async with world() as it:
        await it.start_daemon()
        async with it.connected() as connection:
            assert await running(connection) == ()
            await it.kill_daemon()
            async with asyncio.timeout(60):
                await connection.lost.wait()
            with pytest.raises(DaemonUnreachableError, match="the connection to libvirt is lost"):
                await running(connection)


async def test_a_call_under_way_when_the_daemon_is_killed_fails_and_does_not_hang() -> None:
    async with world() as it:
        await it.start_daemon()
        async with it.connected() as connection, asyncio.TaskGroup() as tasks:
            await it.signal_daemon(signal.SIGSTOP)
            call = tasks.create_task(_failing(running(connection)))
            await asyncio.sleep(0)
            await it.kill_daemon()
            error = await call
            assert isinstance(error, DaemonUnreachableError)


async def test_a_daemon_that_hangs_costs_a_call_its_limit_and_nothing_else() -> None:
    async with world() as it:
        await it.start_daemon()
        async with it.connected() as connection:
            await it.signal_daemon(signal.SIGSTOP)
            with pytest.raises(DaemonUnreachableError, match=r"did not answer within 0\.5 s"):
                await connection.call("wait", lambda it: it.listAllDomains(), limit_s=0.5)
            assert connection.lost.is_open
        await it.signal_daemon(signal.SIGCONT)
        async with it.connected() as connection:
            assert await running(connection) == ()


async def test_connecting_to_a_daemon_that_hangs_ends_at_its_limit() -> None:
    async with world() as it:
        await it.start_daemon()
        await it.signal_daemon(signal.SIGSTOP)
        with pytest.raises(DaemonUnreachableError, match="cannot connect to libvirt"):
            async with connect(it.daemon.socket, clock=CLOCK, limit_s=0.3):
                pass
        await it.signal_daemon(signal.SIGCONT)


async def test_a_qemu_that_hangs_keeps_nobody_from_destroying_it() -> None:
    async with world() as it:
        await it.start_daemon()
        async with it.hypervisor() as virt:
            guest = await create(virt, a_guest())
            pid = it.qemu_pid()
            await it.run(f"kill -STOP {pid}")
            with pytest.raises(DaemonUnreachableError, match="hangs"):
                await virt.call("pause", lambda it: _pause(it, guest.name), limit_s=0.5)
            await guest.destroy()
            assert not await guest.exists()
            assert not await it.is_alive(pid)


async def test_who_stops_waiting_for_a_call_does_not_free_it_from_its_limit() -> None:
    async with world() as it:
        await it.start_daemon()
        async with it.connected() as connection:
            await it.signal_daemon(signal.SIGSTOP)
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.1):
                    await connection.call("wait", lambda it: it.listAllDomains(), limit_s=0.4)
            async with asyncio.timeout(60):
                await connection.lost.wait()
            assert connection.why_lost == "no answer within 0.4 s"


async def test_a_killed_daemon_leaves_the_guest_running_and_the_next_one_finds_it() -> None:
    async with world() as it:
        await it.start_daemon()
        async with it.hypervisor() as virt:
            guest = await create(virt, a_guest())
            pid = it.qemu_pid()
            for _ in range(3):
                await it.kill_daemon()
                assert await it.is_alive(pid)
                await it.start_daemon(wait=False)
                assert (await guest.state()).state == State.RUNNING
                assert it.qemu_pid() == pid
            assert [each.name for each in await running(virt)] == [guest.name]
            await guest.suspend()
            await guest.resume()
            await guest.destroy()
            assert not await it.is_alive(pid)


async def test_a_question_asked_while_the_daemon_dies_is_answered_by_the_next_one() -> None:
    async with world() as it:
        await it.start_daemon()
        async with it.hypervisor() as virt:
            guest = await create(virt, a_guest())
            for _ in range(3):
                async with asyncio.TaskGroup() as tasks:
                    tasks.create_task(_restarted(it))
                    for _ in range(20):
                        assert (await guest.state()).state == State.RUNNING


async def test_an_order_given_while_the_daemon_dies_is_not_given_twice() -> None:
    async with world() as it:
        await it.start_daemon()
        async with it.hypervisor() as virt:
            tries: list[int] = []

            def work(_: libvirt.virConnect) -> None:
                tries.append(1)
                raise _lost()

            with pytest.raises(DaemonUnreachableError):
                await virt.call("do it", work, limit_s=60)
            assert len(tries) == 1


async def test_events_come_in_order_and_go_on_after_the_daemon_was_killed() -> None:
    async with world() as it:
        await it.start_daemon()
        async with it.hypervisor() as virt:
            assert await anext(aiter(virt.events)) == Missed(why="connected to libvirt")
            guest = await create(virt, a_guest(), paused=True)
            await guest.resume()
            assert await _changes(virt.events, 3) == [
                Change.STARTED,
                Change.SUSPENDED,
                Change.RESUMED,
            ]
            await it.kill_daemon()
            await it.start_daemon()
            await _until_missed(virt.events)
            await guest.suspend()
            await guest.destroy()
            assert await _changes(virt.events, 2) == [Change.SUSPENDED, Change.STOPPED]


async def test_the_end_of_qemu_is_told_with_its_reason() -> None:
    async with world() as it:
        await it.start_daemon()
        mailbox = Mailbox()
        async with it.connected(mailbox) as connection:
            await create(connection, a_guest())
            await it.run(f"kill -9 {it.qemu_pid()}")
            event = await next_event(mailbox, LifeChanged)
            while isinstance(event, LifeChanged) and event.change != Change.STOPPED:
                event = await next_event(mailbox, LifeChanged)
            assert event == LifeChanged(
                domain="default_testvm", change=Change.STOPPED, detail="Failed"
            )


async def test_connections_leave_no_descriptor_and_no_thread_behind() -> None:
    async with world() as it:
        await it.start_daemon()
        async with it.connected(Mailbox()) as connection:
            await running(connection)
        descriptors, threads = await _settled()
        for _ in range(10):
            async with it.connected(Mailbox()) as connection:
                await running(connection)
        after = await _settled()
        assert (after[0] <= descriptors, after[1] <= threads) == (True, True)
        for _ in range(3):
            async with it.connected(Mailbox()) as connection:
                await it.signal_daemon(signal.SIGSTOP)
                with pytest.raises(DaemonUnreachableError):
                    await connection.call("wait", lambda it: it.listAllDomains(), limit_s=0.2)
            await it.signal_daemon(signal.SIGCONT)
        after = await _settled()
        assert (after[0] <= descriptors, after[1] <= threads) == (True, True)


async def test_waiting_for_a_socket_ends_as_soon_as_somebody_listens(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "sock"
    async with asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(wait_for_socket(path, clock=CLOCK, limit_s=60))
        await asyncio.sleep(0)
        path.parent.mkdir(parents=True)
        (path.parent / "something else").touch()
        with socket.socket(socket.AF_UNIX) as killed:
            killed.bind(str(path))
        await asyncio.sleep(0.05)
        assert not waiting.done(), "the socket of a daemon that was killed is no daemon"
        path.unlink()
        with socket.socket(socket.AF_UNIX) as alive:
            alive.bind(str(path))
            alive.listen()
            await waiting


async def test_waiting_for_a_socket_that_nobody_makes_says_so(tmp_path: Path) -> None:
    with pytest.raises(DaemonUnreachableError, match=r"nothing listens at .*sock after 0\.1 s"):
        await wait_for_socket(tmp_path / "sock", clock=CLOCK, limit_s=0.1)


async def _restarted(it: World) -> None:
    await it.kill_daemon()
    await it.start_daemon(wait=False)


def _lost() -> libvirt.libvirtError:
    """As the library raises it when the other end is gone."""
    try:
        libvirt.open("qemu+unix:///session?socket=/nowhere")
    except libvirt.libvirtError as error:
        return error
    raise AssertionError("there is a daemon nowhere")


def _pause(connection: libvirt.virConnect, name: str) -> None:
    connection.lookupByName(name).suspend()


async def _failing(work: Awaitable[object]) -> BaseException | None:
    try:
        await work
    except DaemonUnreachableError as error:
        return error
    return None


async def _changes(mailbox: Mailbox, count: int) -> list[Change]:
    found: list[Change] = []
    async with asyncio.timeout(60):
        async for event in mailbox:
            # QEMU says that it was told to end, if libvirt still listens when it does.
            if isinstance(event, LifeChanged) and event.change != Change.SHUT_DOWN:
                found.append(event.change)
            if len(found) == count:
                break
    return found


async def _until_missed(mailbox: Mailbox) -> None:
    async with asyncio.timeout(60):
        async for event in mailbox:
            if isinstance(event, Missed):
                return


def _usage() -> tuple[int, int]:
    return len(list(Path("/proc/self/fd").iterdir())), threading.active_count()


async def _settled() -> tuple[int, int]:
    """Open descriptors and threads, once what is ending has ended."""
    previous = (-1, -1)
    async with asyncio.timeout(60):
        while True:
            found = _usage()
            if found == previous:
                return found
            previous = found
            await asyncio.sleep(0.1)
