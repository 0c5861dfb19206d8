"""Forgetting the past in the background: nobody who asks for something waits for it to be done."""

import asyncio
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import aiohttp

from clusterup import waiting
from kubevirt.apiserver.server import ADMINISTRATOR, ApiServer, ServerSettings, serving
from kubevirt.apiserver.storage.retention import RetentionSettings
from kubevirt.apiserver.storage.sqlite import open_store
from kubevirt.apiserver.storage.store import Store, StoreSettings
from kubevirt.base.clock import SystemClock
from kubevirt.base.tasks import background

MAPS = "/api/v1/namespaces/default/configmaps"
LIMIT_S = 60.0
STEP = 16
FORGETFUL = StoreSettings(
    retention=RetentionSettings(keep_s=0.0, keep_events=0, look_every_s=0.05, step=STEP, pause_s=0)
)


def connection_of(store: Store) -> sqlite3.Connection:
    """The writer's."""
    log: Any = store._log
    return cast("sqlite3.Connection", log._writer._connection)


class Held:
    """Holds the writer in the middle of a step, while its transaction is open."""

    def __init__(self) -> None:
        self.is_there = threading.Event()
        self._may_go_on = threading.Event()

    def look(self, statement: str) -> None:
        if statement.startswith("UPDATE compacted") and not self._may_go_on.is_set():
            self.is_there.set()
            self._may_go_on.wait(LIMIT_S)

    def let_go(self) -> None:
        self._may_go_on.set()


@contextmanager
def held(store: Store) -> Iterator[Held]:
    """Its look at statements stays for as long as the store is open. To take it away, Python would wait for SQLite with its
    one lock in hand, and SQLite, in the middle of a statement, for that lock in order to let it be looked at.
    """
    found = Held()
    connection_of(store).set_trace_callback(found.look)
    try:
        yield found
    finally:
        found.let_go()


async def test_while_the_past_is_forgotten_everything_is_read_and_a_write_waits_for_one_step(
    tmp_path: Path,
) -> None:
    settings = ServerSettings(
        data=tmp_path / "store.db", tokens={"admin": ADMINISTRATOR}, store=FORGETFUL
    )
    headers = {"Authorization": "Bearer admin"}
    async with (
        asyncio.timeout(LIMIT_S),
        serving(settings) as server,
        aiohttp.ClientSession(server.url, headers=headers) as client,
    ):
        with held(server.registry.store) as step:
            await make(client, "one")
            await asyncio.to_thread(step.is_there.wait, LIMIT_S)
            writing = asyncio.create_task(make(client, "two"))
            for path in (f"{MAPS}/one", MAPS, f"{MAPS}?limit=1", f"{MAPS}?resourceVersion=0"):
                async with client.get(path) as answer:
                    assert answer.status == 200
                    assert b'"one"' in await answer.read()
            async with client.get(f"{MAPS}?watch=1") as watch:
                assert b'"one"' in await watch.content.readline()
            assert not writing.done(), "one writes, and that one is held"
            step.let_go()
            await writing
        await until_forgotten(server)


async def make(client: aiohttp.ClientSession, name: str) -> None:
    async with client.post(MAPS, json={"metadata": {"name": name}}) as answer:
        assert answer.status == 201, await answer.text()


async def until_forgotten(server: ApiServer) -> None:
    store = server.registry.store

    async def is_so() -> bool:
        return store.compacted == store.revision

    await waiting.until(is_so, limit_s=LIMIT_S, what="all is forgotten")


async def test_a_write_waits_for_a_few_steps_of_a_thousand(tmp_path: Path) -> None:
    """What is behind a step in the queue comes before the next one, so the length of the past does not matter."""
    keep_all = RetentionSettings(step=STEP, pause_s=0)
    settings = StoreSettings(retention=keep_all)
    path = tmp_path / "store.db"
    async with (
        asyncio.timeout(LIMIT_S),
        open_store(path, clock=SystemClock(), settings=settings) as store,
    ):
        entry = await store.create("/busy", b"0")
        while store.revision < 1000 * STEP:
            async with asyncio.TaskGroup() as tasks:
                for number in range(store.revision, store.revision + 500):
                    tasks.create_task(store.create(f"/{number}", b""))
        waited = []
        async with background(store.compact(store.revision)):
            for number in range(100):
                before = store.compacted
                entry = await store.update(entry, b"%d" % number)
                waited.append((store.compacted - before) / STEP)
            forgotten = store.compacted
        assert 0 < forgotten < store.revision, "it was under way all the time"
        assert max(waited) <= 3
