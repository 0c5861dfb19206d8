"""A Kubernetes server in memory that fails on command: a `Source` for tests under virtual time.

    server = FaultyServer(clock)
    server.create(PODS, {"metadata": {"name": "a", "namespace": "default"}})
    informer = Informer(server, PODS, clock=clock)
    …
    server.drop_streams()
    server.compact()

Objects are kept as JSON data and decoded to the type of whoever asks, so one that does not fit its type
is `Undecodable`, as from a real server. What it does when nothing is wrong is held against the real
thing by `tests/contract/test_source_contract.py`; what it does when something is wrong is listed
here, as methods.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, suppress
from typing import Any, TypeVar

from kubevirt.api.meta import Status, StatusCause, StatusDetails
from kubevirt.api.resource import Resource
from kubevirt.base.clock import Clock
from kubevirt.base.errors import Unreachable
from kubevirt.kube.errors import ApiError, from_status
from kubevirt.kube.key import Key
from kubevirt.kube.source import ObjectList
from kubevirt.kube.watch import EventType, WatchEvent
from kubevirt.testing.history import Data, History
from kubevirt.testing.view import View, bookmark

T = TypeVar("T")

FRESHNESS_LIMIT_S = 3.0
"""How long a replica that is behind lets a consistent read wait before it refuses."""


class _Stream:
    """One open watch, and what is to happen to it."""

    def __init__(self) -> None:
        self.is_dropped = False
        self.is_closed = False
        self.is_stalled = False
        self.cuts_next_event = False

    def check(self) -> bool:
        """False when the stream ends here."""
        if self.is_dropped:
            raise Unreachable("the connection was cut")
        return not self.is_closed


class FaultyServer:
    def __init__(self, clock: Clock, *, bookmark_every_s: float = 60.0) -> None:
        self.history = History(clock.now)
        self.streams_lists = True
        """False: an older server, which refuses to stream a list."""

        self.delay_s = 0.0
        """How late each answer and each event is."""

        self.repeats = 0
        """How many changes a resumed watch sends once more, though the client has seen them."""

        self.breaks_watches = False
        """Whether watches break before their first change; lists are whole, streamed ones too. Some
        proxies do that to whatever does not end soon."""

        self.requests: list[str] = []
        """What was asked, in order: `list`, `watch 42`, `stream list`."""

        self._clock = clock
        self._bookmark_every_s = bookmark_every_s
        self._streams: set[_Stream] = set()
        self._failures: list[Exception] = []
        self._is_down = False
        self._is_hung = False
        self._visible: int | None = None  # a replica that is behind shows nothing newer
        self._lies = False
        self._changed = asyncio.Event()

    # The collection, as other clients change it

    def create(self, resource: Resource[Any], data: Any) -> Data:
        created = self.history.create(resource, data)
        self._wake()
        return created

    def update(self, resource: Resource[Any], key: Key, changes: Data) -> Data:
        """Merges `changes` into the object, like a JSON merge patch."""
        updated = self.history.update(resource, key, changes)
        self._wake()
        return updated

    def delete(self, resource: Resource[Any], key: Key) -> Data:
        deleted = self.history.delete(resource, key)
        self._wake()
        return deleted

    # What can go wrong

    @property
    def open_streams(self) -> int:
        return len(self._streams)

    def drop_streams(self) -> None:
        """Open watches break: a reset connection."""
        for stream in self._streams:
            stream.is_dropped = True
        self._wake()

    def truncate_streams(self) -> None:
        """Open watches break in the middle of their next event."""
        for stream in self._streams:
            stream.cuts_next_event = True

    def close_streams(self) -> None:
        """Open watches end in good order, as after their timeout."""
        for stream in self._streams:
            stream.is_closed = True
        self._wake()

    def stall_streams(self) -> None:
        """Open watches never say anything again, not even that they ended."""
        for stream in self._streams:
            stream.is_stalled = True

    def hang(self) -> None:
        """The process is stopped: connections stay, nothing is answered until `go_on`."""
        self._is_hung = True

    def go_on(self) -> None:
        self._is_hung = False
        self._wake()

    def go_down(self) -> None:
        """The process dies: connections break, new ones are refused until `come_back`."""
        self._is_down = True
        self.drop_streams()

    def come_back(self) -> None:
        self._is_down = False

    def compact(self) -> None:
        """Forgets the past: watches and lists that continue from there get 410."""
        self.history.compact(self._shown)

    def restore(self, number: int) -> None:
        """A backup is restored: everything after `number` never happened. Connections break."""
        self.history.restore(number)
        self.drop_streams()

    def fail_next(self, *errors: Exception) -> None:
        """The next requests fail with these, one each."""
        self._failures += errors

    def fall_behind(self, *, to: int | None = None, lies: bool = False) -> None:
        """Nothing newer than this moment, or than change `to`, is shown until `catch_up`.

        A real replica that is behind makes a consistent read wait, then refuses it. One that `lies`
        (a cache in between, a bug) answers at once with the past.
        """
        self._visible = self.history.number if to is None else to
        self._lies = lies

    def catch_up(self) -> None:
        self._visible = None
        self._wake()

    # The server

    async def pages(
        self,
        resource: Resource[T],
        namespace: str | None = None,
        *,
        label_selector: str = "",
        field_selector: str = "",
        limit: int = 500,
        resource_version: str | None = None,
        resource_version_match: str | None = None,
    ) -> AsyncGenerator[ObjectList[T], None]:
        del (
            resource_version_match
        )  # None and "0" are told apart; a list is never of an exact version
        view = View(resource, namespace, label_selector, field_selector)
        await self._arrive(f"list limit={limit}")
        if resource_version != "0":
            await self._be_fresh()
        at = self._shown
        objects = view.objects(self.history.state(resource, at))
        sent = 0
        while True:
            page, rest = objects[:limit], objects[limit:]
            yield view.page(page, at, is_first=sent == 0, remaining=len(rest))
            if not rest:
                return
            await self._arrive("list continue")
            sent, objects = sent + len(page), rest
            if at < self.history.compacted:
                at, sent = self._shown, 0
                objects = view.objects(self.history.state(resource, at))

    async def watch(
        self,
        resource: Resource[T],
        namespace: str | None = None,
        *,
        resource_version: str | None,
        label_selector: str = "",
        field_selector: str = "",
        allow_bookmarks: bool = True,
        send_initial_events: bool | None = None,
        resource_version_match: str | None = None,
        timeout_s: int | None = None,
    ) -> AsyncGenerator[WatchEvent[T], None]:
        view = View(resource, namespace, label_selector, field_selector)
        stream = _Stream()
        self._streams.add(stream)
        try:
            if send_initial_events:
                await self._arrive("stream list")
                self._check_streamed_list(resource_version_match)
                await self._be_fresh()
            else:
                await self._arrive(f"watch {resource_version}")
                self._let_go_on()
            words = self._say(view, stream, int(resource_version or 0), timeout_s or 3600)
            async with aclosing(words):
                async for event in words:
                    if not await self._deliver(stream):
                        return
                    is_wanted = send_initial_events if event.initial_events_end else allow_bookmarks
                    if is_wanted or event.type is not EventType.BOOKMARK:
                        yield event
                    if event.initial_events_end:
                        self._let_go_on()
        finally:
            self._streams.discard(stream)

    async def _say(
        self, view: View[T], stream: _Stream, cursor: int, timeout_s: float
    ) -> AsyncGenerator[WatchEvent[T], None]:
        """All that a watch has to tell, until its time is over."""
        now = self._clock.monotonic
        ends = now() + timeout_s
        if cursor == 0:
            cursor = self._shown
            for data in view.objects(self.history.state(view.resource, cursor)):
                yield view.added(data)
            # What changed while the list was sent may come before its end.
            for event in self._news(view, cursor):
                cursor = int(event.resource_version)
                yield event
            yield bookmark(cursor, initial_events_end=True)
        elif cursor < self.history.compacted:
            raise expired(cursor, self.history.compacted)
        else:
            cursor = max(cursor - self.repeats, 0)
        next_bookmark = min(now() + self._bookmark_every_s, ends - 2)
        while now() < ends and stream.check():
            changed = self._changed
            for event in self._news(view, cursor):
                cursor = int(event.resource_version)
                yield event
            if now() >= next_bookmark:
                next_bookmark = now() + self._bookmark_every_s
                if cursor <= self._shown:
                    cursor = self._shown
                    yield bookmark(cursor)
            await self._wait(changed, stream, min(next_bookmark, ends) - now())

    def _news(self, view: View[T], cursor: int) -> Iterator[WatchEvent[T]]:
        """What this replica shows after `cursor`, also what comes while that is being read."""
        for change in self.history.after(view.resource, cursor):
            if change.number > self._shown:
                return
            event = view.event(change)
            if event is not None:
                yield event

    async def _deliver(self, stream: _Stream) -> bool:
        """The way of one event over the wire. False when the stream ends before it."""
        await self._travel()
        if stream.is_stalled:
            await _forever()
        if stream.cuts_next_event:
            raise Unreachable("the connection was cut in the middle of an event")
        return stream.check()

    def _let_go_on(self) -> None:
        if self.breaks_watches:
            raise Unreachable("the connection was cut")

    async def _wait(self, changed: asyncio.Event, stream: _Stream, limit_s: float) -> None:
        if stream.is_stalled:
            await _forever()
        with suppress(TimeoutError):
            async with self._clock.timeout(limit_s):
                await changed.wait()

    async def _arrive(self, request: str) -> None:
        """A request comes in, and perhaps not through."""
        self.requests.append(request)
        await self._travel()
        if self._is_down:
            raise Unreachable("connection refused")
        if self._failures:
            raise self._failures.pop(0)

    async def _travel(self) -> None:
        await self._clock.sleep(self.delay_s)
        while self._is_hung:
            await self._changed.wait()

    async def _be_fresh(self) -> None:
        """A consistent read: waits until this replica is as new as the store, but not forever."""
        if self._lies:
            return
        wanted = self.history.number
        try:
            async with self._clock.timeout(FRESHNESS_LIMIT_S):
                while self._shown < wanted:
                    await self._changed.wait()
        except TimeoutError:
            raise _too_large(wanted, self._shown) from None

    @property
    def _shown(self) -> int:
        """The newest version that this server shows."""
        number = self.history.number
        return number if self._visible is None else min(self._visible, number)

    def _check_streamed_list(self, resource_version_match: str | None) -> None:
        if not self.streams_lists:
            raise _failure(422, "Invalid", "sendInitialEvents is forbidden for watch")
        if resource_version_match != "NotOlderThan":
            raise _failure(422, "Invalid", "sendInitialEvents requires NotOlderThan")

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


async def _forever() -> None:
    await asyncio.Event().wait()


def expired(version: int, oldest: int) -> ApiError:
    return _failure(410, "Expired", f"too old resource version: {version} ({oldest})")


def overloaded(code: int = 429, after_s: int = 1) -> ApiError:
    """429, 500 or 503, as a server answers when it has too much to do."""
    reason = {429: "TooManyRequests", 500: "InternalError", 503: "ServiceUnavailable"}[code]
    return _failure(code, reason, "try again later", after_s=after_s)


def _too_large(wanted: int, shown: int) -> ApiError:
    cause = StatusCause(reason="ResourceVersionTooLarge", message="Too large resource version")
    return from_status(
        Status(
            status="Failure",
            code=504,
            reason="Timeout",
            message=f"Too large resource version: {wanted}, current: {shown}",
            details=StatusDetails(causes=(cause,), retry_after_seconds=1),
        )
    )


def _failure(code: int, reason: str, message: str, *, after_s: int = 0) -> ApiError:
    details = StatusDetails(retry_after_seconds=after_s)
    return from_status(
        Status(status="Failure", code=code, reason=reason, message=message, details=details)
    )
