"""A reflector: keeps a store equal to a collection on a server, whatever happens in between.

It lists once and then watches. The list is streamed where the server can (WatchList), else read in
pages. A watch that ends continues at the last resource version; only a server that has forgotten that
version (410) is listed again, and the difference to the store is what happened meanwhile. Errors never
end it, since rights are granted and CRDs installed while programs run: it waits, each time longer, and
says in `last_error` what is wrong.

**It never goes back in time.** Lists are consistent reads, never `resourceVersion=0`, so no answer may
be older than an earlier one; one that is (a stale replica, a proxy that caches) is refused. A watch
begins after the last known version, so an event that is not newer is a replay and dropped.

**Unless the server did.** An etcd restored from a backup begins again at an earlier version; a watch
would wait, without an error, for a future that has already been (kubernetes issue 107457). So after a
break the first question is how far the server is. If it insists on the past for `rewind_after_s`,
its past becomes our present. What cannot be seen is a server that was set back and has already
overtaken the last known version when we ask: restart controllers after a restore.
"""

import random
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Generic, TypeVar

import msgspec

from kubevirt.api.resource import Resource
from kubevirt.base.clock import Clock
from kubevirt.base.errors import Retry, Unreachable, is_bug
from kubevirt.base.log import get_logger
from kubevirt.base.tasks import Latch
from kubevirt.kube.backoff import Backoff, BackoffSettings
from kubevirt.kube.cache.pulse import Pulse
from kubevirt.kube.cache.resource_version import is_older, newest
from kubevirt.kube.cache.sharing import Sharing
from kubevirt.kube.cache.snapshot import Snapshot
from kubevirt.kube.cache.store import Cacheable, Store
from kubevirt.kube.errors import ApiError, BadRequest, Expired, Gone, Invalid
from kubevirt.kube.source import ObjectList, Source
from kubevirt.kube.watch import EventType, Undecodable, WatchEvent

T = TypeVar("T", bound=Cacheable)

log = get_logger(__name__)

SHORT_WATCH_S = 1.0
"""A server, or a proxy before it, that closes a watch sooner and had nothing to say is in trouble."""


class ReflectorSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The defaults are client-go's where it has the setting."""

    streams_list: bool = True
    """Whether to ask for a streamed list first: it spares the server building the list in memory."""

    page_size: int = 500
    """Objects in one page of a list that is not streamed."""

    answer_limit_s: float = 60.0
    """Longest wait for the next page, or the next object of a streamed list. A minute is when
    kube-apiserver gives up a request itself; less might never get a long list from a slow one."""

    watch_s: float = 300.0
    """A watch is asked to last this long, and up to twice as long at random, so that the watches of
    a fleet do not end together. Shorter watches find a hung server sooner and cost more requests."""

    silence_limit_s: float = 75.0
    """Longest silence of a watch before the server is asked whether it is there and another watch
    takes over; shorter where bookmarks come more often (see `pulse.py`). Just above the minute after
    which kube-apiserver sends a bookmark, if there is anything to say at all."""

    steady_after_s: float = 10.0
    """A watch that lasted this long was a success: the next trouble starts with a short wait."""

    batch: int = 256
    """How many objects are handled before others get their turn: about a millisecond of work."""

    rewind_after_s: float = 60.0
    """For how long a server may answer with the past before it is believed to have lost data."""

    backoff: BackoffSettings = BackoffSettings(base_s=0.8, cap_s=30.0, jitter=1.0)
    """Waits after failures in a row, at random up to twice as long."""


class Scope(msgspec.Struct, frozen=True, kw_only=True):
    """Which objects of a resource."""

    namespace: str | None = None
    label_selector: str = ""
    field_selector: str = ""


class StaleAnswer(Retry):
    """The server shows a state that it had left behind before."""


class NamelessObject(Retry):
    """Something changed that cannot even be named; only a list tells what is there now."""


class Reflector(Generic[T]):
    def __init__(
        self,
        source: Source,
        resource: Resource[T],
        scope: Scope,
        store: Store[T],
        *,
        clock: Clock,
        settings: ReflectorSettings,
        randomness: random.Random,
    ) -> None:
        self.synced = Latch()
        """Opens when the store has first been equal to the collection."""

        self.last_error: Exception | None = None
        """What went wrong last; None as soon as the server has been heard again."""

        self._told: tuple[type[Exception], str] | None = None
        """The error that stands in the log. It stays while the server answers and cannot be followed:
        where lists work and watches break, there is one line of it and not two a minute."""

        self.lists = self.watches = self.events = 0
        self.replays = self.silences = self.failures = 0

        self._source = source
        self._resource = resource
        self._scope = scope
        self._store = store
        self._clock = clock
        self._settings = settings
        self._random = randomness
        self._sharing = Sharing()
        self._backoff = Backoff(settings.backoff, randomness=randomness)
        self._log = log.bind(resource=resource.group_resource, namespace=scope.namespace)

        self._position: str | None = None  # where the next watch begins; None: list first
        self._seen: str | None = None  # the newest version ever heard of
        self._is_in_doubt = False  # the connection broke: is it still the same server?
        self._stale_since: float | None = None
        self._server_streams = settings.streams_list
        self._pages_next = False

    @property
    def position(self) -> str | None:
        """The resource version up to which the store is complete; None until it has been listed."""
        return self._position

    async def run(self) -> None:
        """Runs until cancelled."""
        while True:
            began, position = self._clock.monotonic(), self._position
            error = await self._attempt()
            lasted_s = self._clock.monotonic() - began
            if lasted_s >= self._settings.steady_after_s:
                self._backoff.forget()
            if error is not None:
                await self._clock.sleep(self._wait_after(error))
            elif self._position == position and lasted_s < SHORT_WATCH_S:
                await self._clock.sleep(self._backoff.next())

    async def _attempt(self) -> Exception | None:
        """One list or one watch, until it ends. Returns what ended it early."""
        try:
            if self._position is None:
                await self._list()
            else:
                await self._resume()
        except Exception as error:  # noqa: BLE001  # nothing ends a cache; bugs are logged as such
            return error
        return None

    def _wait_after(self, error: Exception) -> float:
        """Seconds until the next attempt, which this error decides."""
        self.failures += 1
        self._note_failure(error)
        if isinstance(error, Expired | Gone | NamelessObject) or is_bug(error):
            self._position = None
        elif isinstance(error, Unreachable):
            self._is_in_doubt = True
        after_s = error.after_s if isinstance(error, ApiError | Retry) else 0.0
        return max(self._backoff.next(), after_s)

    # Listing

    async def _list(self) -> None:
        if not self._server_streams or self._pages_next:
            self._pages_next = False
            await self._list_in_pages()
            return
        # Whatever goes wrong with the stream, the next try is in pages: a server that streams badly
        # must not keep the store empty.
        self._pages_next = True
        try:
            await self._watch(streams_list=True)
        except (BadRequest, Invalid) as refusal:
            if self._position is not None:
                raise
            self._log.info("server does not stream lists, reading pages", answer=str(refusal))
            self._server_streams = False
            await self._list_in_pages()

    async def _list_in_pages(self) -> None:
        snapshot = Snapshot(self._store, self._sharing)
        version = ""
        limit_s = self._settings.answer_limit_s
        pages = self._pages(self._settings.page_size)
        try:
            async with aclosing(pages), self._clock.timeout(limit_s) as deadline:
                async for page in pages:
                    deadline.reschedule(self._clock.monotonic() + limit_s)
                    if page.is_first:
                        snapshot.clear()
                        version = page.resource_version
                    for item in page.items:
                        snapshot.add(item)
                    for unreadable in page.undecodable:
                        snapshot.add(unreadable)
                    await self._clock.sleep(0)
        except TimeoutError:
            raise Unreachable(f"no page of the list came within {limit_s:g} s") from None
        await self._adopt(snapshot, version)

    async def _read_streamed_list(self, events: AsyncGenerator[WatchEvent[T], None]) -> None:
        snapshot = Snapshot(self._store, self._sharing)
        pulse = Pulse(self._settings.answer_limit_s, self._clock.monotonic())
        try:
            async with self._clock.timeout(pulse.limit_s) as deadline:
                async for event in events:
                    if pulse.beat(self._clock.monotonic()):
                        deadline.reschedule(pulse.deadline)
                    if event.initial_events_end:
                        break
                    # Changes may come in between, when the list is long.
                    if event.type is EventType.DELETED:
                        snapshot.remove(self._named(event))
                    elif event.object is not None:
                        snapshot.add(event.object)
                    await self._count_event()
                else:
                    raise Unreachable("the server closed the stream before the list was complete")
        except TimeoutError:
            raise Unreachable(f"the streamed list paused for {pulse.limit_s:g} s") from None
        await self._adopt(snapshot, event.resource_version)

    async def _adopt(self, snapshot: Snapshot[T], version: str) -> None:
        """The list is complete: from here on the store is what it says."""
        may_go_back = self._is_past_to_be_believed(version)
        self._seen = version if may_go_back else newest(self._seen, version)
        for _ in snapshot.apply(self._settings.batch, may_go_back=may_go_back):
            await self._clock.sleep(0)
        self._position = version
        self._is_in_doubt = self._pages_next = False
        self.lists += 1
        self._note_answer()
        self.synced.open()
        self._log.debug("listed", objects=len(snapshot), resource_version=version)

    def _is_past_to_be_believed(self, version: str) -> bool:
        """False for an answer that is not of the past; refuses one that is, for a while."""
        if not is_older(version, self._seen):
            self._stale_since = None
            return False
        now = self._clock.monotonic()
        if self._stale_since is None:
            self._stale_since = now
        if now - self._stale_since < self._settings.rewind_after_s:
            raise StaleAnswer(
                f"the server is at resource version {version}, but {self._seen} was seen before;"
                " it is behind, or its data was restored from a backup"
            )
        self._stale_since = None
        self._log.warning("server lost data, going back with it", to=version, seen=self._seen)
        return True

    # Watching

    async def _resume(self) -> None:
        if self._is_in_doubt:
            await self._ask_how_far_the_server_is()
        if self._position is not None:
            await self._watch()

    async def _ask_how_far_the_server_is(self) -> None:
        limit_s = self._settings.answer_limit_s
        pages = self._pages(1)
        try:
            async with aclosing(pages), self._clock.timeout(limit_s):
                version = (await anext(pages)).resource_version
        except TimeoutError:
            raise Unreachable(f"no answer within {limit_s:g} s") from None
        self._is_in_doubt = False
        self._note_answer()  # on a quiet collection, the watch may have nothing to say for a minute
        if is_older(version, self._position):
            self._log.warning("server is behind, listing again", at=version, seen=self._seen)
            self._position = None

    async def _watch(self, *, streams_list: bool = False) -> None:
        events = self._source.watch(
            self._resource,
            self._scope.namespace,
            resource_version=None if streams_list else self._position,
            label_selector=self._scope.label_selector,
            field_selector=self._scope.field_selector,
            send_initial_events=True if streams_list else None,
            resource_version_match="NotOlderThan" if streams_list else None,
            timeout_s=int(self._settings.watch_s * self._random.uniform(1, 2)),
        )
        self.watches += 1
        async with aclosing(events):
            if streams_list:
                await self._read_streamed_list(events)
            await self._follow(events)
        self._note_following()  # it ended, but nothing broke it

    async def _follow(self, events: AsyncGenerator[WatchEvent[T], None]) -> None:
        pulse = Pulse(self._settings.silence_limit_s, self._clock.monotonic())
        try:
            async with self._clock.timeout(pulse.limit_s) as deadline:
                async for event in events:
                    is_bookmark = event.type is EventType.BOOKMARK
                    if pulse.beat(self._clock.monotonic(), is_bookmark=is_bookmark):
                        deadline.reschedule(pulse.deadline)
                    self._take(event)
                    await self._count_event()
        except TimeoutError:
            # No error yet: on a quiet resource a server may have nothing to say for long.
            self.silences += 1
            self._is_in_doubt = True

    def _take(self, event: WatchEvent[T]) -> None:
        self._note_following()
        version = event.resource_version
        if event.type is EventType.DELETED:
            # Decided per object: to delete again what is gone does no harm, a lost deletion does.
            self._store.remove(self._named(event))
        elif event.type is not EventType.BOOKMARK:
            if version == self._position or is_older(version, self._position):
                self.replays += 1
            else:
                self._put(self._named(event))
        self._position = newest(self._position, version)
        self._seen = newest(self._seen, version)

    def _put(self, thing: T | Undecodable) -> None:
        if isinstance(thing, Undecodable):
            self._store.put_unreadable(thing)
        else:
            self._sharing.share(thing)
            self._store.put(thing)

    def _named(self, event: WatchEvent[T]) -> T | Undecodable:
        if event.object is None or not event.object.metadata.name:
            raise NamelessObject("an object changed whose name cannot be read; listing again")
        return event.object

    async def _count_event(self) -> None:
        """Lets others run now and then: a buffer full of events never waits by itself."""
        self.events += 1
        if self.events % self._settings.batch == 0:
            await self._clock.sleep(0)

    def _pages(self, limit: int) -> AsyncGenerator[ObjectList[T], None]:
        return self._source.pages(
            self._resource,
            self._scope.namespace,
            label_selector=self._scope.label_selector,
            field_selector=self._scope.field_selector,
            limit=limit,
        )

    def _note_failure(self, error: Exception) -> None:
        """Says it once: a CRD that is missing for a week is one line in the log, not ten thousand."""
        self.last_error = error
        said = (type(error), str(error))
        if said != self._told:
            self._told = said
            self._log.warning("cannot follow", error=error)

    def _note_answer(self) -> None:
        """It answers, which is not to say that it can be followed."""
        self.last_error = None

    def _note_following(self) -> None:
        self.last_error = None
        if self._told is not None:
            self._told = None
            self._log.info("following again", resource_version=self._position)
