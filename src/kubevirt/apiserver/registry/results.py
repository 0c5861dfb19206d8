"""What a verb gives back, before it is written down in the form that the client accepts."""

from collections.abc import AsyncGenerator, Sequence
from typing import Any

import msgspec

from kubevirt.apiserver.storage.records import Entry


class One(msgspec.Struct, frozen=True, kw_only=True):
    """An object as it is stored, and the revision it has; 0 if it was never stored (a dry run)."""

    value: bytes
    revision: int
    code: int = 200


class Rest(msgspec.Struct, kw_only=True):
    """What a page leaves: known when its last piece was taken."""

    continue_: str = ""
    remaining: int = 0
    """How many objects; 0 where nobody has counted."""


class Flowing(msgspec.Struct, frozen=True, kw_only=True):
    """A list, however long, in pieces that need not be in memory together.

    A refusal may come with the first piece. With a later one it means that the answer took longer than
    the past is kept.
    """

    pieces: AsyncGenerator[Sequence[Entry], None]
    revision: int
    rest: Rest | None = None
    """Of a page; None of all that there is."""


class Plain(msgspec.Struct, frozen=True, kw_only=True):
    """A document that is not an object of the kind: a scale, a status."""

    document: dict[str, Any]
    code: int = 200


Result = One | Flowing | Plain
