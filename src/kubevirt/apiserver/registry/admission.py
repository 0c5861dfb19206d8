"""Admission: those who may change or refuse a write before it is stored.

The server's own steps stand first, in order; webhooks (`apiserver/admission`) stand behind them. Where a
webhook changes an object, the steps see it once more, and so do the webhooks that ask for it. Then the
object is judged by its schema, and everybody may still refuse it. Whoever refuses raises a `Refusal`.
"""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import msgspec

from kubevirt.api.meta import StatusCause, StatusDetails
from kubevirt.apiserver.refusals import Refusal, refusal
from kubevirt.apiserver.registry.call import Call

Object = dict[str, Any]


def failed(words: str) -> Refusal:
    """Nobody said no, but nobody could be asked: a 500 that says why, as in Kubernetes."""
    details = StatusDetails(causes=(StatusCause(message=words),))
    message = f"Internal error occurred: {words}"
    return refusal(500, "InternalError", message, details=details)


def _as_it_is(object_: Object) -> Object:
    return object_


class Review(msgspec.Struct, frozen=True, kw_only=True):
    """A write, as admission sees it."""

    call: Call
    operation: str
    """CREATE, UPDATE, DELETE or CONNECT."""
    old: Object | None = None
    dry_run: bool = False
    options: Object | None = None
    """How the client wants it done: a CreateOptions, UpdateOptions or DeleteOptions."""
    read_again: Callable[[Object], Object] = _as_it_is
    """What becomes of an object that somebody outside has changed: pruned and defaulted, as if a client
    had sent it."""


class Step(Protocol):
    async def mutate(self, object_: Object, review: Review) -> Object:
        """The object as it shall be."""
        ...

    async def validate(self, object_: Object | None, review: Review) -> None:
        """The object as it will be stored; None for a deletion."""
        ...


class Rounds(Protocol):
    """The mutating webhooks of one write."""

    async def first(self, object_: Object | None) -> Object | None:
        """None for a deletion, of which they only hear."""
        ...

    @property
    def needs_second(self) -> bool: ...

    async def second(self, object_: Object | None) -> Object | None:
        """Once more, for those who asked for it."""
        ...


class Webhooks(Protocol):
    def rounds(self, review: Review) -> Rounds | None:
        """None if nobody is interested."""
        ...

    async def validate(self, object_: Object | None, review: Review) -> None: ...


class Admission:
    def __init__(self, steps: Sequence[Step] = (), webhooks: Webhooks | None = None) -> None:
        self._steps = tuple(steps)
        self._webhooks = webhooks

    async def mutate(self, object_: Object, review: Review) -> Object:
        object_ = await self._stepped(object_, review)
        rounds = self._webhooks.rounds(review) if self._webhooks else None
        if rounds is None:
            return object_
        object_ = await rounds.first(object_) or object_
        if rounds.needs_second:
            object_ = await self._stepped(object_, review)
            object_ = await rounds.second(object_) or object_
        return object_

    async def _stepped(self, object_: Object, review: Review) -> Object:
        for step in self._steps:
            object_ = await step.mutate(object_, review)
        return object_

    async def validate(self, object_: Object | None, review: Review) -> None:
        for step in self._steps:
            await step.validate(object_, review)
        if self._webhooks:
            await self._webhooks.validate(object_, review)

    async def delete(self, review: Review) -> None:
        """Mutating webhooks hear of a deletion too, and may refuse it."""
        if self._webhooks and (rounds := self._webhooks.rounds(review)):
            await rounds.first(None)
        await self.validate(None, review)
