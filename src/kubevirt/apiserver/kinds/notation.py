"""A short way to write down types, and what it means as an OpenAPI schema.

    Container
      args                  [string] atomic
      env                   [EnvVar] map(name) merge(name)
      image                 string
      name                  string!
      restartPolicy         string
      stdin                 boolean

A line without indent begins a type; below it is a field a line: its name and its shape. A shape is a plain
type, another type's name, `[…]` for a list, `{…}` for a map. What may follow:

    !                       required
    =VALUE                  the default, as JSON
    in(A,B)                 the only values there are
    map(KEY,…) set atomic   how a list merges when it is applied; maps are atomic or granular
    merge(KEY) merge        how it merges in a strategic patch; also `replace` and `retainKeys`

The same shapes written as OpenAPI are fifteen times as long, and nobody would read them.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

import msgspec

Schema = dict[str, Any]

_ANYTHING: Schema = {"x-kubernetes-preserve-unknown-fields": True}
_ANY_OBJECT: Schema = {"type": "object", **_ANYTHING}
PLAIN: dict[str, Schema] = {
    "boolean": {"type": "boolean"},
    "bytes": {"type": "string", "format": "byte"},
    "double": {"type": "number", "format": "double"},
    "int32": {"type": "integer", "format": "int32"},
    "int64": {"type": "integer", "format": "int64"},
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "string": {"type": "string"},
    "time": {"type": "string", "format": "date-time"},
    "quantity": {"x-kubernetes-int-or-string": True},
    "int-or-string": {"x-kubernetes-int-or-string": True},
    "any": _ANYTHING,
    "fields": _ANY_OBJECT,
    "json": _ANYTHING,
    "object": _ANY_OBJECT,
    "raw": _ANY_OBJECT,
    "schema-or-array": _ANYTHING,
    "schema-or-bool": _ANYTHING,
    "schema-or-strings": _ANYTHING,
}
NAMED: dict[str, tuple[str, Schema]] = {
    "fields": ("FieldsV1", {"type": "object"}),
    "int-or-string": (
        "IntOrString",
        {"format": "int-or-string", "oneOf": [{"type": "integer"}, {"type": "string"}]},
    ),
    "json": ("JSON", {}),
    "quantity": ("Quantity", {"oneOf": [{"type": "string"}, {"type": "number"}]}),
    "raw": ("RawExtension", {"type": "object"}),
    "schema-or-array": ("JSONSchemaPropsOrArray", {}),
    "schema-or-bool": ("JSONSchemaPropsOrBool", {}),
    "schema-or-strings": ("JSONSchemaPropsOrStringArray", {}),
}
"""Plain types that have a name and a definition of their own in OpenAPI: `kubectl explain` shows it."""

_SHAPE = re.compile(r"(?P<open>[\[{]*)(?P<name>[\w.-]+)(?P<close>[\]}]*)(?P<required>!?)")
_OPTION = re.compile(
    r"=(?P<default>\"[^\"]*\"|\S+)|in\((?P<enum>[^)]*)\)|map\((?P<keys>[^)]*)\)"
    r"|merge\((?P<merge_key>[^)]*)\)|(?P<word>\w+)"
)
_PATCHES = ("merge", "replace", "retainKeys")


class Field(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a type."""

    name: str
    type: str
    """A plain type or the name of another."""
    wrapping: str = ""
    """From outside in: `[` for a list of, `{` for a map of."""
    required: bool = False
    default: Any = msgspec.UNSET
    enum: tuple[str, ...] = ()
    merges: str = ""
    """map, set or atomic for a list; atomic or granular for a map or a struct."""
    map_keys: tuple[str, ...] = ()
    patch: tuple[str, ...] = ()
    merge_key: str = ""


class Type(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    fields: tuple[Field, ...]
    atomic: bool = False
    """Applied whole, never field by field."""


class NotationError(ValueError):
    """A line that means nothing: a mistake in a table of ours."""


def parse(text: str) -> dict[str, Type]:
    """All types of a table, by name."""
    return {each.name: each for each in _types(text)}


def _types(text: str) -> Iterator[Type]:
    name, words, fields = "", [""], list[Field]()
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith(" "):
            fields.append(_field(line, number))
            continue
        if name:
            yield Type(name=name, fields=tuple(fields), atomic="atomic" in words)
        name, *words = line.split()
        fields = []
    if name:
        yield Type(name=name, fields=tuple(fields), atomic="atomic" in words)


def _field(line: str, number: int) -> Field:
    name, _, rest = line.strip().partition(" ")
    shape = _SHAPE.match(rest.strip())
    if shape is None:
        raise NotationError(f"line {number}: {line.strip()} has no type")
    return Field(
        name=name,
        type=shape["name"],
        wrapping=shape["open"],
        required=bool(shape["required"]),
        **_options(rest.strip()[shape.end() :]),
    )


def _options(text: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for option in _OPTION.finditer(text):
        if option["default"] is not None:
            found["default"] = msgspec.json.decode(option["default"])
        elif option["enum"] is not None:
            found["enum"] = tuple(option["enum"].split(","))
        elif option["keys"] is not None:
            found |= {"merges": "map", "map_keys": tuple(option["keys"].split(","))}
        elif option["merge_key"] is not None:
            found["patch"] = (*found.get("patch", ()), "merge")
            found["merge_key"] = option["merge_key"]
        elif option["word"] in _PATCHES:
            found["patch"] = (*found.get("patch", ()), option["word"])
        else:
            found["merges"] = option["word"]
    return found


class Types:
    """A table of types that know each other, each turned into a schema when it is first asked for."""

    def __init__(self, types: Mapping[str, Type]) -> None:
        self._types = types
        self.schema = cache(self._schema)

    def __getitem__(self, name: str) -> Type:
        return self._types[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._types)

    def _schema(self, name: str) -> Schema:
        """The whole of a type, with all it contains. Shared between types: not to be changed."""
        return self._named(name, ())

    def component(self, name: str, prefix: str) -> Schema:
        """One type alone; where others stand in it, they are pointed to behind `prefix`."""

        def pointed_to(other: str) -> Schema:
            if other in PLAIN and other not in NAMED:
                return PLAIN[other]
            name = NAMED[other][0] if other in NAMED else other
            return {"allOf": [{"$ref": f"{prefix}{name}"}]}

        return _written(self._types[name], pointed_to)

    def within(self, name: str) -> set[str]:
        """The types that a type consists of, itself included."""
        found: set[str] = set()
        left = [name]
        while left:
            each = left.pop()
            if each not in found and each not in PLAIN:
                found.add(each)
                left += [field.type for field in self._types[each].fields]
        return found

    def _named(self, name: str, within: tuple[str, ...]) -> Schema:
        if name in PLAIN:
            return PLAIN[name]
        if name in within:
            # A type inside itself (a JSON schema) has no end: what is below is taken as it comes.
            return PLAIN["object"]
        return _written(self._types[name], lambda other: self._named(other, (*within, name)))


def _written(type_: Type, meaning: Callable[[str], Schema]) -> Schema:
    schema: Schema = {"type": "object"}
    if type_.fields:
        schema["properties"] = {each.name: _shape(each, meaning) for each in type_.fields}
    if required := [each.name for each in type_.fields if each.required]:
        schema["required"] = required
    if type_.atomic:
        schema["x-kubernetes-map-type"] = "atomic"
    return schema


def _shape(field: Field, meaning: Callable[[str], Schema]) -> Schema:
    schema = meaning(field.type)
    if field.enum:
        schema = {**schema, "enum": list(field.enum)}
    for bracket in reversed(field.wrapping):
        kind = ("array", "items") if bracket == "[" else ("object", "additionalProperties")
        schema = {"type": kind[0], kind[1]: schema}
    return {**schema, **_extensions(field)}


def _extensions(field: Field) -> Schema:
    found: Schema = {}
    if field.default is not msgspec.UNSET:
        found["default"] = field.default
    if field.merges:
        kind = "list" if field.wrapping.startswith("[") else "map"
        found[f"x-kubernetes-{kind}-type"] = field.merges
    if field.map_keys:
        found["x-kubernetes-list-map-keys"] = list(field.map_keys)
    if field.patch:
        found["x-kubernetes-patch-strategy"] = ",".join(field.patch)
    if field.merge_key:
        found["x-kubernetes-patch-merge-key"] = field.merge_key
    return found
