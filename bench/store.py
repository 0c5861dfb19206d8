"""The embedded API server's store alone: `.venv/bin/python -m bench.store [folder]`.

Creates are measured against SQLite itself: the same rows and the same number of them in each commit,
with no event loop and nobody waiting, on the same disk, in turns with ours. The folder should be on
the disk in question; a temporary one is used otherwise.
"""

import asyncio
import itertools
import os
import resource
import sqlite3
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median, quantiles

from kubevirt.apiserver.storage.sqlite import open_store
from kubevirt.apiserver.storage.sqlite.schema import CREATE
from kubevirt.apiserver.storage.store import Store
from kubevirt.base.clock import SystemClock

VALUE = os.urandom(4096)
CLIENTS = (1, 16, 64)
OBJECTS = 10_000
WATCHERS = 100
ROUNDS = 3
SECONDS = 2.0


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    with tempfile.TemporaryDirectory(prefix="store-bench-", dir=folder) as work:
        asyncio.run(_measure(Path(work)))


async def _measure(work: Path) -> None:
    paths = (work / f"{number}.db" for number in itertools.count())
    _say("memory added by an open, empty store", f"{await _idle_memory(next(paths)):.1f} MB")
    for clients in CLIENTS:
        ours, raw = [], []
        for _ in range(ROUNDS):
            raw.append(_raw_creates_per_s(next(paths), clients))
            ours.append(await _creates_per_s(next(paths), clients))
        _say(
            f"durable creates of 4 kB, {clients} clients",
            f"{max(ours):,.0f}/s, SQLite itself {max(raw):,.0f}/s: {max(ours) / max(raw):.2f}x",
        )
    async with _filled(next(paths)) as store:
        await _measure_reads(store)
        await _measure_mixed(store)
    async with open_store(next(paths), clock=SystemClock()) as store:
        _say(f"watch fan-out to {WATCHERS}", f"{await _fan_out(store):,.0f} events/s in all")


async def _idle_memory(path: Path) -> float:
    before = _rss()
    async with open_store(path, clock=SystemClock()) as store:
        entry = await store.create("/one", VALUE)
        await store.update(entry, b"")
        await store.list("/")
        return (_rss() - before) / 1e6


async def _creates_per_s(path: Path, clients: int) -> float:
    numbers = itertools.count()
    async with open_store(path, clock=SystemClock()) as store:
        deadline = time.perf_counter() + SECONDS

        async def client() -> None:
            while time.perf_counter() < deadline:
                await store.create(_key(next(numbers)), VALUE)

        began = time.perf_counter()
        await asyncio.gather(*(client() for _ in range(clients)))
        return store.revision / (time.perf_counter() - began)


def _raw_creates_per_s(path: Path, in_one_commit: int) -> float:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.executescript(CREATE)
    insert = "INSERT INTO log VALUES " + ",".join(["(?,?,?,0,0,?)"] * in_one_commit)
    revision, began = 0, time.perf_counter()
    while time.perf_counter() < began + SECONDS:
        row: list[object] = []
        for _ in range(in_one_commit):
            revision += 1
            row += (revision, _key(revision), revision, VALUE)
        connection.execute(insert, row)
    speed = revision / (time.perf_counter() - began)
    connection.close()
    return speed


@asynccontextmanager
async def _filled(path: Path) -> AsyncIterator[Store]:
    async with open_store(path, clock=SystemClock()) as store:
        for first in range(0, OBJECTS, 500):
            numbers = range(first, first + 500)
            await asyncio.gather(*(store.create(_key(number), VALUE) for number in numbers))
        yield store


async def _measure_reads(store: Store) -> None:
    lists, gets = [], []
    for _ in range(ROUNDS):
        lists.append(await _seconds(lambda: store.list("/vmis/")))

        async def get_all() -> None:
            for number in range(OBJECTS):
                await store.get(_key(number))

        gets.append(await _seconds(get_all))
    _say(f"list of {OBJECTS} x 4 kB", f"{min(lists) / OBJECTS * 1e6:.1f} us per object")
    _say("get", f"{min(gets) / OBJECTS * 1e6:.1f} us")
    first_page = await _seconds(lambda: store.list("/vmis/", limit=500))
    _say("first page of 500, with its count", f"{first_page * 1e3:.1f} ms")


async def _measure_mixed(store: Store) -> None:
    """Latency of creates by 4 clients: alone, and while two others list everything all the time."""
    alone = await _create_latencies(store, "a")
    lists = 0

    async def lister() -> None:
        nonlocal lists
        while True:
            await store.list("/vmis/")
            lists += 1

    async with asyncio.TaskGroup() as tasks:
        listers = [tasks.create_task(lister()) for _ in range(2)]
        beside = await _create_latencies(store, "b")
        for task in listers:
            task.cancel()
    for name, found in (("alone", alone), (f"beside {lists} lists", beside)):
        _say(f"create {name}", f"p50 {median(found) * 1e3:.2f} ms, p99 {_p99(found) * 1e3:.2f} ms")
    _say("p99 beside lists against alone", f"{_p99(beside) / _p99(alone):.2f}x")


async def _create_latencies(store: Store, name: str) -> list[float]:
    found: list[float] = []
    deadline = time.perf_counter() + SECONDS

    async def client(who: int) -> None:
        for number in itertools.count():
            if time.perf_counter() > deadline:
                return
            began = time.perf_counter()
            await store.create(f"/{name}/{who}/{number}", VALUE)
            found.append(time.perf_counter() - began)

    await asyncio.gather(*(client(who) for who in range(4)))
    return found


async def _fan_out(store: Store) -> float:
    events = 2000

    async def watcher() -> None:
        seen = 0
        with store.watch("/vmis/") as watch:
            async for batch in watch:
                seen += len(batch)
                if seen == events:
                    return

    async def writer(first: int) -> None:
        for number in range(first, events, 16):
            await store.create(_key(number), VALUE)

    async def all_of_it() -> None:
        async with asyncio.TaskGroup() as tasks:
            for _ in range(WATCHERS):
                tasks.create_task(watcher())
            for first in range(16):
                tasks.create_task(writer(first))

    return events * WATCHERS / await _seconds(all_of_it)


async def _seconds(work: Callable[[], Awaitable[object]]) -> float:
    began = time.perf_counter()
    await work()
    return time.perf_counter() - began


def _key(number: int) -> str:
    return f"/vmis/namespace-{number % 7}/vmi-{number * 7919 % 100_003:06d}-{number}"


def _p99(found: list[float]) -> float:
    return quantiles(found, n=100)[98]


def _rss() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


def _say(what: str, found: str) -> None:
    print(f"{what:<42} {found}", flush=True)


if __name__ == "__main__":
    main()
