"""Event: something that happened to an object."""

from datetime import datetime

from kubevirt.api.core.references import ObjectReference
from kubevirt.api.meta import ObjectMeta
from kubevirt.api.struct import Int32, MicroTime, Struct


class EventSource(Struct, frozen=True, kw_only=True):
    """Who reported, in the form of old clients."""

    component: str | None = None
    host: str | None = None


class EventSeries(Struct, frozen=True, kw_only=True):
    """How often an event was repeated, and when last."""

    count: Int32 | None = None
    last_observed_time: MicroTime | None = None


class Event(Struct, frozen=True, kw_only=True):
    """Something that happened to an object; kept for about an hour."""

    type: str | None = None
    action: str | None = None
    api_version: str | None = None
    count: Int32 | None = None
    event_time: MicroTime | None = None
    first_timestamp: datetime | None = None
    involved_object: ObjectReference
    kind: str | None = None
    last_timestamp: datetime | None = None
    message: str | None = None
    metadata: ObjectMeta
    reason: str | None = None
    related: ObjectReference | None = None
    reporting_component: str | None = None
    reporting_instance: str | None = None
    series: EventSeries | None = None
    source: EventSource | None = None
