"""What differs between two versions of a value, field by field: what a patch has to say.

Fields of others stay out of it, so a patch made from this overwrites nothing that it does not mean;
`before` is there for a patch that tests first whether the field is still as it was seen.
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
