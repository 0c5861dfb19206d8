"""Crashes and bad disks: killed at any moment, a torn WAL, no room, a sync that fails."""

import asyncio
import os
import random
import shutil
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.component.apiserver.acks import all_events, lost_writes, read_acks, read_refusals
from tests.component.apiserver.conftest import Loads, soak

from kubevirt.apiserver.storage.sqlite import open_store
from kubevirt.base.clock import SystemClock

KILLS = soak("SOAK_STORE_KILLS", 6)
KILLS_OF_A_STORE = 20
"""Then another one begins: all that it ever acknowledged is looked at after each kill."""

LIMIT_S = 60.0


async def until(is_so: Callable[[], bool], what: str) -> None:
    try:
        async with asyncio.timeout(LIMIT_S):
            while not is_so():  # noqa: ASYNC110  # another process tells, by a file
                await asyncio.sleep(0.01)
    except TimeoutError:
        pytest.fail(f"{what}: not in {LIMIT_S} s")


@pytest.mark.timeout(60 + 5 * KILLS)
@pytest.mark.parametrize("compacts", [False, True], ids=["growing", "compacting"])
async def test_a_store_killed_at_any_moment_keeps_what_it_acknowledged(
    loads: Loads, *, compacts: bool
) -> None:
    options = ["--compact"] if compacts else []
    for first in range(0, KILLS, KILLS_OF_A_STORE):
        one = replace(loads, place=f"{first}/store.db", record=f"acks-{first}")
        newest = 0
        for kill in range(first, min(first + KILLS_OF_A_STORE, KILLS)):
            await _kill_in_the_middle(one, "--seed", str(kill), *options)
            acks = read_acks(one.said())
            assert await lost_writes(one.store, acks) == []
            revisions = [ack.revision for ack in acks]
            assert len(set(revisions)) == len(revisions), "a revision was given twice"
            assert max(revisions) > newest
            newest = max(revisions)


async def _kill_in_the_middle(loads: Loads, *options: str) -> None:
    count = writes(loads)
    async with loads.running(*options) as process:
        await until(
            lambda: writes(loads) > count or not process.is_running, "a write was acknowledged"
        )
        await asyncio.sleep(random.uniform(0, 0.2))
        assert process.is_running, loads.output()
        process.kill()
        await process.wait()


async def a_crashed_store(path: Path, copy: Path, writes: int) -> None:
    """`copy` is what a process leaves behind that is killed with everything still in the WAL."""
    async with open_store(path, clock=SystemClock()) as store:
        for number in range(writes):
            await store.create(f"/{number:03}", b"x" * number * 50)
        for suffix in ("", "-wal"):
            copy.with_name(copy.name + suffix).write_bytes(
                path.with_name(path.name + suffix).read_bytes()
            )


async def revisions(path: Path) -> list[int]:
    async with open_store(path, clock=SystemClock()) as store:
        return list(await all_events(store))


def append(file: Path, data: bytes) -> None:
    with file.open("ab") as opened:
        opened.write(data)


def cut(file: Path, length: int) -> None:
    with file.open("r+b") as opened:
        opened.truncate(length)


async def test_garbage_at_the_end_of_the_wal_does_no_harm(tmp_path: Path) -> None:
    """A write that was torn by a crash was never acknowledged."""
    copy = tmp_path / "copy.db"
    await a_crashed_store(tmp_path / "store.db", copy, writes=40)
    append(tmp_path / "copy.db-wal", random.Random(1).randbytes(10_000))
    assert await revisions(copy) == list(range(1, 41))


@pytest.mark.parametrize("seed", range(5))
async def test_a_torn_wal_leaves_the_writes_before_the_tear(tmp_path: Path, seed: int) -> None:
    copy, wal = tmp_path / "copy.db", tmp_path / "copy.db-wal"
    await a_crashed_store(tmp_path / "store.db", copy, writes=40)
    chance = random.Random(seed)
    length = chance.randrange(50_000, wal.stat().st_size)
    cut(wal, length)
    append(wal, chance.randbytes(3000))
    found = await revisions(copy)
    assert found == list(range(1, len(found) + 1))
    assert 5 < len(found) < 40


def refusals(loads: Loads) -> set[str]:
    return read_refusals(loads.said())


def writes(loads: Loads) -> int:
    return len(read_acks(loads.said()))


def set_fault(loads: Loads, fault: str | None) -> None:
    if fault:
        loads.fault.write_text(fault)
    else:
        loads.fault.unlink()


async def test_a_full_disk_refuses_writes_until_there_is_room(watched_loads: Loads) -> None:
    loads = watched_loads
    async with loads.running():
        await until(lambda: writes(loads) > 50, f"writes are made; {loads.output()}")
        set_fault(loads, "n")
        await until(lambda: "StoreFull" in refusals(loads), "a write is refused")
        before = writes(loads)
        set_fault(loads, None)
        await until(lambda: writes(loads) > before + 50, "writes are made again")
    assert refusals(loads) == {"StoreFull"}
    assert await lost_writes(loads.store, read_acks(loads.said())) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to mount a small file system")
async def test_on_a_small_file_system_that_is_full_reads_and_later_writes_go_on(
    loads: Loads, tmp_path: Path
) -> None:
    """The real thing: the kernel's own ENOSPC, for the database, its WAL and its shared memory."""
    mount = f"mount -t tmpfs -o size=6m store {loads.folder} && head -c 2M /dev/zero"
    script = f'{mount} > {loads.folder}/ballast && exec "$@"'
    async with loads.running(within=("unshare", "--mount", "sh", "-c", script, "sh")) as process:
        inside = Path(f"/proc/{process.pid}/root{loads.folder}")
        await until(lambda: "StoreFull" in refusals(loads), f"it is full; {loads.output()}")
        before = writes(loads)
        (inside / "ballast").unlink()
        await until(lambda: writes(loads) > before + 20, f"there is room; {loads.output()}")
        process.send(signal.SIGSTOP)
        acks = read_acks(loads.said())
        for name in ("store.db", "store.db-wal"):
            shutil.copy(inside / name, tmp_path / name)
    assert refusals(loads) == {"StoreFull"}
    assert await lost_writes(tmp_path / "store.db", acks) == []


async def test_a_failed_sync_ends_all_writing_until_a_restart(watched_loads: Loads) -> None:
    loads = watched_loads
    async with loads.running():
        await until(lambda: writes(loads) > 50, f"writes are made; {loads.output()}")
        set_fault(loads, "s")
        await until(lambda: "StoreFailed" in refusals(loads), "a write is refused")
        before = writes(loads)
        set_fault(loads, None)
        count = len(loads.said().splitlines())
        await until(lambda: len(loads.said().splitlines()) > count + 20, "more is refused")
        assert writes(loads) == before
    async with loads.running():
        await until(lambda: writes(loads) > before + 50, f"writes are made; {loads.output()}")
    assert await lost_writes(loads.store, read_acks(loads.said())) == []
