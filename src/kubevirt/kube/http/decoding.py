"""From bytes to objects, in one pass, and without giving up all for one that does not fit.

A `Decoder` belongs to one type and is made once. A page of a list is decoded whole, straight into
its type; only when an object in it does not fit are they taken one by one. The same object that
breaks a type again and again is thus reported, not fatal. (All that msgspec raises is a ValueError.)
"""

from collections.abc import Mapping
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import Raw, field

from kubevirt.api.meta import ListMeta, ObjectMeta, Status
from kubevirt.api.resource import Resource
from kubevirt.base.errors import KubevirtError
from kubevirt.kube.errors import Expired, Garbled, UndecodableObject, from_status
from kubevirt.kube.http.nulls import without_nulls
from kubevirt.kube.source import ObjectList
from kubevirt.kube.watch import INITIAL_EVENTS_END, EventType, Undecodable, WatchEvent

T = TypeVar("T")


class _Page(msgspec.Struct, Generic[T]):
    metadata: ListMeta = field(default_factory=ListMeta)
    items: list[T] | None = None


class _Kind(msgspec.Struct):
    kind: str = ""


class _Line(msgspec.Struct):
    type: str
    object: Raw


class _Identity(msgspec.Struct, rename="camel"):
    """The least that tells an object from others, when its metadata are broken elsewhere."""

    name: str = ""
    namespace: str | None = None
    uid: str = ""
    resource_version: str | None = None


class _Identified(msgspec.Struct):
    metadata: _Identity = field(default_factory=_Identity)


class _Progress(msgspec.Struct, rename="camel"):
    resource_version: str = ""
    annotations: Mapping[str, str] | None = None


class _Bookmark(msgspec.Struct):
    metadata: _Progress


_OF_NULL = "got `null`"
"""As msgspec says it."""

_line = msgspec.json.Decoder(_Line)
_raw_page = msgspec.json.Decoder(_Page[Raw])
_kind = msgspec.json.Decoder(_Kind)
_status = msgspec.json.Decoder(Status)
_bookmark = msgspec.json.Decoder(_Bookmark)
_identified = msgspec.json.Decoder(_Identified)


class Decoder(Generic[T]):
    """Reads objects of one resource."""

    def __init__(self, resource: Resource[T]) -> None:
        self._resource = resource
        self._one: msgspec.json.Decoder[T] = msgspec.json.Decoder(resource.type)
        self._page = msgspec.json.Decoder(_Page[resource.type])  # type: ignore[name-defined]  # a value

    def one(self, body: bytes) -> T:
        """The answer to a call about one object."""
        try:
            return self._decoded(body)
        except msgspec.ValidationError as error:
            metadata = _identity(body)
            where = f" in namespace {metadata.namespace}" if metadata.namespace else ""
            raise UndecodableObject(
                f'{self._resource.group_resource} "{metadata.name}"{where}', str(error)
            ) from None
        except ValueError as error:
            raise self._garbled(error) from None

    def page(self, body: bytes) -> tuple[ObjectList[T], str]:
        """One page of a list, and the token that continues it."""
        undecodable: list[Undecodable] = []
        try:
            page = self._page.decode(body)
            items, meta = page.items or [], page.metadata
        except ValueError:
            items, undecodable, meta = self._one_by_one(body)
        for item in items:
            if not isinstance(item, dict):
                break
            # A list of a built-in kind says once for all what its items are.
            item.setdefault("apiVersion", self._resource.api_version)
            item.setdefault("kind", self._resource.kind)
        found = ObjectList(
            items=items,
            undecodable=undecodable,
            resource_version=meta.resource_version or "",
            remaining=meta.remaining_item_count,
        )
        return found, meta.continue_ or ""

    def event(self, line: bytes) -> WatchEvent[T]:
        """One line of a watch. Raises what an ERROR event says."""
        try:
            envelope = _line.decode(line)
            if envelope.type == EventType.BOOKMARK:
                return self._bookmark(envelope.object)
            if envelope.type == "ERROR":
                raise _error(_status.decode(envelope.object))
            kind = EventType(envelope.type)
        except ValueError as error:
            raise self._garbled(error) from None
        decoded = self._attempt(envelope.object)
        return WatchEvent(kind, decoded, _resource_version(decoded, envelope.object))

    def _bookmark(self, raw: Raw) -> WatchEvent[T]:
        metadata = _bookmark.decode(raw).metadata
        return WatchEvent(
            EventType.BOOKMARK,
            None,
            metadata.resource_version,
            (metadata.annotations or {}).get(INITIAL_EVENTS_END) == "true",
        )

    def _attempt(self, raw: Raw) -> T | Undecodable:
        try:
            return self._decoded(raw)
        except ValueError as error:
            return Undecodable(metadata=_identity(raw), error=str(error))

    def _decoded(self, raw: bytes | Raw) -> T:
        try:
            return self._one.decode(raw)
        except msgspec.ValidationError as error:
            if _OF_NULL not in str(error):
                raise
        type_ = self._resource.type
        return msgspec.convert(without_nulls(msgspec.json.decode(raw), type_), type_)

    def _one_by_one(self, body: bytes) -> tuple[list[T], list[Undecodable], ListMeta]:
        try:
            page = _raw_page.decode(body)
        except ValueError as error:
            raise self._garbled(error) from None
        decoded = [self._attempt(raw) for raw in page.items or ()]
        undecodable = [each for each in decoded if isinstance(each, Undecodable)]
        items = [each for each in decoded if not isinstance(each, Undecodable)]
        return items, undecodable, page.metadata

    def _garbled(self, error: Exception) -> Garbled:
        return Garbled(self._resource.group_resource, str(error))


def status_in(body: bytes) -> Status | None:
    """The `Status` that an answer is, if it is one and says so."""
    try:
        return _status.decode(body) if _kind.decode(body).kind == "Status" else None
    except ValueError:
        return None


def _error(status: Status) -> KubevirtError:
    # In a watch both reasons of a 410, Gone and Expired, mean that the history is not there.
    return Expired(status) if status.code == 410 else from_status(status)


def _resource_version(decoded: Any, raw: Raw) -> str:
    # Any type's own metadata will do; only plain data, which has no attributes, is read once more.
    version = getattr(getattr(decoded, "metadata", None), "resource_version", None)
    return str(version or _identity(raw).resource_version or "")


def _identity(raw: bytes | Raw) -> ObjectMeta:
    try:
        found = _identified.decode(raw).metadata
    except ValueError:
        return ObjectMeta()
    return ObjectMeta(
        name=found.name,
        namespace=found.namespace,
        uid=found.uid,
        resource_version=found.resource_version,
    )
