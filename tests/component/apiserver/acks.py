"""What writers were told, and whether a store has kept it."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from kubevirt.apiserver.storage.records import Entry, Event
from kubevirt.apiserver.storage.sqlite import open_store
from kubevirt.apiserver.storage.store import Store
from kubevirt.base.clock import SystemClock


class Ack(NamedTuple):
    revision: int
    key: str
    value: str | None


def read_acks(said: bytes) -> list[Ack]:
    return [Ack(*each) for each in _said(said) if isinstance(each, list)]


def read_refusals(said: bytes) -> set[str]:
    return {each["refused"] for each in _said(said) if isinstance(each, dict)}


def _said(said: bytes) -> list[Any]:
    """What is in all whole lines: the last one may have been cut by a kill, or still be written."""
    lines = said.splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.endswith(b"\n")]


async def lost_writes(path: Path, acks: Sequence[Ack]) -> list[Ack]:
    """Acknowledged writes that the store no longer has. Also checks that it is sound otherwise."""
    async with open_store(path, clock=SystemClock()) as store:
        events = await all_events(store)
        page = await store.list("/")
        _check_history(store, events, page.entries)
        entries = {entry.key: entry for entry in page.entries}
        return [ack for ack in acks if not _is_kept(ack, store.compacted, events, entries)]


async def all_events(store: Store) -> dict[int, Event]:
    """As a watch tells them that begins at the oldest revision."""
    events: dict[int, Event] = {}
    with store.watch("/", after=store.compacted) as watch:
        async with asyncio.timeout(60):
            while watch.revision < store.revision:
                events |= {event.revision: event for event in await anext(watch)}
    return events


def _check_history(store: Store, events: dict[int, Event], entries: Sequence[Entry]) -> None:
    assert list(events) == list(range(store.compacted + 1, store.revision + 1))
    newest = {event.key: event for event in events.values()}
    for entry in entries:
        assert entry.revision <= store.compacted or newest[entry.key].entry == entry


def _is_kept(ack: Ack, compacted: int, events: dict[int, Event], entries: dict[str, Entry]) -> bool:
    value = None if ack.value is None else ack.value.encode()
    if ack.revision > compacted:
        event = events.get(ack.revision)
        return event is not None and (event.entry.value if event.entry else None) == value
    # Forgotten by now: the key has this value or a later one. Such loads delete nothing.
    entry = entries.get(ack.key)
    return entry is not None and (entry.revision > ack.revision or entry.value == value)
