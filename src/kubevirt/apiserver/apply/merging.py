"""Merging a configuration into an object: what it says wins, what it leaves out stays.

Nothing is removed here. Lists that merge keep their own order where the configuration does not
contradict it, and follow the configuration where it does. The result shares unchanged parts with
the object and with the configuration; none of them is changed.
"""

from collections import deque
from collections.abc import Sequence
from typing import Any

from kubevirt.apiserver.apply.types import ListType, MapType, Type
from kubevirt.apiserver.apply.values import element_of
from kubevirt.apiserver.schema.plain import ABSENT


def merge(old: Any, new: Any, kind: Type | None) -> Any:
    """Both are present somewhere below the root, so one that is absent leaves the other."""
    if new is ABSENT:
        return old
    if old is ABSENT or kind is None:
        return new
    # The new value says what it is; null may be anything and is taken for a map first.
    if kind.map and (isinstance(new, dict) or _is_map_by_order(new, kind)):
        return _merge_maps(old, new, kind.map)
    if kind.list and (isinstance(new, list) or (new is None and not kind.scalar)):
        return _merge_lists(old, new, kind.list)
    return new


def _is_map_by_order(new: Any, kind: Type) -> bool:
    """Null, or a value that fits nothing: the first that the type allows decides."""
    if isinstance(new, list):
        return kind.list is None
    return new is None or kind.scalar is None


def _merge_maps(old: Any, new: Any, kind: MapType) -> Any:
    if kind.is_atomic or not isinstance(old, dict) or not old:
        return new
    if not isinstance(new, dict) or not new:
        return old
    merged = dict(old)
    for name, value in new.items():
        before = old.get(name, ABSENT)
        merged[name] = value if before is ABSENT else merge(before, value, kind.field(name))
    return merged


def _merge_lists(old: Any, new: Any, kind: ListType) -> Any:
    if not kind.is_associative or not isinstance(old, list) or not old:
        return new
    if not isinstance(new, list) or not new:
        return old
    return _Zipper(old, new, kind).merged()


class _Zipper:
    """Two lists into one, walking both at once.

    The configuration's items come in its order. An item that only the object has stays before the
    shared item that it stood before.
    """

    def __init__(self, old: Sequence[Any], new: Sequence[Any], kind: ListType) -> None:
        self._kind = kind
        self._old = [(element_of(item, kind), item) for item in old]
        self._new = [(element_of(item, kind), item) for item in new]
        self._new_by_step = dict(self._new)
        self._old_by_step: dict[str, Any] = {}
        for step, item in self._old:
            # An item that is there twice is not merged with anything: nobody can say which is meant.
            self._old_by_step[step] = ABSENT if step in self._old_by_step else item
        self._shared = deque(step for step, _ in self._new if step in self._old_by_step)
        self._taken: set[str] = set()
        self._out: list[Any] = []

    def merged(self) -> list[Any]:
        old, new = 0, 0
        while old < len(self._old) or new < len(self._new):
            if old < len(self._old) and new < len(self._new):
                step = self._old[old][0]
                if step == self._new[new][0]:
                    self._take(step)
                    old, new = old + 1, new + 1
                    continue
                if step in self._new_by_step and self._shared and self._shared[0] != step:
                    # The configuration wants it, but not here.
                    old += 1
                    continue
            if old < len(self._old):
                step, item = self._old[old]
                if step not in self._new_by_step:
                    self._out.append(item)
                    old += 1
                    continue
                if step in self._taken:
                    old += 1
            if new < len(self._new):
                self._take(self._new[new][0])
                new += 1
        return self._out

    def _take(self, step: str) -> None:
        self._taken.add(step)
        if self._shared and self._shared[0] == step:
            self._shared.popleft()
        before = self._old_by_step.get(step, ABSENT)
        self._out.append(merge(before, self._new_by_step[step], self._kind.element))
