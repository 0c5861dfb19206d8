"""get and list. Nothing is decoded that nobody looks into."""

import base64
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Final

import msgspec

from kubevirt.apiserver import refusals
from kubevirt.apiserver.refusals import Refusal, bad_request
from kubevirt.apiserver.registry import options, stored
from kubevirt.apiserver.registry.call import Call
from kubevirt.apiserver.registry.options import ListOptions
from kubevirt.apiserver.registry.registry import Registry
from kubevirt.apiserver.registry.results import Flowing, One, Rest
from kubevirt.apiserver.registry.selectors import Selection
from kubevirt.apiserver.schema import gojson, names
from kubevirt.apiserver.storage.errors import Compacted
from kubevirt.apiserver.storage.records import Entry, Position

FUTURE_WAIT_S: Final = 3.0
"""How long a list waits for a version that has not happened yet."""


async def get(registry: Registry, call: Call) -> One:
    wanted = options.of_list(call).resource_version
    if wanted:
        await reach(registry, wanted)
    entry = await registry.store.get(call.key)
    if entry is None:
        raise refusals.not_found(call.kind, call.name)
    return One(value=entry.value, revision=entry.revision)


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """What a list is about, and when: decided before anything is read, so that it can be read twice."""

    prefix: str
    selection: Selection
    revision: int
    key: str = ""
    """Of the one object that may be in it."""
    limit: int = 0
    start: Position | None = None
    """What the page before said comes next."""


async def list_(registry: Registry, call: Call) -> Flowing:
    return flowing(registry, await part(registry, call))


async def part(registry: Registry, call: Call) -> Part:
    """What the query asks for."""
    wanted = options.of_list(call)
    selection = Selection(call.kind, call.version, wanted.labels, wanted.fields)
    key = _only_key(call, selection)
    start = None if key else _start(registry, call, wanted)
    if start is not None:
        revision = start.revision
    else:
        revision = await _moment(registry, wanted, is_one=bool(key))
    return Part(
        prefix=call.prefix,
        selection=selection,
        revision=revision,
        key=key,
        # Any version: Kubernetes answers out of its memory, and at once.
        limit=0 if wanted.resource_version == 0 else wanted.limit,
        start=start,
    )


def _only_key(call: Call, selection: Selection) -> str:
    """Of the object that is asked for by its name, where that alone says which it is."""
    name, kind = selection.name, call.kind
    is_known = bool(name) and (bool(call.namespace) or not kind.namespaced)
    if not is_known or names.path_segment(name) or "\0" in name:
        return ""
    return kind.key(call.namespace, name)


def _start(registry: Registry, call: Call, wanted: ListOptions) -> Position | None:
    if not wanted.continue_:
        return None
    start = _Token.read(wanted.continue_, call.prefix)
    if wanted.resource_version:
        raise bad_request("specifying resource version is not allowed when using continue")
    return start._replace(revision=registry.store.revision) if start.revision == _NOW else start


async def _moment(registry: Registry, wanted: ListOptions, *, is_one: bool) -> int:
    """The revision to list at."""
    version = wanted.resource_version
    if version:
        await reach(registry, version)
        is_page = wanted.limit and not is_one
        if wanted.match == "Exact" or (is_page and not wanted.match):
            return version
    return registry.store.revision


async def reach(registry: Registry, version: int) -> None:
    """Waits a moment for a version of the future: the client may have it from who knows more."""
    store, clock = registry.store, registry.clock
    if version <= store.revision:
        return
    try:
        async with clock.timeout(FUTURE_WAIT_S):
            await store.reach(version)
    except TimeoutError as error:
        raise refusals.future_version(version, store.revision) from error


def flowing(registry: Registry, part: Part) -> Flowing:
    if part.key:
        return Flowing(pieces=_one(registry, part), revision=part.revision)
    rest = Rest() if part.limit else None
    pieces = _page(registry, part, rest) if rest else _all(registry, part)
    return Flowing(pieces=_told(pieces, part), revision=part.revision, rest=rest)


_Pieces = AsyncGenerator[Sequence[Entry], None]


async def _told(pieces: _Pieces, part: Part) -> _Pieces:
    """With a past that is forgotten as a refusal."""
    try:
        async with aclosing(pieces):
            async for piece in pieces:
                yield piece
    except Compacted as gone:
        if part.start:
            # The pages to come may be had all the same, at no certain version.
            token = _Token.of(part.start._replace(revision=_NOW), part.prefix)
            raise refusals.forgotten_page(token) from gone
        raise refusals.forgotten_list() from gone


async def _one(registry: Registry, part: Part) -> _Pieces:
    try:
        entry = await registry.store.get(part.key, at=part.revision)
    except Compacted as gone:
        raise refusals.forgotten_list() from gone
    if entry and is_selected(entry, part.selection):
        yield [entry]


async def _all(registry: Registry, part: Part) -> _Pieces:
    after = part.start.after if part.start else ""
    async for piece in registry.store.scan(part.prefix, at=part.revision, after=after):
        yield _picked(piece, part.selection)


async def _page(registry: Registry, part: Part, rest: Rest) -> _Pieces:
    """Until enough are found. It is the last one only if nothing at all is behind it."""
    left, last = part.limit, ""
    after = part.start.after if part.start else ""
    async for piece in registry.store.scan(part.prefix, at=part.revision, after=after):
        if not left:
            break
        picked = _picked(piece, part.selection)[:left]
        left -= len(picked)
        last = picked[-1].key if picked else last
        yield picked
        if not left and last != piece[-1].key:
            break
    else:
        return
    await _leave(registry, part, rest, last)


async def _leave(registry: Registry, part: Part, rest: Rest, last: str) -> None:
    """Says what is behind a page. How many of a selection, nobody knows."""
    if part.selection.is_everything:
        rest.remaining = (
            max(part.start.remaining - part.limit, 0)
            if part.start
            else await registry.store.count(part.prefix, after=last, at=part.revision)
        )
    rest.continue_ = _Token.of(Position(part.revision, last, rest.remaining), part.prefix)


def _picked(entries: Sequence[Entry], selection: Selection) -> Sequence[Entry]:
    if selection.is_everything:
        return entries
    return [entry for entry in entries if is_selected(entry, selection)]


def is_selected(entry: Entry, selection: Selection) -> bool:
    return selection.is_everything or stored.object_of(entry, "") in selection


_OUR_VERSION: Final = "meta.k8s.io/v1"
_NOW: Final = -1
"""In a token: at no certain version."""


def _bad_token(why: str) -> Refusal:
    return bad_request(f"invalid continue token: continue key is not valid: {why}")


class _Token(msgspec.Struct, frozen=True):
    """Where a list goes on. Clients give it back as they got it."""

    v: str = ""
    rv: int = 0
    start: str = ""
    left: int = 0

    @staticmethod
    def of(position: Position, prefix: str) -> str:
        start = position.after.removeprefix(prefix)
        token = _Token(_OUR_VERSION, position.revision, start, max(position.remaining, 0))
        return base64.urlsafe_b64encode(msgspec.json.encode(token)).decode().rstrip("=")

    @staticmethod
    def read(text: str, prefix: str) -> Position:
        said = b""
        try:
            said = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
            token = msgspec.json.decode(said, type=_Token)
        except msgspec.ValidationError as error:
            raise _bad_token("server does not recognize this encoded version ") from error
        except msgspec.DecodeError as error:
            raise _bad_token(gojson.complaint(said)) from error
        except ValueError as error:
            raise _bad_token(str(error)) from error
        if token.v != _OUR_VERSION:
            raise _bad_token(f"server does not recognize this encoded version {token.v}")
        if "\0" in token.start or not token.start:
            raise _bad_token("it names no key")
        return Position(token.rv, prefix + token.start, token.left)
