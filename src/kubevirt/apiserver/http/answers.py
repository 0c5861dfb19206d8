"""Answers: results written down in the form that the client accepts.

What is stored goes out without being decoded, in a form of its own for each kind, version and media type.
A change that a hundred watch is written once.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec
import yaml

from kubevirt.api.meta import Status
from kubevirt.apiserver.http import media
from kubevirt.apiserver.http.media import Form
from kubevirt.apiserver.http.tables import Tables
from kubevirt.apiserver.kinds.kind import Kind, Version
from kubevirt.apiserver.registry import stored
from kubevirt.apiserver.registry.results import Many, One
from kubevirt.apiserver.registry.watching import Mark, Sight
from kubevirt.base.clock import Clock

FRAMES_BYTES: Final = 4 << 20
"""Of written events that are kept for the next watcher."""
INITIAL_EVENTS_END: Final = "k8s.io/initial-events-end"

_encode: Final = msgspec.json.Encoder().encode


def encode(document: Any) -> bytes:
    return _encode(document)


def as_yaml(body: bytes) -> bytes:
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    text: str = yaml.dump(msgspec.json.decode(body), Dumper=dumper, allow_unicode=True)
    return text.encode()


def status(refused: Status) -> dict[str, Any]:
    document = msgspec.to_builtins(refused, str_keys=True)
    found = {"kind": "Status", "apiVersion": "v1", "metadata": {}, **document}
    # A message is always there; details are, where a request was about nothing that exists.
    if refused.details is not None:
        found["details"] = document.get("details", {})
    return found


class Answers:
    """In one form, for one version of one kind."""

    def __init__(self, kind: Kind, version: Version, form: Form, clock: Clock) -> None:
        self._kind = kind
        self._version = version
        self._form = form
        self._head = stored.head(kind, version)
        self._item_head = stored.head(kind, version, is_named=kind.is_custom)
        self._tables = Tables(kind, version, clock) if form.kind == media.TABLE else None
        self._frames: dict[tuple[int, str], bytes] = {}
        self._frames_bytes = 0

    def one(self, result: One) -> bytes:
        return self._object(result.value, result.revision, self._head)

    def _object(self, value: bytes, revision: int, head: bytes) -> bytes:
        if self._tables:
            return _encode(self._tables.of_one(value, revision))
        if self._form.kind:
            return stored.metadata_shown(value, revision)
        return stored.shown(value, revision, head)

    def many(self, result: Many) -> bytes:
        metadata: dict[str, Any] = {"resourceVersion": str(result.revision)}
        if result.continue_:
            metadata["continue"] = result.continue_
            if result.remaining:
                metadata["remainingItemCount"] = result.remaining
        if self._tables:
            rows = ((each.value, each.revision) for each in result.entries)
            return _encode(self._tables.of_many(rows, metadata))
        if self._form.kind:
            head = b'{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":'
        else:
            named = {"kind": self._kind.names.list_kind, "apiVersion": self._api_version}
            head = _encode(named)[:-1] + b',"metadata":'
        items = self._items(result)
        return b"".join((head, _encode(metadata), b',"items":[', b",".join(items), b"]}"))

    def _items(self, result: Many) -> Iterable[bytes]:
        if self._form.kind:
            return [stored.metadata_shown(each.value, each.revision) for each in result.entries]
        head = self._item_head
        return [stored.shown(each.value, each.revision, head) for each in result.entries]

    @property
    def _api_version(self) -> str:
        group = self._kind.group
        return f"{group}/{self._version.name}" if group else self._version.name

    # Watching

    def frames(self, sights: Sequence[Sight | Mark]) -> bytes:
        return b"".join(
            self._frame(each) if isinstance(each, Sight) else self._bookmark(each)
            for each in sights
        )

    def _frame(self, sight: Sight) -> bytes:
        known = self._frames.get((sight.revision, sight.type))
        if known is not None and not self._tables:
            return known
        object_ = self._object(sight.value, sight.revision, self._head)
        frame = b'{"type":"%b","object":%b}\n' % (sight.type.encode(), object_)
        self._frames_bytes += len(frame)
        if self._frames_bytes > FRAMES_BYTES:
            self._frames.clear()
            self._frames_bytes = len(frame)
        self._frames[sight.revision, sight.type] = frame
        return frame

    def _bookmark(self, mark: Mark) -> bytes:
        metadata: dict[str, Any] = {"resourceVersion": str(mark.revision)}
        if mark.is_end_of_initial:
            metadata["annotations"] = {INITIAL_EVENTS_END: "true"}
        if self._tables:
            object_ = self._tables.bookmark(metadata)
        elif self._form.kind:
            named = {"kind": media.PARTIAL, "apiVersion": "meta.k8s.io/v1"}
            object_ = {**named, "metadata": metadata}
        else:
            named = {"kind": self._kind.names.kind, "apiVersion": self._api_version}
            object_ = {**named, "metadata": metadata}
        return _encode({"type": "BOOKMARK", "object": object_}) + b"\n"


def error_frame(refused: Status) -> bytes:
    return _encode({"type": "ERROR", "object": status(refused)}) + b"\n"
