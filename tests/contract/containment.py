"""Whether an answer holds what was sent, whatever the server added."""

from collections.abc import Mapping
from typing import Any


def holds(found: Any, wanted: Any) -> bool:
    """Whether all that is wanted is there, and as wanted."""
    if isinstance(wanted, Mapping):
        return isinstance(found, Mapping) and all(
            name in found and holds(found[name], value) for name, value in wanted.items()
        )
    if isinstance(wanted, list):
        return len(found) == len(wanted) and all(map(holds, found, wanted))
    return bool(found == wanted)
