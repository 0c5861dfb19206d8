"""A schema, compiled: the OpenAPI of a CRD or a built-in kind as a tree of small nodes.

    pool = Pool()
    schema = compile_schema(crd_version["schema"]["openAPIV3Schema"], pool=pool)
    schema.properties["spec"].properties["replicas"].type        "integer"

Compiling is the only place that reads OpenAPI's JSON. Nodes that say the same are one node, even
across CRDs that share a pool: a VM's template stands in five of our CRDs and weighs what it weighs
once. Nodes are never changed after compilation, so sharing is safe. What a whole subtree lacks
(defaults, rules, unique lists, embedded objects) is noted at its root, so that a walk that looks for
them never enters it.

Descriptions, titles and examples are left out: they belong to discovery, which serves the original.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final
from weakref import WeakValueDictionary

import msgspec
from msgspec import UNSET, Struct

Json = Any
"""Plain data as decoded from JSON: dict, list, str, int, float, bool, None."""

_canonical: Final = msgspec.json.Encoder(order="deterministic").encode


class Rule(Struct, frozen=True, kw_only=True, rename="camel"):
    """One of `x-kubernetes-validations`, as its author wrote it."""

    rule: str
    message: str = ""
    message_expression: str = ""
    reason: str = ""
    field_path: str = ""
    optional_old_self: bool | None = None


class Values(Struct, frozen=True, kw_only=True, eq=False):
    """What a value must be beyond its type. Most nodes have none of it."""

    format: str = ""
    maximum: float | None = None
    exclusive_maximum: bool = False
    minimum: float | None = None
    exclusive_minimum: bool = False
    max_length: int | None = None
    min_length: int | None = None
    pattern: str = ""
    max_items: int | None = None
    min_items: int | None = None
    unique_items: bool = False
    multiple_of: float | None = None
    enum: tuple[Json, ...] = ()
    max_properties: int | None = None
    min_properties: int | None = None
    required: tuple[str, ...] = ()
    all_of: tuple["Schema", ...] = ()
    any_of: tuple["Schema", ...] = ()
    one_of: tuple["Schema", ...] = ()
    not_: "Schema | None" = None


class Schema(Struct, kw_only=True, eq=False, weakref=True):
    """One node. Read-only for everyone but the compiler."""

    name: str = ""
    """Of the definition that it is, without its package: `Container`. Inline schemas have none."""
    type: str = ""
    nullable: bool = False
    default: Json = UNSET
    properties: dict[str, "Schema"] = {}
    additional: "Schema | bool | None" = None
    """Fields that `properties` does not name: their schema, or whether there may be any."""
    items: "Schema | None" = None
    preserve_unknown: bool = False
    embedded: bool = False
    """`x-kubernetes-embedded-resource`: apiVersion, kind and metadata are known without being said."""
    int_or_string: bool = False
    list_type: str | None = None
    list_keys: tuple[str, ...] = ()
    map_type: str | None = None
    patch_strategy: tuple[str, ...] = ()
    patch_merge_key: str = ""
    rules: tuple[Rule, ...] = ()
    values: Values | None = None

    has_defaults: bool = False
    """Here or below; the other three likewise."""
    has_rules: bool = False
    has_unique_lists: bool = False
    has_embedded: bool = False

    def for_field(self, name: str) -> "Schema | None":
        """What a field of this object must be, if anything is said about it."""
        found = self.properties.get(name)
        if found is not None:
            return found
        return self.additional if isinstance(self.additional, Schema) else None

    @property
    def types(self) -> tuple[str, ...]:
        """The JSON types that a value may have; empty for any."""
        if self.int_or_string:
            return ("integer", "string")
        return (self.type,) if self.type else ()


class Pool:
    """Nodes that exist, by what they say. Shared by all schemas of a server; drops what nobody uses."""

    def __init__(self) -> None:
        self._nodes: WeakValueDictionary[tuple[Any, ...], Schema] = WeakValueDictionary()

    def __len__(self) -> int:
        return len(self._nodes)

    def one(self, node: Schema) -> Schema:
        return self._nodes.setdefault(_identity(node), node)


def compile_schema(
    source: Mapping[str, Json],
    *,
    definitions: Mapping[str, Json] | None = None,
    pool: Pool | None = None,
) -> Schema:
    """`definitions` are what `$ref` names; only the schemas of built-in kinds have them."""
    return _Compiler(definitions or {}, Pool() if pool is None else pool).node(source)


class _Compiler:
    def __init__(self, definitions: Mapping[str, Json], pool: Pool) -> None:
        self._definitions = definitions
        self._pool = pool
        self._named: dict[tuple[str, ...], Schema] = {}
        self._leaves: dict[tuple[Json, Json], Schema] = {}

    def node(self, source: Mapping[str, Json]) -> Schema:
        reference = _reference(source)
        if reference:
            return self._referred(reference, source)
        if source.keys() <= _OF_PLAIN_LEAVES:
            # Most of a schema: worth a short cut.
            known = (source.get("type"), source.get("format"))
            leaf = self._leaves.get(known)
            if leaf is None:
                leaf = self._leaves[known] = self._pool.one(self._filled(Schema(), source))
            return leaf
        return self._pool.one(self._filled(Schema(), source))

    def _referred(self, reference: str, site: Mapping[str, Json]) -> Schema:
        """What is said beside a reference may differ from place to place, so it is part of the name."""
        name = reference.rsplit("/", 1)[-1]
        said = {key: site[key] for key in _SAID_BESIDE if key in site}
        known = (name, *said.values())
        node = self._named.get(known)
        if node is None:
            # Known before it is filled: a definition may contain itself.
            node = self._named[known] = Schema(
                name=name.rpartition(".")[2],
                has_defaults=True,
                has_rules=True,
                has_unique_lists=True,
                has_embedded=True,
            )
            self._filled(node, {**self._definitions[name], **said})
        return node

    def _filled(self, node: Schema, source: Mapping[str, Json]) -> Schema:
        said: dict[str, Json] = {}
        for name, value in source.items():
            read = _READERS.get(name)
            if read:
                read(self, node, value)
            elif name in _VALUE_FIELDS and value is not None:
                said[_VALUE_FIELDS[name]] = value
        if said:
            node.values = self._values(said)
        self._look_below(node)
        return node

    def read_properties(self, node: Schema, value: Mapping[str, Json]) -> None:
        node.properties = {name: self.node(child) for name, child in value.items()}

    def read_items(self, node: Schema, value: Json) -> None:
        node.items = self.node(value) if isinstance(value, dict) else None

    def read_additional(self, node: Schema, value: Json) -> None:
        node.additional = self.node(value) if isinstance(value, dict) else bool(value)

    def _values(self, said: dict[str, Json]) -> Values:
        for several in ("all_of", "any_of", "one_of"):
            if several in said:
                said[several] = tuple(self.node(each) for each in said[several])
        if "not_" in said:
            said["not_"] = self.node(said["not_"])
        for several in ("enum", "required"):
            if several in said:
                said[several] = tuple(said[several])
        return Values(**said)

    @staticmethod
    def _look_below(node: Schema) -> None:
        below = list(node.properties.values())
        if node.items:
            below.append(node.items)
        if isinstance(node.additional, Schema):
            below.append(node.additional)
        node.has_defaults = node.default is not UNSET or any(each.has_defaults for each in below)
        node.has_rules = bool(node.rules) or any(each.has_rules for each in below)
        node.has_unique_lists = node.list_type in ("set", "map") or any(
            each.has_unique_lists for each in below
        )
        node.has_embedded = node.embedded or any(each.has_embedded for each in below)


_OF_PLAIN_LEAVES: Final = frozenset(("type", "format", "description", "title", "example"))
_SAID_BESIDE: Final = (
    "x-kubernetes-map-type",
    "x-kubernetes-patch-strategy",
    "x-kubernetes-patch-merge-key",
)


def _reference(source: Mapping[str, Json]) -> str:
    """Built-in kinds write `$ref` alone, or inside an `allOf` of one where more is said beside it."""
    reference = source.get("$ref", "")
    if not reference:
        all_of = source.get("allOf")
        if all_of and len(all_of) == 1:
            reference = all_of[0].get("$ref", "")
    return str(reference)


def _set(field: str, convert: Callable[[Json], Any] = lambda value: value) -> Callable[..., None]:
    def read(_compiler: _Compiler, node: Schema, value: Json) -> None:
        if value is not None:
            setattr(node, field, convert(value))

    return read


def _rules(value: Json) -> tuple[Rule, ...]:
    return tuple(msgspec.convert(each, Rule) for each in value)


_READERS: Final[dict[str, Callable[[_Compiler, Schema, Json], None]]] = {
    "type": _set("type"),
    "nullable": _set("nullable", bool),
    "default": _set("default"),
    "properties": _Compiler.read_properties,
    "additionalProperties": _Compiler.read_additional,
    "items": _Compiler.read_items,
    "x-kubernetes-preserve-unknown-fields": _set("preserve_unknown", bool),
    "x-kubernetes-embedded-resource": _set("embedded", bool),
    "x-kubernetes-int-or-string": _set("int_or_string", bool),
    "x-kubernetes-list-type": _set("list_type"),
    "x-kubernetes-list-map-keys": _set("list_keys", tuple),
    "x-kubernetes-map-type": _set("map_type"),
    "x-kubernetes-patch-strategy": _set("patch_strategy", lambda value: tuple(value.split(","))),
    "x-kubernetes-patch-merge-key": _set("patch_merge_key"),
    "x-kubernetes-validations": _set("rules", _rules),
}

_VALUE_FIELDS: Final = {
    "format": "format",
    "maximum": "maximum",
    "exclusiveMaximum": "exclusive_maximum",
    "minimum": "minimum",
    "exclusiveMinimum": "exclusive_minimum",
    "maxLength": "max_length",
    "minLength": "min_length",
    "pattern": "pattern",
    "maxItems": "max_items",
    "minItems": "min_items",
    "uniqueItems": "unique_items",
    "multipleOf": "multiple_of",
    "enum": "enum",
    "maxProperties": "max_properties",
    "minProperties": "min_properties",
    "required": "required",
    "allOf": "all_of",
    "anyOf": "any_of",
    "oneOf": "one_of",
    "not": "not_",
}


def _identity(node: Schema) -> tuple[Any, ...]:
    """Equal for nodes that say the same. Children are known by identity: they are in the pool."""
    additional, values = node.additional, node.values
    return (
        node.type,
        node.nullable,
        None if node.default is UNSET else _canonical(node.default),
        tuple(node.properties),
        tuple(map(id, node.properties.values())),
        id(additional) if isinstance(additional, Schema) else additional,
        id(node.items),
        node.preserve_unknown,
        node.embedded,
        node.int_or_string,
        node.list_type,
        node.list_keys,
        node.map_type,
        node.patch_strategy,
        node.patch_merge_key,
        node.rules,
        None if values is None else _values_identity(values),
    )


def _values_identity(values: Values) -> tuple[Any, ...]:
    return (
        *(getattr(values, name) for name in _PLAIN_VALUES),
        _canonical(values.enum),
        tuple(map(id, values.all_of)),
        tuple(map(id, values.any_of)),
        tuple(map(id, values.one_of)),
        id(values.not_),
    )


_PLAIN_VALUES: Final = tuple(
    name
    for name in Values.__struct_fields__
    if name not in ("enum", "all_of", "any_of", "one_of", "not_")
)
