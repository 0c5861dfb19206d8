"""Cells of custom kinds: a value found by a JSON path, shown by the column's type.

Paths are those of CRDs: fields, indexes, `[*]`, and filters that compare a field with a value, as in
`.status.conditions[?(@.type=="Ready")].status`. Of several values the first is shown.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from kubevirt.apiserver.kinds.columns.ages import age
from kubevirt.apiserver.kinds.kind import Column
from kubevirt.apiserver.schema import gotext

Object = dict[str, Any]
Read = Callable[[Object, float], Any]
_Step = Callable[[Any], Iterator[Any]]

_STEP: Final = re.compile(
    r"\.(?P<name>(?:[^.\[\\]|\\.)+)"
    r"|\[(?P<index>-?\d+)\]"
    r"|\[(?P<all>\*)\]"
    r"|\[['\"](?P<quoted>[^'\"]+)['\"]\]"
    r"|\[\?\(\s*@\.(?P<field>[\w.\-/]+)\s*(?P<op>==|!=)\s*(?P<value>\"[^\"]*\"|'[^']*'|[^)\s]+)\s*\)\]"
)


def reader(column: Column) -> Read:
    steps = list(_steps(column.json_path))

    def read(object_: Object, now: float) -> Any:
        found = next(_walk(object_, steps), None)
        return _cell(found, column.type, now)

    return read


def _steps(path: str) -> Iterator[_Step]:
    place = 0
    path = path if path.startswith((".", "[")) else f".{path}"
    while place < len(path):
        found = _STEP.match(path, place)
        if found is None:
            yield lambda _: iter(())
            return
        yield _step(found)
        place = found.end()


def _step(found: re.Match[str]) -> _Step:
    if (name := found["name"] or found["quoted"]) is not None:
        return _field(re.sub(r"\\(.)", r"\1", name))
    if found["index"] is not None:
        return _item(int(found["index"]))
    if found["all"]:
        return _items
    return _filtered(found["field"].split("."), found["op"], found["value"].strip("\"'"))


def _field(name: str) -> _Step:
    def step(value: Any) -> Iterator[Any]:
        if isinstance(value, dict) and name in value:
            yield value[name]

    return step


def _item(place: int) -> _Step:
    def step(value: Any) -> Iterator[Any]:
        if isinstance(value, list) and -len(value) <= place < len(value):
            yield value[place]

    return step


def _items(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, list):
        yield from value


def _filtered(path: list[str], operator: str, wanted: str) -> _Step:
    def step(value: Any) -> Iterator[Any]:
        for item in value if isinstance(value, list) else ():
            found = item
            for name in path:
                found = found.get(name) if isinstance(found, dict) else None
            if found is not None and (_text(found) == wanted) is (operator == "=="):
                yield item

    return step


def _walk(value: Any, steps: list[_Step]) -> Iterator[Any]:
    if not steps:
        yield value
        return
    for found in steps[0](value):
        yield from _walk(found, steps[1:])


def _cell(value: Any, type_: str, now: float) -> Any:
    if value is None:
        return None
    match type_:
        case "integer":
            return int(value) if isinstance(value, int | float) else None
        case "number":
            return value if isinstance(value, int | float) else None
        case "boolean":
            return value if isinstance(value, bool) else None
        case "date":
            return age(value, now)
    return _text(value)


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return gotext.json(value)
