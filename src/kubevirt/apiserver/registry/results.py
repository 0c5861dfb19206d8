"""What a verb gives back, before it is written down in the form that the client accepts."""

from collections.abc import AsyncIterator, Sequence
from typing import Any

import msgspec

from kubevirt.apiserver.storage.records import Entry


class One(msgspec.Struct, frozen=True, kw_only=True):
    """An object as it is stored, and the revision it has; 0 if it was never stored (a dry run)."""

    value: bytes
    revision: int
    code: int = 200


class Many(msgspec.Struct, frozen=True, kw_only=True):
    entries: Sequence[Entry]
    revision: int
    continue_: str = ""
    remaining: int | None = None


class Flowing(msgspec.Struct, frozen=True, kw_only=True):
    """All that there is, however much, in pieces that need not be in memory together.

    A refusal may come with the first piece. With a later one it means that the answer took longer than
    the past is kept.
    """

    pieces: AsyncIterator[Sequence[Entry]]
    revision: int


class Plain(msgspec.Struct, frozen=True, kw_only=True):
    """A document that is not an object of the kind: a scale, a status."""

    document: dict[str, Any]
    code: int = 200


Result = One | Many | Flowing | Plain
