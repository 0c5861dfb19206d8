"""The difference of two JSON values as a JSON patch (RFC 6902).

    difference({"a": 1}, {"a": 1, "b": [2]})     add /b [2]

A list that only grew gets what is new at its end; one that shrank is replaced. So a patch says what
was added and touches nothing that another webhook wrote beside it.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Literal

import msgspec

Json = Any


class Operation(msgspec.Struct, frozen=True, omit_defaults=True):
    op: Literal["add", "replace", "remove"]
    path: str
    value: Json = msgspec.UNSET


def difference(before: Json, after: Json, path: str = "") -> tuple[Operation, ...]:
    return tuple(_difference(before, after, path))


def _difference(before: Json, after: Json, path: str) -> Iterator[Operation]:
    if isinstance(before, dict) and isinstance(after, dict):
        yield from _of_objects(before, after, path)
    elif isinstance(before, list) and isinstance(after, list) and len(before) <= len(after):
        for index, (old, new) in enumerate(zip(before, after, strict=False)):
            yield from _difference(old, new, f"{path}/{index}")
        for value in after[len(before) :]:
            yield Operation("add", f"{path}/-", value)
    elif type(before) is not type(after) or before != after:
        yield Operation("replace", path, after)


def _of_objects(
    before: Mapping[str, Json], after: Mapping[str, Json], path: str
) -> Iterator[Operation]:
    for key, old in before.items():
        here = f"{path}/{escaped(key)}"
        if key in after:
            yield from _difference(old, after[key], here)
        else:
            yield Operation("remove", here)
    for key, new in after.items():
        if key not in before:
            yield Operation("add", f"{path}/{escaped(key)}", new)


def escaped(key: str) -> str:
    """A key as a part of a JSON pointer."""
    return key.replace("~", "~0").replace("/", "~1")
