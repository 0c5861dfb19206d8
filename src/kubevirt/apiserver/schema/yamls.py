"""YAML to plain data, as Kubernetes reads it: what JSON could say, with the lines of keys that are there twice.

Read event by event, so that depth and aliases are bounded while they are read: a few lines can nest more deeply than
any stack, or mean billions of values.
"""

import base64
import re
from collections.abc import Iterator
from math import isinf
from typing import Any, Final, NamedTuple

import yaml
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from kubevirt.apiserver.schema import gotext
from kubevirt.apiserver.schema.decoding import DEPTH_LIMIT
from kubevirt.base.errors import KubevirtError

NODES_LIMIT: Final = 1_000_000
"""Of a document once its aliases are followed."""
_FEW_ALIASES: Final = 100
_FEW_NODES: Final = 1000
_MOSTLY_ALIASES: Final = 0.99
"""A document of more nodes than a few, mostly repeated by aliases, is an attack: go-yaml's rule."""

_TAG: Final = "tag:yaml.org,2002:"
_STRING: Final = f"{_TAG}str"
_BOOL: Final = f"{_TAG}bool"
_NUMBER: Final = f"{_TAG}float"
_MERGE: Final = f"{_TAG}merge"
_INT64: Final = range(-(2**63), 2**63)
_FLOAT: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")
_ENDLESS: Final = re.compile(r"[-+]?\.(inf|Inf|INF)\Z|\.(nan|NaN|NAN)\Z")
_OTHERS: Final = (f"{_TAG}timestamp", f"{_TAG}int", f"{_TAG}float", f"{_TAG}value")
_RESOLVERS: Final = {
    # Without times, which are strings in Kubernetes' objects, and numbers, which go-yaml reads in its own way.
    first: [each for each in resolvers if each[0] not in _OTHERS]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


class BadYaml(KubevirtError):  # noqa: N818  # it is what the text is
    """In go-yaml's words."""


class Document(NamedTuple):
    value: Any
    repeated: tuple[str, ...] = ()
    """What go-yaml says of keys that are there twice; the last one counts."""


def read(text: bytes) -> Document:
    """The first document of a text. Raises `BadYaml`."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return _Reading(yaml.parse(text, Loader=loader)).document()
    except yaml.YAMLError as error:
        raise BadYaml(f"yaml: {_said(error)}") from error


def _said(error: yaml.YAMLError) -> str:
    if isinstance(error, yaml.reader.ReaderError):
        return str(error.reason)
    context, problem = getattr(error, "context_mark", None), getattr(error, "problem_mark", None)
    line = (context.line if context else 0) or (problem.line if problem else 0)
    if line and isinstance(error, yaml.scanner.ScannerError):
        line += 1
    where = f"line {line}: " if line else ""
    return f"{where}{getattr(error, 'problem', None) or 'unknown problem parsing YAML content'}"


class _Known(NamedTuple):
    value: Any
    size: int


class _Reading:
    def __init__(self, events: Iterator[Event]) -> None:
        self._events = events
        self._anchors: dict[str, _Known | None] = {}
        """None while what has the anchor is still being read."""
        self._nodes = 0
        self._aliased = 0
        self._repeated: list[str] = []

    def document(self) -> Document:
        for event in self._events:
            if isinstance(event, DocumentStartEvent):
                return Document(self._node(next(self._events), 0), tuple(self._repeated))
        return Document(None)

    def _node(self, event: Event, depth: int) -> Any:
        if depth > DEPTH_LIMIT:
            raise BadYaml(f"yaml: exceeded max depth of {DEPTH_LIMIT}")
        if isinstance(event, AliasEvent):
            return self._repeat(event.anchor or "")
        before = self._nodes
        self._count(1)
        anchor = event.anchor if isinstance(event, NodeEvent) else None
        if anchor:
            self._anchors[anchor] = None
        if isinstance(event, MappingStartEvent):
            value: Any = self._mapping(depth)
        elif isinstance(event, SequenceStartEvent):
            value = self._sequence(depth)
        else:
            value = self._scalar(event) if isinstance(event, ScalarEvent) else None
        if anchor:
            self._anchors[anchor] = _Known(value, self._nodes - before)
        return value

    def _repeat(self, anchor: str) -> Any:
        if anchor not in self._anchors:
            raise BadYaml(f"yaml: unknown anchor '{anchor}' referenced")
        known = self._anchors[anchor]
        if known is None:
            raise BadYaml(f"yaml: anchor '{anchor}' value contains itself")
        self._aliased += known.size
        self._count(known.size)
        return known.value

    def _count(self, nodes: int) -> None:
        self._nodes += nodes
        is_bomb = (
            self._aliased > _FEW_ALIASES
            and self._nodes > _FEW_NODES
            and self._aliased / self._nodes > _MOSTLY_ALIASES
        )
        if is_bomb or (self._aliased and self._nodes > NODES_LIMIT):
            raise BadYaml("yaml: document contains excessive aliasing")

    def _sequence(self, depth: int) -> list[Any]:
        found = []
        while not isinstance(event := next(self._events), SequenceEndEvent):
            found.append(self._node(event, depth + 1))
        return found

    def _mapping(self, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        while not isinstance(event := next(self._events), MappingEndEvent):
            if isinstance(event, ScalarEvent) and _tag(event) == _MERGE:
                merged |= _merged(self._node(next(self._events), depth + 1))
                continue
            key = self._node(event, depth + 1)
            if isinstance(key, dict | list):
                raise BadYaml(f"yaml: invalid map key: {gotext.syntax(key)}")
            if key is None:
                raise BadYaml("unsupported map key of type: %!s(<nil>), key: <nil>")
            name = _name(key)
            event = next(self._events)
            if name in found and event.start_mark:
                line = event.start_mark.line + 1  # of the value, as go-yaml has it
                self._repeated.append(f'line {line}: key "{name}" already set in map')
            found[name] = self._node(event, depth + 1)
        return {**merged, **found} if merged else found

    def _scalar(self, event: ScalarEvent) -> Any:
        tag = _tag(event)
        try:
            match tag.removeprefix(_TAG):
                case "null":
                    return None
                case "bool":
                    return event.value.lower() in ("y", "yes", "true", "on")
                case "int" | "float":
                    return _number(event.value)
                case "binary":
                    return _bytes(event.value).decode(errors="replace")
        except (ValueError, OverflowError) as error:
            short = tag.replace(_TAG, "!!")
            raise BadYaml(f"yaml: cannot decode !!str `{event.value:.10}` as a {short}") from error
        return event.value


def _tag(event: ScalarEvent) -> str:
    if event.tag and event.tag != "!":
        return str(event.tag)
    if not event.implicit[0]:  # quoted
        return _STRING
    resolvers = [*_RESOLVERS.get(event.value[:1], ()), *_RESOLVERS.get(None, ())]
    found = next((tag for tag, pattern in resolvers if pattern.match(event.value)), "")
    if not found and event.value in ("y", "Y", "n", "N"):
        return _BOOL
    return found or (_NUMBER if _is_number(event.value) else _STRING)


def _is_number(text: str) -> bool:
    if text[:1] not in "+-.0123456789":
        return False
    if _ENDLESS.match(text):
        raise BadYaml(f"json: unsupported value: {_endless(text)}")
    try:
        _number(text)
    except ValueError:
        return False
    return True


def _endless(text: str) -> str:
    return "NaN" if text.lower().endswith("nan") else "-Inf" if text.startswith("-") else "+Inf"


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError as error:
        raise BadYaml("yaml: !!binary value contains invalid base64 data") from error


def _number(text: str) -> float:
    """As Go's strconv: 010 is octal, 0x1f and 0b11 are known, underscores are dropped, 1:30 is no number."""
    plain = text.replace("_", "")
    if not _FLOAT.match(plain):
        return int(plain, 0)
    if plain.lstrip("+-").isdigit():
        octal = re.fullmatch(r"([-+]?)0+([0-7]+)", plain)
        value: float = int(f"{octal[1]}{octal[2]}", 8) if octal else int(plain)
    else:
        value = float(plain)
    if isinf(value):
        raise ValueError(text)
    if isinstance(value, int):
        return value if value in _INT64 else float(value)
    return int(value) if value.is_integer() and int(value) in _INT64 else value


def _merged(value: Any) -> dict[str, Any]:
    """Of `<<`: a mapping, or several of which the first has the first word."""
    if isinstance(value, dict):
        return value
    found: dict[str, Any] = {}
    for each in reversed(value if isinstance(value, list) else [value]):
        if not isinstance(each, dict):
            raise BadYaml("yaml: map merge requires map or sequence of maps as the value")
        found |= each
    return found


def _name(key: Any) -> str:
    """Names are strings, as JSON has it."""
    if isinstance(key, bool):
        return "true" if key else "false"
    return key if isinstance(key, str) else gotext.json(key)
