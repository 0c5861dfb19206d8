"""Requests made up from a server's own OpenAPI documents: mostly as they should be, a little wrong.

What is altogether wrong is refused at the door; mistakes are found by what is almost right. So each value
follows its schema, and now and then something else stands in its place.
"""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import yaml

Schema = Mapping[str, Any]

DEPTH = 6
WRONG = 0.04
"""How often a value is not what its schema asks for."""
NAMES = ("one", "two", "default", "none", "A_", ".", "x" * 300, "ünïcode", "a/b", "%2e%2e", "\x7f")
JUNK: tuple[Any, ...] = (
    None,
    True,
    -1,
    2**63,
    1e308,
    0.5,
    "",
    "x",
    "\x00",
    "9" * 400,
    [],
    [[]],
    [None],
    {},
    {"": ""},
    {"a": {"b": [1, {"c": None}]}},
)
TEXTS = (
    "one",
    "",
    "a",
    "default",
    "1",
    "100m",
    "1Gi",
    "-5Mi",
    "2026-01-01T00:00:00Z",
    "2026-01-01T00:00:00.000001Z",
    "10.0.0.1",
    "::1",
    "kubernetes.io/name",
    "Always",
    "TCP",
    "ClusterIP",
    "50%",
    "aGVsbG8=",
    "{.spec.x}",
    "self.x == 1",
    "*",
    "a" * 300,
    "ü",
)
NUMBERS = (0, 1, 2, 80, 65536, -1, 2**31, 2**53, 2**63 - 1)
QUERIES: Mapping[str, tuple[str, ...]] = {
    "allowWatchBookmarks": ("true", "x", ""),
    "continue": (
        "x",
        "eyJ2IjoiIn0",
        "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJhIn0",
        "\x00",
    ),
    "dryRun": ("All", "None", ""),
    "fieldManager": ("me", "", "x" * 200, "\x01"),
    "fieldSelector": (
        "metadata.name=one",
        "spec.nodeName!=x",
        "a",
        "status.phase=Running",
        "=",
        ",,",
    ),
    "fieldValidation": ("Strict", "Warn", "Ignore", "x"),
    "force": ("true", "false", "x"),
    "gracePeriodSeconds": ("0", "1", "-1", "x", "9" * 30),
    "labelSelector": (
        "a=b",
        "a in (b,c)",
        "!a",
        "((",
        "a=" + "b" * 100,
        "a notin (",
        "a=b,",
        "a>1",
    ),
    "limit": ("1", "0", "-1", "x", "9" * 30),
    "orphanDependents": ("true", "x"),
    "propagationPolicy": ("Foreground", "Background", "Orphan", "x"),
    "resourceVersion": ("0", "1", "x", "-1", "9" * 30),
    "resourceVersionMatch": ("Exact", "NotOlderThan", "x"),
    "sendInitialEvents": ("true", "false", "x"),
    "timeoutSeconds": ("0", "1", "x", "-1"),
    "watch": ("1", "true", "0", "x"),
    "pretty": ("true",),
    "unknown": ("x",),
}
ACCEPTS = (
    *("application/json",) * 12,
    "application/yaml",
    "*/*",
    "text/plain",
    "application/vnd.kubernetes.protobuf, application/json",
    "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
    "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
    "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json;q=0.1",
    ";;,q=",
)
TYPES = (
    "application/json",
    "application/yaml",
    "text/plain",
    "",
    "application/json; charset=x",
    "x",
)
DELETE_OPTIONS: Schema = {
    "type": "object",
    "properties": {
        "gracePeriodSeconds": {"type": "integer"},
        "propagationPolicy": {"type": "string", "enum": ["Foreground", "Background", "Orphan"]},
        "orphanDependents": {"type": "boolean"},
        "dryRun": {"type": "array", "items": {"type": "string", "enum": ["All"]}},
        "preconditions": {
            "type": "object",
            "properties": {"uid": {"type": "string"}, "resourceVersion": {"type": "string"}},
        },
    },
}
"""They stand in no document."""
KEPT = ("CustomResourceDefinition",)
"""Kinds that nothing really happens to: without them there would be little left to ask for."""
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE")


@dataclass(frozen=True)
class Operation:
    """One method of one path."""

    path: str
    method: str
    gvk: Schema
    body: Schema | None
    types: tuple[str, ...]
    queries: tuple[str, ...]
    components: Schema = field(repr=False, compare=False)

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    type: str = ""
    accept: str = ""
    body: bytes | None = None

    @property
    def is_watch(self) -> bool:
        return any(name == "watch" for name, _ in self.query)


def operations(document: Schema) -> Iterator[Operation]:
    components = document["components"]["schemas"]
    for path, methods in document["paths"].items():
        for method, said in methods.items():
            if method == "parameters":
                continue
            content = said.get("requestBody", {}).get("content", {})
            schemas = [each["schema"] for each in content.values()]
            yield Operation(
                path,
                method.upper(),
                said["x-kubernetes-group-version-kind"],
                schemas[0] if schemas else None,
                tuple(content),
                tuple(each["name"] for each in said["parameters"]),
                components,
            )


def samples() -> dict[str, Any]:
    """An object of each built-in kind that is as it should be, by version and kind."""
    text = (Path(__file__).parents[2] / "contract/every_kind.yaml").read_text()
    return {f"{each['apiVersion']} {each['kind']}": each for each in yaml.safe_load_all(text)}


def request(operation: Operation, chance: random.Random, known: Mapping[str, Any]) -> Request:
    method = operation.method if chance.random() > WRONG else chance.choice(METHODS)
    types = operation.types if chance.random() > WRONG else TYPES
    type_ = chance.choice(types) if types else chance.choice(TYPES)
    body = None
    is_kept = method == "DELETE" and operation.gvk["kind"] in KEPT  # options of a body would win
    if method not in ("GET", "HEAD") and not is_kept and chance.random() > WRONG:
        body = _encoded(_body(operation, type_, chance, known), chance)
    return Request(
        method=method,
        path=_path(operation, chance),
        query=_query(operation, chance),
        type=type_,
        accept=chance.choice(ACCEPTS),
        body=body,
    )


def _path(operation: Operation, chance: random.Random) -> str:
    path = operation.path
    for part in ("{namespace}", "{name}"):
        usual = "default" if part == "{namespace}" else "one"
        name = usual if chance.random() > 3 * WRONG else chance.choice(NAMES)
        path = path.replace(part, name)
    return path


def _query(operation: Operation, chance: random.Random) -> tuple[tuple[str, str], ...]:
    known = operation.queries if chance.random() > 2 * WRONG else tuple(QUERIES)
    count = chance.choice((0, 0, 1, 1, 2, 3))
    names = [chance.choice(known) for _ in range(count)] if known else []
    made = [(name, chance.choice(QUERIES.get(name, ("x",)))) for name in names]
    if operation.gvk["kind"] in KEPT:
        made = [("dryRun", "All"), *(each for each in made if each[0] != "dryRun")]
    return tuple(made)


def _body(operation: Operation, type_: str, chance: random.Random, known: Mapping[str, Any]) -> Any:
    if type_ == "application/json-patch+json":
        return [_json_operation(chance) for _ in range(chance.choice((0, 1, 1, 2, 5)))]
    if operation.method == "DELETE":
        return Making(operation.components, chance, 2 * WRONG).value(DELETE_OPTIONS)
    gvk = operation.gvk
    version = f"{gvk['group']}/{gvk['version']}" if gvk["group"] else gvk["version"]
    sample = known.get(f"{version} {gvk['kind']}")
    if sample is not None and chance.random() < 0.6:
        made = sample
        for _ in range(chance.choice((0, 1, 1, 2, 4))):
            made = _altered(made, chance)
    else:
        wrong = chance.choice((0.0, WRONG / 4, WRONG))
        made = Making(operation.components, chance, wrong).value(_of_kind(operation))
    if isinstance(made, dict) and chance.random() > 2 * WRONG:
        made = {**made, "apiVersion": version, "kind": gvk["kind"]}
        metadata = made.get("metadata")
        made["metadata"] = {**(metadata if isinstance(metadata, dict) else {}), "name": "one"}
    return made


def _altered(value: Any, chance: random.Random) -> Any:
    """The same, with something else in one place."""
    if isinstance(value, dict) and value and chance.random() > 0.2:
        name = chance.choice(list(value))
        rest = {key: child for key, child in value.items() if key != name}
        if chance.random() < 0.1:
            return rest
        return {**rest, name: _altered(value[name], chance)}
    if isinstance(value, list) and value and chance.random() > 0.2:
        place = chance.randrange(len(value))
        return [*value[:place], _altered(value[place], chance), *value[place:]]
    return chance.choice((*JUNK, *TEXTS, *NUMBERS))


def _of_kind(operation: Operation) -> Schema:
    """Patches are made of what their object may be."""
    if operation.method != "PATCH":
        return operation.body or {}
    for schema in operation.components.values():
        if operation.gvk in schema.get("x-kubernetes-group-version-kind", ()):
            found: Schema = schema
            return found
    return {}


def _json_operation(chance: random.Random) -> Any:
    if chance.random() < WRONG:
        return chance.choice(JUNK)
    paths = (
        "/spec",
        "/metadata/labels/a",
        "/metadata",
        "/data/x",
        "/status/x",
        "",
        "/",
        "/a~2",
        "/0",
    )
    made = {
        "op": chance.choice(("add", "remove", "replace", "move", "copy", "test", "x")),
        "path": chance.choice(paths),
        "from": chance.choice(paths),
        "value": chance.choice(JUNK),
    }
    return made if chance.random() > WRONG else dict(list(made.items())[: chance.choice((0, 1, 2))])


def _encoded(value: Any, chance: random.Random) -> bytes:
    text = msgspec.json.encode(value)
    if chance.random() < WRONG:
        return chance.choice(
            (b"", b"{", b"[" * 20_000, text[: len(text) // 2], b"\xff" + text, b"x: [", b"&a [*a]")
        )
    return text


class Making:
    """A value that follows a schema, all but a few of its parts."""

    def __init__(self, components: Schema, chance: random.Random, wrong: float) -> None:
        self._components = components
        self._chance = chance
        self._wrong = wrong

    def value(self, schema: Schema, depth: int = 0) -> Any:
        if self._chance.random() < self._wrong:
            return self._chance.choice(JUNK)
        schema = self._resolved(schema)
        if "enum" in schema and self._chance.random() >= self._wrong:
            return self._chance.choice(schema["enum"])
        match schema.get("type"):
            case "object":
                return self._object(schema, depth)
            case "array":
                few = 0 if depth > DEPTH else self._chance.choice((0, 1, 1, 2))
                return [self.value(schema.get("items", {}), depth + 1) for _ in range(few)]
            case "string":
                return self._chance.choice(TEXTS)
            case "integer" | "number":
                return self._chance.choice(NUMBERS)
            case "boolean":
                return self._chance.random() < 0.5
        return self._chance.choice((*NUMBERS, *TEXTS, *JUNK))

    def _resolved(self, schema: Schema) -> Schema:
        while True:
            if "$ref" in schema:
                schema = self._components[schema["$ref"].rpartition("/")[2]]
            elif "allOf" in schema and "type" not in schema:
                schema = schema["allOf"][0]
            else:
                return schema

    def _object(self, schema: Schema, depth: int) -> dict[str, Any]:
        chance = self._chance
        properties: Schema = schema.get("properties", {})
        share = max(0.05, 0.6 - 0.1 * depth) * min(1.0, 8 / max(len(properties), 1))
        made = {}
        for name, child in properties.items():
            is_needed = name in schema.get("required", ()) and chance.random() >= self._wrong
            if is_needed or (depth <= DEPTH and chance.random() < share):
                made[name] = self.value(child, depth + 1)
        more = schema.get("additionalProperties")
        if isinstance(more, dict) and depth <= DEPTH:
            for _ in range(chance.choice((0, 1, 2))):
                made[chance.choice(TEXTS)] = self.value(more, depth + 1)
        if chance.random() < self._wrong:
            made[chance.choice(("x", "", "metadata", "$patch", "spec"))] = chance.choice(JUNK)
        return made
