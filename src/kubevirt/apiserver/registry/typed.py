"""The schema of a built-in kind: as Go's decoder reads it, since that is who reads it elsewhere.

A value of a wrong type ends the reading, in the decoder's words. What is empty is as good as absent
where Go leaves it out; fields that nobody knows are dropped and named. What a kind demands beyond
types is in `rules/`.
"""

from typing import Any, Final

from kubevirt.apiserver.schema import gotext, metadata
from kubevirt.apiserver.schema.custom import Read
from kubevirt.apiserver.schema.defaulting import default
from kubevirt.apiserver.schema.field_errors import FieldError
from kubevirt.apiserver.schema.metadata import Undecodable
from kubevirt.apiserver.schema.pruning import prune
from kubevirt.apiserver.schema.structural import Pool, Schema, compile_schema

Object = dict[str, Any]

_GO: Final = {
    "boolean": (bool, "bool"),
    "integer": (int, "int64"),
    "number": (float, "float64"),
    "string": (str, "string"),
    "object": (dict, "map"),
    "array": (list, "slice"),
}


class TypedSchema:
    def __init__(self, source: Object, name: str, *, pool: Pool) -> None:
        self.schema: Schema = compile_schema(source, pool=pool)
        self._name = name

    def read(self, body: Object) -> Read:
        """Raises `Undecodable`."""
        meta, unknown = metadata.read(body.get("metadata"))
        pruned, dropped = prune(body, self.schema)
        made = {
            name: _read(value, self.schema.properties.get(name), f"{self._name}.{name}")
            for name, value in pruned.items()
            if value is not None and name != "metadata"
        }
        made["metadata"] = meta
        return Read(made, tuple(sorted((*unknown, *dropped))))

    def default(self, object_: Object) -> Object:
        made: Object = default(object_, self.schema)
        return made

    def errors_of_new(self, new: Object, *, is_namespaced: bool) -> list[FieldError]:  # noqa: ARG002  # rules/ do
        return []

    def errors_of_change(self, new: Object, old: Object) -> list[FieldError]:
        return metadata.errors_of_change(new.get("metadata", {}), old.get("metadata", {}))

    def errors_of_status_change(self, new: Object, old: Object) -> list[FieldError]:
        return self.errors_of_change(new, old)


def _read(value: Any, schema: Schema | None, where: str) -> Any:
    """The value without nulls; the same object where it has none."""
    if schema is None or schema.int_or_string or not schema.type:
        return value
    if schema.preserve_unknown and not schema.properties:
        return value
    type_, go = _GO[schema.type]
    if value.__class__ is not type_ and not (type_ is float and value.__class__ is int):
        text = gotext.kind_of(value)
        if schema.type == "integer" and isinstance(value, float):
            text = f"number {gotext.number(value)}"
        raise Undecodable(
            f"json: cannot unmarshal {text} into Go struct field {where} of type {go}"
        )
    if isinstance(value, list):
        return [_read(item, schema.items, where) for item in value]
    if isinstance(value, dict):
        return _read_fields(value, schema, where)
    return value


def _read_fields(value: Object, schema: Schema, where: str) -> Object:
    made = {}
    for name, child in value.items():
        known = schema.for_field(name)
        if child is None:
            if name not in schema.properties and known is not None and known.type == "string":
                made[name] = ""
            continue
        below = f"{where}.{name}" if name in schema.properties else where
        made[name] = _read(child, known, below)
    return made
