"""Objects as tables: what `kubectl get` asks for, so that the server says what is worth a column."""

from collections.abc import Iterable
from typing import Any

import msgspec

from kubevirt.apiserver.http import media
from kubevirt.apiserver.kinds.columns import AGE, NAME, layout_of
from kubevirt.apiserver.kinds.columns.ages import age
from kubevirt.apiserver.kinds.kind import Column, Kind, Version
from kubevirt.apiserver.registry import stored
from kubevirt.base.clock import Clock

Document = dict[str, Any]


class Tables:
    def __init__(self, kind: Kind, version: Version, clock: Clock, included: str = "") -> None:
        self._clock = clock
        self._included = included
        self._head = stored.head(kind, version)
        self._api_version = f"{kind.group}/{version.name}" if kind.group else version.name
        self._layout = layout_of(kind, version)
        self._columns = _definitions(self._layout.columns)

    def of_one(self, value: bytes, revision: int) -> Document:
        metadata = {"resourceVersion": str(revision)} if revision else {}
        return {**self.frame(metadata), "rows": self.rows([(value, revision)])}

    def rows(self, objects: Iterable[tuple[bytes, int]]) -> list[Document]:
        now = self._clock.now().timestamp()
        return [self._row(value, revision, now) for value, revision in objects]

    def bookmark(self, metadata: Document) -> Document:
        """A table without columns, whose only row is about the version."""
        partial = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1"}
        return {
            **self.frame({"resourceVersion": metadata["resourceVersion"]}),
            "rows": [{"cells": [], "object": {**partial, "metadata": metadata}}],
        }

    def frame(self, metadata: Document | None) -> Document:
        """All but the rows."""
        return _frame(metadata, self._columns)

    def _row(self, value: bytes, revision: int, now: float) -> Document:
        object_ = stored.decoded(value, revision, "")
        cells = self._layout.row(object_, now)
        return {"cells": cells, "object": self._shown(value, revision)}

    def _shown(self, value: bytes, revision: int) -> msgspec.Raw | None:
        if self._included == media.NOTHING:
            return None
        if self._included == media.WHOLE:
            whole = stored.as_shown(value, self._api_version)
            return msgspec.Raw(stored.shown(whole, revision, self._head))
        return msgspec.Raw(stored.metadata_shown(value, revision))


def _definitions(columns: Iterable[Column]) -> list[Document]:
    return [
        {
            "name": each.name,
            "type": each.type,
            "format": each.format,
            "description": each.description,
            "priority": each.priority,
        }
        for each in columns
    ]


def _frame(metadata: Document | None, columns: list[Document]) -> Document:
    return {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": metadata,
        "columnDefinitions": columns,
    }


# Scales, which are no objects of their own

_SCALE = (
    NAME,
    Column(name="Desired", type="integer", description="Number of desired replicas"),
    Column(name="Available", type="integer", description="Number of actual replicas"),
    AGE,
)


def of_scale(scale: Document, clock: Clock) -> Document:
    metadata = scale["metadata"]
    replicas = [scale[part].get("replicas", 0) for part in ("spec", "status")]
    born = age(metadata.get("creationTimestamp"), clock.now().timestamp())
    row = {"cells": [metadata["name"], *replicas, born], "object": metadata_of(scale)}
    version = {"resourceVersion": metadata["resourceVersion"]}
    return {**_frame(version, _definitions(_SCALE)), "rows": [row]}


def metadata_of(document: Document) -> Document:
    named = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1"}
    return {**named, "metadata": document["metadata"]}
