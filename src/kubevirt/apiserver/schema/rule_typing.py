"""What a schema tells about the values in its rules, so that mistakes of types are found when a CRD is written.

The runtime knows no types of objects, so each chain of fields that a rule mentions (`self.size.unit`) is
declared under its whole name, with the type that the schema gives it. What the schema leaves open is open here,
and only what can be certain is said: an unknown field, an operator between types that have none, a value
that is no bool. The words are cel-go's.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from kubevirt.apiserver.schema import cel
from kubevirt.apiserver.schema.cel import BadExpression
from kubevirt.apiserver.schema.rules import escape

Source = Mapping[str, Any]

DYNAMIC: Final = "dyn"
_SCALARS: Final = {"boolean": "bool", "integer": "int", "string": "string"}
_OTHER_STRINGS: Final = ("byte", "date", "date-time", "datetime", "duration")
"""Formats that make a string something else in CEL."""
_OF_OBJECTS: Final = ("apiVersion", "kind", "metadata")
_OF_METADATA: Final = ("name", "generateName")
_CHAIN: Final = re.compile(r"(?<![\w.'\"])(?:self|oldSelf)(?:\.[A-Za-z_]\w*)+(?![\w(])")
_CALLED: Final = re.compile(r"(?<![\w.'\"])(?:self|oldSelf)(?:\.[A-Za-z_]\w*)+(?=\()")
_HAS: Final = re.compile(r"(?<![\w.])has\([^()]*\)")
_NO_OVERLOAD: Final = re.compile(
    r"found no matching overload for '([^']+)' applied to '\(([^']*)\)'"
)
_EQUALITIES: Final = ("_==_", "_!=_")
_LOGIC: Final = ("_&&_", "_||_", "!_", "_?_:_")
_SIMPLE: Final = ("bool", "int", "string")


def type_of(expression: str, schema: Source, *, is_object: bool) -> str:
    """Of its value, or `dyn`. Raises `BadExpression`. `is_object` says whether the schema is of a whole object, of
    which more is known than is written.
    """
    code = cel.without_texts(expression)
    types = _self_types(schema)
    for chain in _chains(code):
        for end, found in _walked(chain, schema, expression, code, is_object=is_object):
            types[end] = found
    try:
        return cel.type_of_typed(_HAS.sub(_as_long, expression), types)
    except BadExpression as error:
        if _is_certain(str(error)):
            raise
        return DYNAMIC


def _self_types(schema: Source) -> dict[str, str]:
    return dict.fromkeys(cel.OF_RULES, _type(schema))


def _chains(code: str) -> Iterator[re.Match[str]]:
    yield from _CHAIN.finditer(code)
    yield from _CALLED.finditer(code)


def _walked(
    chain: re.Match[str], schema: Source, expression: str, code: str, *, is_object: bool
) -> Iterator[tuple[str, str]]:
    """Each name along a chain that the schema knows, with its type."""
    steps = chain.group().split(".")
    place = chain.start() + len(steps[0])
    is_called = code[chain.end() : chain.end() + 1] == "("
    fields = steps[1:-1] if is_called else steps[1:]
    named = steps[0]
    for step in fields:
        below = _below(schema, step, is_object=is_object)
        if below is _OPEN:
            return
        if below is None:
            raise BadExpression(_undefined(step, place, expression, code))
        schema, is_object = below, bool(below.get("x-kubernetes-embedded-resource"))
        named, place = f"{named}.{step}", place + 1 + len(step)
        yield named, _type(schema)


_OPEN: Final[Source] = {}
"""Of which the schema tells nothing that is certain."""


def _below(schema: Source, step: str, *, is_object: bool) -> Source | None:
    properties = schema.get("properties")
    if properties is None or schema.get("x-kubernetes-preserve-unknown-fields"):
        return _OPEN
    found = next((each for name, each in properties.items() if escape(name) == step), None)
    is_implied = is_object and step in _OF_OBJECTS
    return _OPEN if is_implied or (found is not None and not _is_typed(found)) else found


def _is_typed(schema: Source) -> bool:
    return bool(schema.get("type"))


def _type(schema: Source) -> str:
    kind = schema.get("type", "")
    if schema.get("x-kubernetes-int-or-string") or schema.get("format") in _OTHER_STRINGS:
        return DYNAMIC
    if kind in _SCALARS:
        return _SCALARS[kind]
    items, values = schema.get("items"), schema.get("additionalProperties")
    if kind == "array" and isinstance(items, dict):
        return f"list<{_type(items)}>"
    if kind == "object" and isinstance(values, dict):
        return f"map<{_type(values)}>"
    return DYNAMIC


def _undefined(step: str, place: int, expression: str, code: str) -> str:
    """As cel-go says it, which shows the line and points to the place: the dot, or the `has` around it."""
    around = next(
        (each for each in _HAS.finditer(code) if each.start() <= place < each.end()), None
    )
    if around is not None:
        place = around.start() + len("has")
    line_start = expression.rfind("\n", 0, place) + 1
    number = expression.count("\n", 0, place) + 1
    line = expression[line_start:].partition("\n")[0]
    column = place - line_start
    shown = f"ERROR: <input>:{number}:{column + 1}: undefined field '{step}'"
    return f"{shown}\n | {line}\n | {'.' * column}^"


def _as_long(found: re.Match[str]) -> str:
    """The runtime takes a declared chain in `has` for its value; a bool as long keeps all places."""
    return "true".ljust(len(found.group()))


def _is_certain(words: str) -> bool:
    """Kubernetes compares numbers of different types, and has more functions than are declared here."""
    found = _NO_OVERLOAD.search(words)
    if found is None or words.count("ERROR:") > 1:
        return False
    operator, types = found.group(1), found.group(2).split(", ")
    if operator in _LOGIC:
        return True
    return operator in _EQUALITIES and all(each in _SIMPLE for each in types)
