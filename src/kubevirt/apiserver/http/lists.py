"""Lists written down piece by piece: what went out is forgotten, and others get their turn in between."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from typing import Any, Final

import msgspec

from kubevirt.apiserver.http import answers, media
from kubevirt.apiserver.http.answers import Answers
from kubevirt.apiserver.registry.results import Flowing, Many
from kubevirt.apiserver.storage.records import Entry

PIECE: Final = 64
"""Entries of a page that are written in one turn."""


async def pieces(
    result: Many | Flowing, writer: Answers, type_: str
) -> AsyncGenerator[bytes, None]:
    opening = writer.opening(_metadata(result))
    async with aclosing(_items(result, writer)) as items:
        if type_ == media.YAML:
            async for piece in _as_yaml(opening, items):
                yield piece
            return
        yield opening
        mark = b""
        async for some in items:
            yield mark + b",".join(some)
            mark = b","
        yield answers.CLOSING


def _metadata(result: Many | Flowing) -> dict[str, Any]:
    metadata: dict[str, Any] = {"resourceVersion": str(result.revision)}
    if isinstance(result, Many) and result.continue_:
        metadata["continue"] = result.continue_
        if result.remaining:
            metadata["remainingItemCount"] = result.remaining
    return metadata


async def _items(result: Many | Flowing, writer: Answers) -> AsyncGenerator[Sequence[bytes], None]:
    found = result.pieces if isinstance(result, Flowing) else _parts(result.entries)
    async for entries in found:
        if entries:
            yield writer.items(entries)


async def _parts(entries: Sequence[Entry]) -> AsyncIterator[Sequence[Entry]]:
    for start in range(0, len(entries), PIECE):
        if start:
            await asyncio.sleep(0)
        yield entries[start : start + PIECE]


async def _as_yaml(opening: bytes, items: AsyncIterator[Sequence[bytes]]) -> AsyncIterator[bytes]:
    """Its fields are in the order of their names, so the items stand between the others."""
    frame: dict[str, Any] = msgspec.json.decode(opening + answers.CLOSING)
    name = answers.ROWS if answers.ROWS in frame else answers.ITEMS
    yield answers.yaml_of({key: value for key, value in frame.items() if key < name})
    is_empty = True
    async for some in items:
        for item in some:
            if is_empty:
                yield f"{name}:\n".encode()
            is_empty = False
            yield answers.yaml_of([msgspec.json.decode(item)])
            await asyncio.sleep(0)  # it is slow: each is a turn
    if is_empty:
        yield f"{name}: []\n".encode()
    if rest := {key: value for key, value in frame.items() if key > name}:
        yield answers.yaml_of(rest)
