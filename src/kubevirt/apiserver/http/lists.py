"""Lists written down piece by piece: what went out is forgotten, and others get their turn in between.

What a page leaves for the next one is known at its end. A short page waits for that, and is written as Kubernetes
writes it; of a long one the metadata comes behind the items.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any, Final

import msgspec

from kubevirt.apiserver.http import answers, media
from kubevirt.apiserver.http.answers import Answers
from kubevirt.apiserver.registry.results import Flowing

AHEAD_BYTES: Final = 128 << 10
"""Of a page that waits for its end."""

_Items = AsyncGenerator[Sequence[bytes], None]
_Text = AsyncGenerator[bytes, None]


async def pieces(result: Flowing, writer: Answers, type_: str) -> _Text:
    async with aclosing(_items(result, writer)) as items:
        ahead, is_known = await _ahead(result, items)
        write = _as_yaml if type_ == media.YAML else _as_json
        async with (
            aclosing(_joined(ahead, items)) as all_,
            aclosing(write(result, writer, all_, is_known=is_known)) as text,
        ):
            async for piece in text:
                yield piece


async def _ahead(result: Flowing, items: _Items) -> tuple[list[bytes], bool]:
    """The first items of a page, and whether the metadata is known by then."""
    ahead: list[bytes] = []
    size = 0
    if result.rest is None:
        return ahead, True
    async for some in items:
        ahead += some
        size += sum(map(len, some))
        if size >= AHEAD_BYTES:
            return ahead, False
    return ahead, True


async def _joined(ahead: Sequence[bytes], items: _Items) -> _Items:
    if ahead:
        yield ahead
    async for some in items:
        yield some


def _metadata(result: Flowing) -> dict[str, Any]:
    metadata: dict[str, Any] = {"resourceVersion": str(result.revision)}
    if result.rest and result.rest.continue_:
        metadata["continue"] = result.rest.continue_
        if result.rest.remaining:
            metadata["remainingItemCount"] = result.rest.remaining
    return metadata


async def _items(result: Flowing, writer: Answers) -> _Items:
    async with aclosing(result.pieces) as found:
        async for entries in found:
            if entries:
                yield writer.items(entries)


async def _as_json(result: Flowing, writer: Answers, items: _Items, *, is_known: bool) -> _Text:
    yield writer.opening(_metadata(result) if is_known else None)
    mark = b""
    async for some in items:
        yield mark + b",".join(some)
        mark = b","
    yield answers.closing(None if is_known else _metadata(result))


async def _as_yaml(result: Flowing, writer: Answers, items: _Items, *, is_known: bool) -> _Text:
    """Its fields are in the order of their names, so the items stand between the others."""
    opening = writer.opening(_metadata(result) if is_known else None)
    frame: dict[str, Any] = msgspec.json.decode(opening + answers.closing())
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
    rest = {key: value for key, value in frame.items() if key > name}
    if not is_known:
        rest["metadata"] = _metadata(result)
    if rest:
        yield answers.yaml_of(rest)
