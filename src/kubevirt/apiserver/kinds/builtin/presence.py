"""What Go writes of a struct's fields when they are empty; see `presence.txt` and who wrote it.

A field that is not in the table is left out when it is empty. `kept` is a pointer: what was said stays,
even a zero. Anything else is the zero that is always written, whether it was said or not.
"""

from functools import cache
from importlib import resources
from typing import Any, Final

import msgspec

KEPT: Final = "kept"


class Marks(msgspec.Struct, frozen=True):
    """Of one type."""

    kept: frozenset[str] = frozenset()
    always: dict[str, Any] = {}


@cache
def marks() -> dict[str, Marks]:
    """By the name of the type."""
    text = (resources.files(__package__) / "presence.txt").read_text(encoding="utf-8")
    found: dict[str, dict[str, str]] = {}
    fields: dict[str, str] = {}
    for line in text.splitlines():
        if line.startswith(" "):
            name, mark = line.split()
            fields[name] = mark
        else:
            fields = found[line] = {}
    return {name: _marks(fields) for name, fields in found.items()}


def _marks(fields: dict[str, str]) -> Marks:
    kept = frozenset(name for name, mark in fields.items() if mark == KEPT)
    always = {
        name: msgspec.json.decode(mark.encode()) for name, mark in fields.items() if mark != KEPT
    }
    return Marks(kept, always)
