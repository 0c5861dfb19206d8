"""How messages are made up: the number, the name in JSON and the type of every field.

    Container
       1 name                        string!
       7 env                         [EnvVar]
      24 restartPolicy               string?
    Volume
       2 +                           VolumeSource

`[…]` is a list and `{…}` a map by strings. Behind the type stands when JSON shows a field: `!` always,
`?` if it was sent, else if it is not empty. The fields of a `+` are fields of the message around it.
"""

import re
from collections.abc import Iterator
from typing import Final

import msgspec

_LINE: Final = re.compile(
    r" +(?P<number>\d+) (?P<name>\S+) +(?P<wrapping>[\[{]?)(?P<type>[\w.-]+)[\]}]?(?P<shown>[!?]?)"
)
ALWAYS: Final = "!"
IF_SENT: Final = "?"


class Field(msgspec.Struct, frozen=True):
    number: int
    name: str
    """Empty if it is part of the message around it."""
    type: str
    wrapping: str = ""
    """`[` for a list, `{` for a map."""
    shown: str = ""
    is_implied: bool = False
    """Whether it is there though it was not sent."""


class Table:
    """A message is read when it is first asked for: most are never sent."""

    def __init__(self, text: str) -> None:
        self._lines: dict[str, list[str]] = {}
        self._fields: dict[str, tuple[Field, ...]] = {}
        lines: list[str] = []
        for line in text.splitlines():
            if line.startswith(" "):
                lines.append(line)
            else:
                lines = self._lines[line] = []

    def __contains__(self, name: str) -> bool:
        return name in self._lines

    def __iter__(self) -> Iterator[str]:
        return iter(self._lines)

    def fields(self, name: str) -> tuple[Field, ...]:
        found = self._fields.get(name)
        if found is None:
            found = self._fields[name] = tuple(map(_field, self._lines[name]))
        return found


def _field(line: str) -> Field:
    found = _LINE.fullmatch(line)
    if found is None:
        raise ValueError(f"{line.strip()} is no field")
    name, shown = found["name"].removeprefix("+"), found["shown"]
    return Field(
        number=int(found["number"]),
        name=name,
        type=found["type"],
        wrapping=found["wrapping"],
        shown=shown,
        is_implied=shown == ALWAYS or not name,
    )
