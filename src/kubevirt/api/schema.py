"""Structural OpenAPI schemas from the types.

The type of a field gives its shape, its marks (`struct.py`) the rest, its docstring the description.
What comes out is what Kubernetes calls structural: every node has one type, or says why not.
"""

import typing
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import msgspec

from kubevirt.api import descriptions
from kubevirt.api.meta import ObjectMeta
from kubevirt.api.struct import Mark, Struct

Schema = dict[str, Any]

SCALARS: Mapping[Any, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    datetime: {"type": "string", "format": "date-time"},
    Any: {"x-kubernetes-preserve-unknown-fields": True},
    # The metadata of a template is not the server's business: it is stored as it was written.
    ObjectMeta: {
        "type": "object",
        "nullable": True,
        "x-kubernetes-preserve-unknown-fields": True,
    },
}


def of_kind(kind: type[Struct]) -> Schema:
    """The schema of a whole object. The server itself describes and checks its metadata."""
    schema = of_type(kind)
    schema["properties"] |= {
        "apiVersion": {"type": "string"},
        "kind": {"type": "string"},
        "metadata": {"type": "object"},
    }
    return schema


def of_type(annotation: Any) -> Schema:
    """The schema of anything that can stand behind a field's colon."""
    if annotation in SCALARS:
        return dict(SCALARS[annotation])
    origin = get_origin(annotation)
    if origin is Annotated:
        shape, *marks = get_args(annotation)
        return apply_marks(of_type(shape), marks)
    if origin in (Union, UnionType):
        return _of_union(get_args(annotation))
    if origin is tuple:
        return {"type": "array", "items": of_type(get_args(annotation)[0])}
    if origin is typing.get_origin(Mapping[str, str]):
        return _of_map(get_args(annotation)[1])
    if isinstance(annotation, type) and issubclass(annotation, Struct):
        return _of_struct(annotation)
    raise TypeError(f"{annotation!r} has no schema; use a struct, a tuple, a mapping or a scalar")


def apply_marks(schema: Schema, marks: Iterable[Any]) -> Schema:
    for mark in marks:
        if isinstance(mark, Mark):
            for key, value in mark.entries:
                _set(schema, key, value)
    return schema


def _set(schema: Schema, key: str, value: Any) -> None:
    if key == "x-kubernetes-validations":  # several rules may hold for one value
        schema.setdefault(key, []).append(dict(value))
    else:
        schema[key] = list(value) if isinstance(value, tuple) else value


def _of_union(members: tuple[Any, ...]) -> Schema:
    shapes = [member for member in members if member is not NoneType]
    if len(shapes) == 1:
        return of_type(shapes[0])
    return {}  # int | str: the mark x-kubernetes-int-or-string says what it is


def _of_map(values: Any) -> Schema:
    if values is Any:
        return {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {"type": "object", "additionalProperties": of_type(values)}


def _of_struct(struct: type[Struct]) -> Schema:
    schema: Schema = {}
    if description := descriptions.of_class(struct):
        schema["description"] = description
    schema["type"] = "object"
    hints = get_type_hints(struct, include_extras=True)
    texts = descriptions.of_fields(struct)
    fields = msgspec.structs.fields(struct)
    if fields:
        schema["properties"] = {
            field.encode_name: _described(of_type(hints[field.name]), texts.get(field.name))
            for field in fields
        }
    if required := sorted(field.encode_name for field in fields if field.required):
        schema["required"] = required
    return apply_marks(schema, struct.marks)


def _described(schema: Schema, description: str | None) -> Schema:
    """A field's own words replace those of its type: here it plays a certain part."""
    if description is None:
        return schema
    return {"description": description, **{k: v for k, v in schema.items() if k != "description"}}


def visit(schema: Schema, see: Callable[[str, Schema], None], path: str = "") -> None:
    """Calls `see(path, node)` for the schema and every schema below it, parents first."""
    see(path, schema)
    for name, node in schema.get("properties", {}).items():
        visit(node, see, f"{path}.{name}")
    if "items" in schema:
        visit(schema["items"], see, f"{path}[]")
    if "additionalProperties" in schema:
        visit(schema["additionalProperties"], see, f"{path}{{}}")
