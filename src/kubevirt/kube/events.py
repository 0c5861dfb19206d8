"""Event recorder: tells users what happened to their objects, and never holds up who tells it.

    recorder = EventRecorder(client, component="virtualmachine-controller", host=node, clock=clock)
    recorder.normal(reference(VIRTUAL_MACHINES, vm), "SuccessfulCreate", "Created ...")
    async with recorder.running():     # writes them to the server, at the end also what still waits
        ...

Recording is a plain call that cannot fail or wait: what happens too often is only counted
(`correlation.py`), what does not fit the line is dropped. An event that waits to be written and
happens again is still one write. A server that cannot answer is tried again; one that refuses is not.
"""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, Protocol, TypeVar

from msgspec import Struct, field

from kubevirt.api.core.event import Event, EventSource
from kubevirt.api.core.references import ObjectReference
from kubevirt.api.meta import HasMetadata, ObjectMeta
from kubevirt.api.resource import Resource
from kubevirt.api.scheme import EVENTS
from kubevirt.base.clock import Clock
from kubevirt.base.errors import Retry
from kubevirt.base.log import get_logger
from kubevirt.base.tasks import background
from kubevirt.kube.correlation import CorrelationSettings, Correlator, EventType, Happening, Record
from kubevirt.kube.errors import AlreadyExists, ApiError, Conflict, NotFound
from kubevirt.kube.patches import MergePatch

T = TypeVar("T")

log = get_logger(__name__)

MESSAGE_LIMIT_BYTES = 1024
FAREWELL_S = 3.0
"""For what waits when whoever tells goes down: enough for a server that answers, and nobody waits for another."""
NAMESPACE_OF_CLUSTER_WIDE_OBJECTS = "default"


class EventSettings(Struct, frozen=True, kw_only=True):
    waiting: int = 1000
    """Events that may wait to be written; more are dropped. client-go's number."""
    tries: int = 12
    """How often an event is written before it is given up."""
    retry_s: float = 10.0
    """Seconds between two tries; the first wait is a random part of it, so that not all clients of a
    server that was away come back at once."""
    correlation: CorrelationSettings = field(default_factory=CorrelationSettings)


class EventSink(Protocol):
    """What a recorder needs of a client."""

    async def create(self, resource: Resource[T], obj: T, namespace: str | None = None) -> T: ...
    async def patch(
        self, resource: Resource[T], name: str, patch: MergePatch, namespace: str | None = None
    ) -> T: ...


def reference(resource: Resource[Any], thing: HasMetadata) -> ObjectReference:
    """What an event is about: an object, by everything that identifies it."""
    metadata = thing.metadata
    return ObjectReference(
        api_version=resource.api_version,
        kind=resource.kind,
        namespace=metadata.namespace,
        name=metadata.name,
        uid=metadata.uid,
        resource_version=metadata.resource_version,
    )


class EventRecorder:
    def __init__(
        self,
        sink: EventSink,
        *,
        component: str,
        host: str = "",
        clock: Clock,
        settings: EventSettings | None = None,
        randomness: random.Random | None = None,
    ) -> None:
        """`component` is who tells: a controller's name. `host` is where it runs: a node."""
        self.dropped = 0
        """Events that were not told because too many waited."""
        self._sink = sink
        self._component = component
        self._host = host
        self._clock = clock
        self._settings = settings or EventSettings()
        self._random = randomness or random.Random()  # noqa: S311  # spreads load, hides nothing
        self._correlator = Correlator(self._settings.correlation)
        self._waiting: dict[str, Record] = {}  # by name, in order
        self._called = asyncio.Event()
        self._closing = asyncio.Event()
        self._is_over = asyncio.Event()

    def normal(self, about: ObjectReference, reason: str, message: str) -> None:
        """Something went as it should."""
        self._record(about, "Normal", reason, message)

    def warning(self, about: ObjectReference, reason: str, message: str) -> None:
        """Something went wrong, and the user may want to know."""
        self._record(about, "Warning", reason, message)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Around the work that tells: what it told last is written before this ends, if the server lets it."""
        async with background(self.run()):
            try:
                yield
            finally:
                self.close()
                with suppress(TimeoutError):
                    async with self._clock.timeout(FAREWELL_S):
                        await self._is_over.wait()

    async def run(self) -> None:
        """Writes events until cancelled, or until `close` was called and all have been tried."""
        try:
            while True:
                while not self._waiting:
                    if self._closing.is_set():
                        return
                    self._called.clear()
                    await self._called.wait()
                await self._deliver(self._waiting.pop(next(iter(self._waiting))))
        finally:
            self._is_over.set()

    def close(self) -> None:
        """No more events: `run` tries once to write those that wait, then ends."""
        self._closing.set()
        self._called.set()

    def _record(self, about: ObjectReference, kind: EventType, reason: str, message: str) -> None:
        happening = Happening(about, kind, reason, _shortened(message), self._clock.now())
        record = self._correlator.correlate(happening, self._clock.monotonic())
        if record is None or record.name in self._waiting or self._closing.is_set():
            return
        if len(self._waiting) >= self._settings.waiting:
            self.dropped += 1
            if self.dropped.bit_count() == 1:  # 1, 2, 4, 8 …: a flood is not answered by a flood
                log.warning("events dropped", total=self.dropped, component=self._component)
            return
        self._waiting[record.name] = record
        self._called.set()

    async def _deliver(self, record: Record) -> None:
        for attempt in range(1, self._settings.tries + 1):
            try:
                await self._write(record)
            except Exception as error:  # noqa: BLE001  # the next event may do better
                is_last = attempt == self._settings.tries or self._closing.is_set()
                if is_last or isinstance(error, Conflict) or not isinstance(error, Retry):
                    self._give_up(record, error)
                    return
                await self._pause(attempt, error)
            else:
                return

    async def _write(self, record: Record) -> None:
        namespace = record.about.namespace or NAMESPACE_OF_CLUSTER_WIDE_OBJECTS
        event = self._event(record, namespace)
        if record.is_stored:
            news = {"count": event.count, "lastTimestamp": event.last_timestamp}
            patch = MergePatch({**news, "message": event.message})
            with suppress(NotFound):  # it is older than the server keeps events
                await self._sink.patch(EVENTS, record.name, patch, namespace)
                return
        with suppress(AlreadyExists):  # an earlier try arrived, only its answer did not
            await self._sink.create(EVENTS, event, namespace)
        record.is_stored = True

    def _event(self, record: Record, namespace: str) -> Event:
        return Event(
            metadata=ObjectMeta(name=record.name, namespace=namespace),
            involved_object=record.about,
            type=record.type,
            reason=record.reason,
            message=record.message,
            count=record.count,
            first_timestamp=record.first.replace(microsecond=0),
            last_timestamp=record.latest.replace(microsecond=0),
            source=EventSource(component=self._component, host=self._host or None),
            reporting_component=self._component,
            reporting_instance=self._host,
        )

    async def _pause(self, attempt: int, error: Retry) -> None:
        """Until the next try, or until `close`."""
        wait_s = self._settings.retry_s * (self._random.random() if attempt == 1 else 1)
        with suppress(TimeoutError):
            async with self._clock.timeout(max(wait_s, error.after_s)):
                await self._closing.wait()

    def _give_up(self, record: Record, error: Exception) -> None:
        if isinstance(error, ApiError) and error.has_cause("NamespaceTerminating"):
            return  # everything in it goes away, events too
        log.warning(
            "event not written",
            event=record.reason,
            about=record.about.name,
            namespace=record.about.namespace,
            error=error,
        )


def _shortened(message: str) -> str:
    """At most as many bytes as the API takes, cut between characters."""
    if len(message.encode()) <= MESSAGE_LIMIT_BYTES:
        return message
    return message.encode()[: MESSAGE_LIMIT_BYTES - 3].decode(errors="ignore") + "..."
