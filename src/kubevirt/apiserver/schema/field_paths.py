"""Paths to a field of a schema, as authors of CRDs write them: `.spec.size`, `.spec['a-b']`.

A path is walked while it is read, so what is wrong first is what is said.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from kubevirt.base.errors import KubevirtError

Source = Mapping[str, Any]

_WORD: Final = re.compile(r"[.\[\]]|'(?:[^']|(?<=\\)')*'|[^.\[\]]+", re.DOTALL)
_ESCAPES: Final = {
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "'": "'",
    "\\": "\\",
}
_END: Final = "unexpected end of JSON path"
_NO_FIELD: Final = "does not refer to a valid field"


class NoSuchFieldError(KubevirtError):
    """Its text is what Kubernetes says about the path."""


def follow(path: str, schema: Source, *, brackets: bool) -> tuple[Sequence[str], Source]:
    """The steps of a path, and the schema that it leads to. `brackets` says whether `['name']` is a step."""
    steps: list[str] = []
    words = iter(_WORD.findall(path))
    for word in words:
        if word == "[" and not brackets:
            raise NoSuchFieldError("array notation is not allowed")
        if word == "[":
            name = _quoted(next(words, None))
        elif word == ".":
            name = _present(next(words, None))
        else:
            raise NoSuchFieldError(f"expected [ or . but got: {word}")
        schema = _below(schema, name)
        steps.append(name)
        if word == "[" and (closing := _present(next(words, None))) != "]":
            raise NoSuchFieldError(f"expected ] but got {closing}")
    return steps, schema


def _present(word: str | None) -> str:
    if word is None:
        raise NoSuchFieldError(_END)
    return word


def _quoted(word: str | None) -> str:
    text = _present(word)
    if len(text) < 2 or text[0] != "'" or text[-1] != "'":
        raise NoSuchFieldError(f"expected single quoted string but got {text}")
    return "".join(_unescaped(text[1:-1]))


def _unescaped(text: str) -> Iterator[str]:
    letters = iter(text)
    for letter in letters:
        if letter != "\\":
            yield letter
            continue
        escaped = next(letters, "")
        if escaped not in _ESCAPES:
            raise NoSuchFieldError(f"invalid string literal: invalid escape char \\{escaped}")
        yield _ESCAPES[escaped]


def _below(schema: Source, name: str) -> Source:
    properties, others = schema.get("properties"), schema.get("additionalProperties")
    if properties is not None:
        found = properties.get(name)
    else:
        found = others if isinstance(others, dict) else None
    if found is None:
        raise NoSuchFieldError(_NO_FIELD)
    below: Source = found
    return below
