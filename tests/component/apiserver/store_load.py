"""A process that writes to a store and says what was acknowledged, one JSON line each.

    python store_load.py STORE ACKS [--clients N] [--writes N] [--compact] [--forgetful]

A line is `[revision, key, value]`, the value null for a deletion. Each client has keys of its own, so
what it was told last is what must be there. Without `--writes` it goes on until it is killed.
"""

import argparse
import asyncio
import json
import os
import random
from pathlib import Path
from typing import cast

from kubevirt.apiserver.storage.records import Entry
from kubevirt.apiserver.storage.retention import RetentionSettings
from kubevirt.apiserver.storage.sqlite import SqliteLog, checkpoint, open_store
from kubevirt.apiserver.storage.store import Store, StoreSettings
from kubevirt.base.clock import SystemClock
from kubevirt.base.errors import Retry

KEYS_OF_A_CLIENT = 5
KEEP_ALL = RetentionSettings()
KEEP_LITTLE = RetentionSettings(
    keep_s=0.02, keep_events=20, look_every_s=0.01, step=16, pause_s=0.001
)


class Load:
    def __init__(self, store: Store, acks: int, options: argparse.Namespace) -> None:
        self._store = store
        self._acks = acks
        self._options = options
        self._left = options.writes
        self._random = random.Random(options.seed)

    async def client(self, name: str) -> None:
        entries: dict[str, Entry | None] = {}
        for number in range(KEYS_OF_A_CLIENT):
            key = f"/load/{name}/{number}"
            entries[key] = await self._store.get(key)
        while self._left:
            self._left -= 1
            key = self._random.choice(list(entries))
            try:
                entries[key] = await self._write(key, entries[key])
            except Retry as error:
                self._say({"refused": type(error).__name__})
                await asyncio.sleep(0.02)

    async def _write(self, key: str, entry: Entry | None) -> Entry | None:
        deletes = not self._options.compact and self._random.random() < 0.2
        if entry and deletes:
            self._say([await self._store.delete(entry), key, None])
            return None
        value = self._random.randbytes(self._random.choice((10, 500, 5000))).hex()
        if entry:
            entry = await self._store.update(entry, value.encode())
        else:
            entry = await self._store.create(key, value.encode())
        self._say([entry.revision, key, value])
        return entry

    def _say(self, what: object) -> None:
        os.write(self._acks, json.dumps(what).encode() + b"\n")


def drop_half_a_line(acks: int) -> None:
    """A kill can end the process before it in the middle of a line, which nobody has read then."""
    said = os.pread(acks, os.fstat(acks).st_size, 0)
    os.ftruncate(acks, said.rfind(b"\n") + 1)


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("store", type=Path)
    parser.add_argument("acks", type=Path)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--writes", type=int, default=-1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--compact", action="store_true", help="forget the past all the time")
    parser.add_argument(
        "--forgetful", action="store_true", help="do not sync: the tests must see it"
    )
    options = parser.parse_args()
    # Checkpoints often enough for a short run to have many of both kinds.
    checkpoint._EVERY_BYTES = 300_000  # type: ignore[misc]
    checkpoint._LONG_BYTES = 1_200_000  # type: ignore[misc]
    settings = StoreSettings(retention=KEEP_LITTLE if options.compact else KEEP_ALL)
    acks = os.open(options.acks, os.O_RDWR | os.O_CREAT | os.O_APPEND)
    drop_half_a_line(acks)
    async with open_store(options.store, clock=SystemClock(), settings=settings) as store:
        if options.forgetful:
            log = cast("SqliteLog", store._log)
            log._database.connection.execute("PRAGMA synchronous = OFF")
        load = Load(store, acks, options)
        async with asyncio.TaskGroup() as tasks:
            for number in range(options.clients):
                tasks.create_task(load.client(str(number)))


if __name__ == "__main__":
    asyncio.run(main())
