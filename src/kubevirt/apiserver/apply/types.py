"""How values merge: a schema seen through the eyes of server-side apply.

    lamp = type_of_object(compile_schema(openapi))
    lamp.map.fields["spec"].map.fields["bulbs"].list.keys      ("name",)

A `Type` says what a value may be: a scalar, a list, a map, or any of them where the schema leaves it
open. Of lists it knows whether they merge item by item and by what the items are known, of maps
whether they merge field by field. Everything else a schema says is for validation, not for merging.

Where nothing is said the type is deduced from the value: maps merge, lists and scalars do not
(`DEDUCED`); inside a list nothing merges at all (`UNTYPED`).
"""

from enum import StrEnum
from typing import Any, Final

from msgspec import UNSET, Struct

from kubevirt.apiserver.schema.object_meta import OBJECT_META
from kubevirt.apiserver.schema.structural import Schema


class Scalar(StrEnum):
    NUMERIC = "numeric"
    STRING = "string"
    BOOLEAN = "boolean"
    ANY = "untyped"


class MapType(Struct, eq=False):
    fields: dict[str, "Type"] = {}
    element: "Type | None" = None
    """Of fields without a name in the schema; None where there may be none."""
    is_atomic: bool = False
    defaults: dict[str, Any] = {}
    """Of fields; a key field that is left out counts as its default."""

    def field(self, name: str) -> "Type | None":
        return self.fields.get(name, self.element)


class ListType(Struct, eq=False):
    element: "Type"
    is_associative: bool = False
    """Items are known by key fields, or by value where there are no keys: a set."""
    keys: tuple[str, ...] = ()


class Type(Struct, eq=False):
    scalar: Scalar | None = None
    list: ListType | None = None
    map: MapType | None = None


def _deduced() -> tuple[Type, Type]:
    untyped = Type(scalar=Scalar.ANY)
    untyped.list = ListType(untyped)
    untyped.map = MapType(element=untyped, is_atomic=True)
    deduced = Type(scalar=Scalar.ANY, list=ListType(untyped))
    deduced.map = MapType(element=deduced)
    return untyped, deduced


UNTYPED, DEDUCED = _deduced()
NUMERIC: Final = Type(scalar=Scalar.NUMERIC)
STRING: Final = Type(scalar=Scalar.STRING)
BOOLEAN: Final = Type(scalar=Scalar.BOOLEAN)
ANY_SCALAR: Final = Type(scalar=Scalar.ANY)


def type_of(schema: Schema) -> Type:
    """Of a built-in kind, whose schema says everything, metadata included."""
    return _Builder().type_of(schema, keeps_unknown=False)


def type_of_object(schema: Schema | None) -> Type:
    """Of a custom resource, whose schema leaves out what all objects have. Without a schema the
    type is deduced.
    """
    if schema is None or not (schema.type or schema.properties or schema.preserve_unknown):
        return DEDUCED
    builder = _Builder()
    built = builder.type_of(schema, keeps_unknown=False)
    return Type(
        scalar=built.scalar,
        list=built.list,
        map=builder.with_object_fields(built.map or MapType()),
    )


class _Builder:
    def __init__(self) -> None:
        self._built: dict[tuple[int, bool], Type] = {}

    def type_of(self, schema: Schema, *, keeps_unknown: bool) -> Type:
        keeps_unknown = keeps_unknown or schema.preserve_unknown
        if schema.type not in ("", "object", "array"):
            return _scalar(schema)
        known = self._built.get((id(schema), keeps_unknown))
        if known is not None:
            return known
        # Known before it is filled: a schema may contain itself.
        made = self._built[id(schema), keeps_unknown] = Type()
        if schema.type in ("", "object"):
            made.map = self._map(schema, keeps_unknown=keeps_unknown)
        if schema.type in ("", "array"):
            made.list = self._list(schema, keeps_unknown=keeps_unknown)
        if not schema.type:
            made.scalar = Scalar.ANY
        return made

    def _map(self, schema: Schema, *, keeps_unknown: bool) -> MapType:
        made = MapType(
            fields={
                name: self.type_of(child, keeps_unknown=keeps_unknown)
                for name, child in schema.properties.items()
            },
            element=self._element(schema, keeps_unknown=keeps_unknown),
            is_atomic=schema.map_type == "atomic",
            defaults={
                name: child.default
                for name, child in schema.properties.items()
                if child.default is not UNSET
            },
        )
        return self.with_object_fields(made) if schema.embedded else made

    def _element(self, schema: Schema, *, keeps_unknown: bool) -> Type | None:
        additional = schema.additional
        if isinstance(additional, Schema):
            return self.type_of(additional, keeps_unknown=keeps_unknown)
        if additional is None:
            return DEDUCED if keeps_unknown or not schema.properties else None
        return DEDUCED if additional else None

    def _list(self, schema: Schema, *, keeps_unknown: bool) -> ListType:
        element = UNTYPED
        if schema.items is not None:
            element = self.type_of(schema.items, keeps_unknown=keeps_unknown)
        match schema.list_type:
            case "set":
                return ListType(element, is_associative=True)
            case "map":
                return ListType(element, is_associative=True, keys=schema.list_keys)
            case None if "merge" in schema.patch_strategy:
                keys = (schema.patch_merge_key,) if schema.patch_merge_key else ()
                return ListType(element, is_associative=True, keys=keys)
        return ListType(element)

    def with_object_fields(self, made: MapType) -> MapType:
        metadata = self.type_of(OBJECT_META, keeps_unknown=False)
        made.fields = made.fields | {
            "apiVersion": STRING,
            "kind": STRING,
            "metadata": metadata,
        }
        return made


def _scalar(schema: Schema) -> Type:
    match schema.type:
        case "integer" | "number":
            return NUMERIC
        case "boolean":
            return BOOLEAN
        case "string" if not schema.values or schema.values.format in ("", "byte"):
            return STRING
    return ANY_SCALAR
