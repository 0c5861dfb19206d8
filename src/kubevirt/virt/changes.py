"""What differs between two versions of a value, field by field: what a patch has to say.

Fields of others stay out of it, so a patch made from this overwrites nothing that it does not mean;
`before` is there for a patch that tests first whether the field is still as it was seen.
`difference` is the same as a merge patch says it.
"""

from typing import Any

import msgspec

from kubevirt.api.struct import Struct


class Change(msgspec.Struct, frozen=True):
    field: str
    """Under its name in JSON."""
    before: Any
    """None if the field was absent."""
    after: Any
    """None if it is to be removed."""


def between(before: Struct, after: Struct) -> tuple[Change, ...]:
    if before == after:
        return ()
    old, new = msgspec.to_builtins(before), msgspec.to_builtins(after)
    names = [*new, *(name for name in old if name not in new)]
    return tuple(
        Change(name, old.get(name), new.get(name))
        for name in names
        if old.get(name) != new.get(name)
    )


def difference(before: Struct, after: Struct) -> dict[str, Any]:
    """What a merge patch has to say; empty if nothing."""
    return {each.field: _merged(each.before, each.after) for each in between(before, after)}


def _merged(before: Any, after: Any) -> Any:
    """Objects are merged by a server, so what is not to stay has to be named; all else is replaced."""
    if not isinstance(before, dict) or not isinstance(after, dict):
        return after
    gone = {name: None for name in before if name not in after}
    changed = {
        name: _merged(before.get(name), value)
        for name, value in after.items()
        if before.get(name) != value
    }
    return {**gone, **changed}
