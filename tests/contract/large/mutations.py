"""Small changes to an object, as data: what is at a path, or that it is gone."""

from collections.abc import Mapping
from copy import deepcopy
from itertools import pairwise
from typing import Any, Final

Object = dict[str, Any]
Changes = Mapping[str, Any]

GONE: Final = "<gone>"


def changed(object_: Object, changes: Changes) -> Object:
    """A copy with what is at each path set or gone: `spec.solvers[0].dns01`."""
    copy = deepcopy(object_)
    for path, value in changes.items():
        steps = _steps(path)
        last = steps[-1]
        at: Any = copy
        for step, following in pairwise(steps):
            if isinstance(step, str):
                at = at.setdefault(step, [] if isinstance(following, int) else {})
            else:
                at = at[step]
        if value is GONE:
            del at[last]
        elif isinstance(last, int) and last == len(at):
            at.append(deepcopy(value))
        else:
            at[last] = deepcopy(value)
    return copy


def _steps(path: str) -> list[str | int]:
    """Names between dots; numbers in brackets."""
    parts = path.replace("]", "").replace("[", ".#").split(".")
    return [int(part[1:]) if part.startswith("#") else part for part in parts]
