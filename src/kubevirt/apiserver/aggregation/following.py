"""What lies below a prefix of the store: first all of it, then whatever becomes of it.

Whoever follows decides on what is there and not on what happened, so only the last word on each key counts.
"""

from collections.abc import AsyncIterator, Mapping

from kubevirt.apiserver.storage.errors import Compacted, WatcherTooSlow
from kubevirt.apiserver.storage.records import Entry
from kubevirt.apiserver.storage.store import Store

Changes = Mapping[str, Entry | None]
"""By key; None for one that is gone."""


async def followed(store: Store, prefix: str) -> AsyncIterator[Changes]:
    known: set[str] = set()
    while True:  # until whoever follows is cancelled; a watch that missed something begins anew
        page = await store.list(prefix)
        found: dict[str, Entry | None] = {entry.key: entry for entry in page.entries}
        gone = known - found.keys()
        known = set(found)
        yield {**dict.fromkeys(gone), **found}
        try:
            with store.watch(prefix, after=page.revision) as watch:
                async for events in watch:
                    changes = {event.key: event.entry for event in events}
                    known = (known | changes.keys()) - {k for k, v in changes.items() if v is None}
                    yield changes
        except (Compacted, WatcherTooSlow):
            continue
