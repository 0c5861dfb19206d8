"""Admission: those who may change or refuse a write before it is stored.

A chain of steps, in order. The server's own stand first; webhooks will stand behind them. A step that
refuses raises a `Refusal`.
"""

from collections.abc import Sequence
from typing import Any, Protocol

import msgspec

from kubevirt.apiserver.registry.call import Call

Object = dict[str, Any]


class Review(msgspec.Struct, frozen=True, kw_only=True):
    """A write, as admission sees it."""

    call: Call
    operation: str
    """CREATE, UPDATE or DELETE."""
    old: Object | None = None
    dry_run: bool = False


class Step(Protocol):
    async def mutate(self, object_: Object, review: Review) -> Object:
        """The object as it shall be."""
        ...

    async def validate(self, object_: Object | None, review: Review) -> None:
        """The object as it will be stored; None for a deletion."""
        ...


class Admission:
    def __init__(self, steps: Sequence[Step] = ()) -> None:
        self._steps = tuple(steps)

    async def mutate(self, object_: Object, review: Review) -> Object:
        for step in self._steps:
            object_ = await step.mutate(object_, review)
        return object_

    async def validate(self, object_: Object | None, review: Review) -> None:
        for step in self._steps:
            await step.validate(object_, review)
