"""The collector as a whole: one watch of the store, and the parts that it feeds."""

from collections.abc import Sequence
from typing import Final, Protocol

import msgspec

from kubevirt.apiserver.collector.disruptions import Disruptions
from kubevirt.apiserver.collector.expiry import DEFAULT_TTL_S, Expiry
from kubevirt.apiserver.collector.furnishing import Furnishing
from kubevirt.apiserver.collector.garbage import Garbage
from kubevirt.apiserver.collector.journal import Journal, NoJournal
from kubevirt.apiserver.collector.namespaces import Namespaces
from kubevirt.apiserver.registry.registry import Registry
from kubevirt.apiserver.storage.errors import Compacted, WatcherTooSlow
from kubevirt.apiserver.storage.records import Event
from kubevirt.base.errors import Retry
from kubevirt.base.log import get_logger
from kubevirt.base.tasks import background

log = get_logger(__name__)

EVERYTHING: Final = "/registry/"
PAUSE_S: Final = 1.0
"""Before a store that could not be read is read again."""


class CollectorSettings(msgspec.Struct, frozen=True, kw_only=True):
    root_ca: str = ""
    """Who vouches for this server, PEM: published in every namespace. Empty publishes nothing."""
    event_ttl_s: float = DEFAULT_TTL_S
    """How long after it was last written an Event goes; kube-apiserver's --event-ttl."""


class Part(Protocol):
    async def load(self, at: int) -> None:
        """Learns what there is at a revision. Called again when changes were missed."""
        ...

    def observe(self, event: Event) -> None:
        """Hears of a change behind that revision."""
        ...

    async def run(self) -> None:
        """Does its work, beside the two."""
        ...


class Collector:
    def __init__(
        self, registry: Registry, settings: CollectorSettings, journal: Journal | None = None
    ) -> None:
        """`journal` is where it writes down what it does."""
        journal = journal or NoJournal()
        self._store = registry.store
        self._clock = registry.clock
        self._furnishing = Furnishing(registry, journal, settings.root_ca)
        self._parts: Sequence[Part] = (
            Garbage(registry, journal),
            Namespaces(registry, journal),
            self._furnishing,
            Expiry(registry, settings.event_ttl_s),
            Disruptions(registry, journal),
        )

    async def prepare(self) -> None:
        """What the first client may count on."""
        await self._furnishing.prepare()

    async def run(self) -> None:
        while True:  # a watch ends because it missed something, or with the store
            revision = self._store.revision
            try:
                for part in self._parts:
                    await part.load(revision)
                async with background(*(part.run() for part in self._parts)):
                    await self._follow(revision)
            except (Compacted, WatcherTooSlow) as error:
                log.info("changes were missed, all is read again", reason=error)
            except Retry as error:
                log.warning("the store could not be read", error=error)
                await self._clock.sleep(PAUSE_S)

    async def _follow(self, revision: int) -> None:
        with self._store.watch(EVERYTHING, after=revision) as watch:
            async for events in watch:
                for event in events:
                    for part in self._parts:
                        part.observe(event)
