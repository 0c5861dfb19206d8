"""get and list. Nothing is decoded that nobody looks into."""

import base64
from collections.abc import AsyncIterator, Sequence
from typing import Final

import msgspec

from kubevirt.apiserver import refusals
from kubevirt.apiserver.refusals import Refusal, bad_request
from kubevirt.apiserver.registry import options, stored
from kubevirt.apiserver.registry.call import Call
from kubevirt.apiserver.registry.options import ListOptions
from kubevirt.apiserver.registry.registry import Registry
from kubevirt.apiserver.registry.results import Flowing, Many, One
from kubevirt.apiserver.registry.selectors import Selection
from kubevirt.apiserver.schema import gojson
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


async def list_(registry: Registry, call: Call) -> Many | Flowing:
    wanted = options.of_list(call)
    if wanted.resource_version == 0:
        # Any version: Kubernetes answers out of its memory, and at once.
        wanted = msgspec.structs.replace(wanted, limit=0)
    selection = Selection(call.kind, call.version, wanted.labels, wanted.fields)
    try:
        start = _start(registry, call, wanted)
        at = None if start else await _moment(registry, wanted)
        if not (wanted.limit or start or selection.name):
            return _all(registry, call, selection, registry.store.revision if at is None else at)
        if selection.is_everything:
            return await _page(registry, call, wanted, start, at)
        return await _picked(registry, call, wanted, selection, start, at)
    except Compacted as gone:
        if wanted.continue_:
            raise refusals.forgotten_page(_rest(call, wanted)) from gone
        raise refusals.forgotten_list() from gone


def _start(registry: Registry, call: Call, wanted: ListOptions) -> Position | None:
    if not wanted.continue_:
        return None
    start = _Token.read(wanted.continue_, call.prefix)
    return start._replace(revision=registry.store.revision) if start.revision == _NOW else start


def _rest(call: Call, wanted: ListOptions) -> str:
    """A token for the pages to come whose own version is forgotten."""
    start = _Token.read(wanted.continue_, call.prefix)
    return _Token.of(start._replace(revision=_NOW), call.prefix)


async def _moment(registry: Registry, wanted: ListOptions) -> int | None:
    """The revision to list at; None for the present."""
    version = wanted.resource_version
    if not version:
        return None
    await reach(registry, version)
    is_exact = wanted.match == "Exact" or (wanted.limit and not wanted.match)
    return version if is_exact else None


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


def _all(registry: Registry, call: Call, selection: Selection, revision: int) -> Flowing:
    async def pieces() -> AsyncIterator[Sequence[Entry]]:
        try:
            async for piece in registry.store.scan(call.prefix, at=revision):
                yield [entry for entry in piece if is_selected(entry, selection)]
        except Compacted as gone:
            raise refusals.forgotten_list() from gone

    return Flowing(pieces=pieces(), revision=revision)


async def _page(
    registry: Registry, call: Call, wanted: ListOptions, start: Position | None, at: int | None
) -> Many:
    page = await registry.store.list(call.prefix, limit=wanted.limit, at=at, start=start)
    if page.next is None:
        return Many(entries=page.entries, revision=page.revision)
    return Many(
        entries=page.entries,
        revision=page.revision,
        continue_=_Token.of(page.next, call.prefix),
        remaining=page.next.remaining,
    )


async def _picked(
    registry: Registry,
    call: Call,
    wanted: ListOptions,
    selection: Selection,
    start: Position | None,
    at: int | None,
) -> Many:
    """Page by page until enough are found. How many are left, nobody knows."""
    found: list[Entry] = []
    if selection.name and (call.namespace or not call.kind.namespaced) and not (at or start):
        entry = await registry.store.get(call.kind.key(call.namespace, selection.name))
        if entry and is_selected(entry, selection):
            found.append(entry)
        return Many(entries=found, revision=registry.store.revision)
    size = wanted.limit or 500
    while True:
        page = await registry.store.list(call.prefix, limit=size, at=at, start=start)
        for place, entry in enumerate(page.entries):
            if not is_selected(entry, selection):
                continue
            found.append(entry)
            if wanted.limit and len(found) == wanted.limit:
                is_last = page.next is None and place == len(page.entries) - 1
                after = Position(page.revision, entry.key, 0)
                token = "" if is_last else _Token.of(after, call.prefix)
                return Many(entries=found, revision=page.revision, continue_=token)
        if page.next is None:
            return Many(entries=found, revision=page.revision)
        start = page.next


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
