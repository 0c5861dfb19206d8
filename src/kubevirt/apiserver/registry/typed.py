"""The schema of a built-in kind: as Go's decoder reads it, since that is who reads it elsewhere.

Fields that nobody knows are dropped and named. How Go reads and writes the rest is in `gostructs.py`; what a
kind demands beyond types is in `rules/`.
"""

from typing import Any

from kubevirt.apiserver.registry.gostructs import metadata_of, written
from kubevirt.apiserver.schema import metadata
from kubevirt.apiserver.schema.custom import Read
from kubevirt.apiserver.schema.defaulting import default
from kubevirt.apiserver.schema.field_errors import FieldError
from kubevirt.apiserver.schema.pruning import prune
from kubevirt.apiserver.schema.structural import Pool, Schema, compile_schema

Object = dict[str, Any]


class TypedSchema:
    def __init__(self, source: Object, name: str, *, pool: Pool) -> None:
        self.schema: Schema = compile_schema(source, pool=pool)
        self._name = name

    def read(self, body: Object) -> Read:
        """Raises `Undecodable`."""
        meta, unknown = metadata_of(body, self._name)
        pruned, dropped = prune(body, self.schema)
        made = {**pruned, "metadata": meta}
        return Read(written(made, self._name), tuple(sorted((*unknown, *dropped))))

    def default(self, object_: Object) -> Object:
        made: Object = default(object_, self.schema)
        return made

    def errors_of_new(self, new: Object, *, is_namespaced: bool) -> list[FieldError]:  # noqa: ARG002  # rules/ do
        return []

    def errors_of_change(self, new: Object, old: Object) -> list[FieldError]:
        return metadata.errors_of_change(new.get("metadata", {}), old.get("metadata", {}))

    def errors_of_status_change(self, new: Object, old: Object) -> list[FieldError]:
        return self.errors_of_change(new, old)
