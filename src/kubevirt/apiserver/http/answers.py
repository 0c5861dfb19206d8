"""Answers: results written down in the form that the client accepts.

What is stored goes out without being decoded, in a form of its own for each kind, version and media type.
A change that a hundred watch is written once.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec
import yaml

from kubevirt.api.meta import Status
from kubevirt.apiserver.http import media
from kubevirt.apiserver.http.frames import Frames
from kubevirt.apiserver.http.media import Form
from kubevirt.apiserver.http.tables import Tables
from kubevirt.apiserver.kinds.kind import Kind, Version
from kubevirt.apiserver.registry import stored
from kubevirt.apiserver.registry.results import One
from kubevirt.apiserver.registry.watching import Mark, Sight
from kubevirt.apiserver.storage.records import Entry
from kubevirt.base.clock import Clock

PIECE_BYTES: Final = 64 << 10
"""Of events that are handed to a connection at once: what it has not sent yet is this watcher's alone."""
ITEMS: Final = "items"
ROWS: Final = "rows"
INITIAL_EVENTS_END: Final = "k8s.io/initial-events-end"

_encode: Final = msgspec.json.Encoder().encode


def encode(document: Any) -> bytes:
    return _encode(document)


def as_yaml(body: bytes) -> bytes:
    return yaml_of(msgspec.json.decode(body))


def yaml_of(document: Any) -> bytes:
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    text: str = yaml.dump(document, Dumper=dumper, allow_unicode=True)
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

    def __init__(
        self, kind: Kind, version: Version, form: Form, clock: Clock, frames: Frames | None = None
    ) -> None:
        self._kind = kind
        self._version = version
        self._form = form
        self._head = stored.head(kind, version)
        self._item_head = stored.head(kind, version, is_named=kind.is_custom)
        is_table = form.kind == media.TABLE
        self._tables = Tables(kind, version, clock, form.included) if is_table else None
        self._frames = frames or Frames()

    def one(self, result: One) -> bytes:
        return self._object(result.value, result.revision, self._head)

    def _object(self, value: bytes, revision: int, head: bytes) -> bytes:
        if self._tables:
            return _encode(self._tables.of_one(value, revision))
        if self._form.kind:
            return stored.metadata_shown(value, revision)
        return stored.shown(stored.as_shown(value, self._api_version), revision, head)

    # Lists: what comes before the items, the items, and the closing.

    def opening(self, metadata: dict[str, Any] | None) -> bytes:
        """Without metadata if that comes with the closing."""
        if self._tables:
            frame, name = self._tables.frame(metadata), ROWS
        elif self._form.kind:
            named = {"kind": media.PARTIAL_LIST, "apiVersion": "meta.k8s.io/v1"}
            frame, name = {**named, "metadata": metadata}, ITEMS
        else:
            named = {"kind": self._kind.names.list_kind, "apiVersion": self._api_version}
            frame, name = {**named, "metadata": metadata}, ITEMS
        if metadata is None:
            del frame["metadata"]
        return b'%b,"%b":[' % (_encode(frame)[:-1], name.encode())

    def items(self, entries: Sequence[Entry]) -> list[bytes]:
        if self._tables:
            rows = self._tables.rows((each.value, each.revision) for each in entries)
            return [_encode(row) for row in rows]
        if self._form.kind:
            return [stored.metadata_shown(each.value, each.revision) for each in entries]
        head, version = self._item_head, self._api_version
        return [
            stored.shown(stored.as_shown(each.value, version), each.revision, head)
            for each in entries
        ]

    @property
    def _api_version(self) -> str:
        group = self._kind.group
        return f"{group}/{self._version.name}" if group else self._version.name

    # Watching

    def frames(self, sights: Sequence[Sight | Mark]) -> Iterator[bytes]:
        """In pieces of a bounded size, however many events there are."""
        piece: list[bytes] = []
        size = 0
        for each in sights:
            frame = self._frame(each) if isinstance(each, Sight) else self._bookmark(each)
            piece.append(frame)
            size += len(frame)
            if size >= PIECE_BYTES:
                yield b"".join(piece)
                piece, size = [], 0
        if piece:
            yield b"".join(piece)

    def _frame(self, sight: Sight) -> bytes:
        key = (self, sight.revision, sight.type)
        known = self._frames.get(key)
        if known is not None:
            return known
        object_ = self._object(sight.value, sight.revision, self._head)
        frame = b'{"type":"%b","object":%b}\n' % (sight.type.encode(), object_)
        if not self._tables:  # which tell ages, and those change
            self._frames.put(key, frame)
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


def closing(metadata: dict[str, Any] | None = None) -> bytes:
    """Of a list."""
    return b'],"metadata":%b}' % _encode(metadata) if metadata else b"]}"


def error_frame(refused: Status) -> bytes:
    return _encode({"type": "ERROR", "object": status(refused)}) + b"\n"
