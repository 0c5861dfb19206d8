"""Conflicts: fields that somebody else owns and the configuration wants otherwise."""

from collections.abc import Iterable

from msgspec import Struct

from kubevirt.apiserver.apply import elements
from kubevirt.apiserver.apply.fieldset import FieldSet, Path
from kubevirt.apiserver.apply.managed import Manager
from kubevirt.base.errors import UserError


class Conflict(Struct, frozen=True):
    manager: Manager
    path: Path

    @property
    def field(self) -> str:
        return "".join(map(elements.shown, self.path))

    @property
    def message(self) -> str:
        return f"conflict with {self.manager}"


class ApplyConflicts(UserError):  # noqa: N818  # it is what was found
    """The apply was refused. `conflicts` are the causes of the Status, each a FieldManagerConflict."""

    def __init__(self, conflicts: Iterable[Conflict]) -> None:
        self.conflicts = tuple(conflicts)
        super().__init__(_message(self.conflicts), reason="Conflict")


def conflicts_of(fields: dict[Manager, FieldSet]) -> list[Conflict]:
    return [
        Conflict(manager, path)
        for manager in sorted(fields, key=Manager.order)
        for path in fields[manager].paths()
    ]


def _message(conflicts: tuple[Conflict, ...]) -> str:
    if len(conflicts) == 1:
        one = conflicts[0]
        return f"Apply failed with 1 conflict: {one.message}: {one.field}"
    lines = []
    named = None
    for conflict in conflicts:
        if conflict.manager != named:
            named = conflict.manager
            lines.append(f"conflicts with {named}:")
        lines.append(f"- {conflict.field}")
    return f"Apply failed with {len(conflicts)} conflicts: " + "\n".join(lines)
