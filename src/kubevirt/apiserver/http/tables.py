"""Objects as tables: what `kubectl get` asks for, so that the server says what is worth a column."""

from collections.abc import Iterable
from typing import Any

import msgspec

from kubevirt.apiserver.kinds.columns import layout_of
from kubevirt.apiserver.kinds.kind import Kind, Version
from kubevirt.apiserver.registry import stored
from kubevirt.base.clock import Clock

Document = dict[str, Any]


class Tables:
    def __init__(self, kind: Kind, version: Version, clock: Clock) -> None:
        self._clock = clock
        self._layout = layout_of(kind, version)
        self._columns = [
            {
                "name": each.name,
                "type": each.type,
                "format": each.format,
                "description": each.description,
                "priority": each.priority,
            }
            for each in self._layout.columns
        ]

    def of_one(self, value: bytes, revision: int) -> Document:
        metadata = {"resourceVersion": str(revision)} if revision else {}
        return self.of_many([(value, revision)], metadata)

    def of_many(self, objects: Iterable[tuple[bytes, int]], metadata: Document) -> Document:
        now = self._clock.now().timestamp()
        return {
            **self._table(metadata),
            "rows": [self._row(value, revision, now) for value, revision in objects],
        }

    def bookmark(self, metadata: Document) -> Document:
        """A table without columns, whose only row is about the version."""
        partial = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1"}
        return {
            **self._table({"resourceVersion": metadata["resourceVersion"]}),
            "rows": [{"cells": [], "object": {**partial, "metadata": metadata}}],
        }

    def _table(self, metadata: Document) -> Document:
        return {
            "kind": "Table",
            "apiVersion": "meta.k8s.io/v1",
            "metadata": metadata,
            "columnDefinitions": self._columns,
        }

    def _row(self, value: bytes, revision: int, now: float) -> Document:
        object_ = stored.decoded(value, revision, "")
        shown = msgspec.Raw(stored.metadata_shown(value, revision))
        return {"cells": self._layout.row(object_, now), "object": shown}
