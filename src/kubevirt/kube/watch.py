"""Watch events: what changed, as the server tells it.

An event carries the object as it is now (for DELETED: as it was last). A bookmark carries no object,
only how far the stream has come. An object that its type cannot hold does not end the stream: it
comes as `Undecodable`, which still says which object it is, so that a cache can drop what it knew of
it and name it to the user.
"""

from enum import StrEnum
from typing import Generic, TypeVar

import msgspec

from kubevirt.api.meta import ObjectMeta

T = TypeVar("T")

INITIAL_EVENTS_END = "k8s.io/initial-events-end"
"""The annotation of the bookmark that ends the list part of a streamed list."""


class EventType(StrEnum):
    """What happened; `ERROR` is missing because the client raises it."""

    ADDED = "ADDED"
    MODIFIED = "MODIFIED"
    DELETED = "DELETED"
    BOOKMARK = "BOOKMARK"


class Undecodable(msgspec.Struct, frozen=True, kw_only=True):
    """An object that does not fit its type: a newer server's, or one whose CRD allows too much."""

    metadata: ObjectMeta
    """As much as could be read: name, namespace, uid and resource version, or nothing at all."""

    error: str
    """What does not fit and where, never the value itself: it may be a secret."""


class WatchEvent(msgspec.Struct, Generic[T], frozen=True):
    type: EventType
    object: T | Undecodable | None
    """None exactly when `type` is BOOKMARK."""

    resource_version: str
    """Where the stream stands after this event: a watch that starts here misses nothing."""

    initial_events_end: bool = False
    """Set on the one bookmark after which a streamed list (`send_initial_events`) is complete."""
