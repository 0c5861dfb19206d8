"""Bodies of requests: bytes to data, within limits, whatever was sent."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, TypeVar

import msgspec
from aiohttp import web

from kubevirt.apiserver import refusals
from kubevirt.apiserver.http import media
from kubevirt.apiserver.refusals import BODY_LIMIT, bad_request, refusal
from kubevirt.apiserver.registry.incoming import (
    Body,
    no_map,
    unhandled,
    unrecognized,
    unregistered,
)
from kubevirt.apiserver.schema import decoding, gojson, gotext, yamls

T = TypeVar("T")

_OPTIONS: Final = "DeleteOptions"
ASIDE_BYTES: Final = 64 << 10
"""From here on text is read or written beside the loop: nobody else shall wait for it."""
READ: Final = web.RequestKey("read", bytes)
"""Where a request keeps the body that was read of it."""


async def read(request: web.BaseRequest) -> bytes:
    """All of it, up to the limit."""
    if (request.content_length or 0) > BODY_LIMIT:
        raise refusals.too_large()
    await _ask_for(request)
    parts = []
    size = 0
    async for part in request.content.iter_any():
        size += len(part)
        if size > BODY_LIMIT:
            raise refusals.too_large()
        parts.append(part)
    request[READ] = b"".join(parts)
    return request[READ]


async def _ask_for(request: web.BaseRequest) -> None:
    """Some clients send a large body only once they hear that it is wanted."""
    if request.headers.get("Expect", "").lower() == "100-continue":
        await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        request.writer.output_size = 0  # as if nothing had been said: the answer is yet to come


async def aside(work: Callable[..., T], text: bytes, *more: object) -> T:
    """What `work` makes of a text."""
    if len(text) < ASIDE_BYTES:
        return work(text, *more)
    return await asyncio.to_thread(work, text, *more)


def content_type(request: web.BaseRequest) -> str:
    return request.headers.get("Content-Type", media.JSON).partition(";")[0].strip().lower()


class _Unreadable(Exception):  # noqa: N818  # it is what the body is
    """In the words of the decoder."""


def as_object(text: bytes, type_: str, kind: str, api_version: str = "") -> Body:
    """Of a create or an update. The kind is the one that is expected; what is sent in protobuf may
    leave it unsaid.
    """
    try:
        return _decoded(text, type_, kind, api_version)
    except _Unreadable as error:
        raise unrecognized(kind, str(error), text) from error


def _decoded(text: bytes, type_: str, kind: str, api_version: str) -> Body:
    match type_:
        case media.PROTOBUF:
            return _protobuf(text, kind, api_version)
        case media.YAML:
            return _yaml(text)
        case media.JSON | "":
            return _json(text)
    raise refusals.unsupported_media_type((*media.OFFERED, media.PROTOBUF))


def _json(text: bytes) -> Body:
    try:
        value = decoding.decode(text)
    except msgspec.DecodeError as error:
        words = f"couldn't get version/kind; json parse error: {_complaint(text, error)}"
        raise _Unreadable(words) from error
    return Body(value=value, duplicates=decoding.duplicate_fields(text, value), text=text)


def _complaint(text: bytes, error: msgspec.DecodeError) -> str:
    """As Go's decoder would say it."""
    if isinstance(error, decoding.TooDeep):
        return gojson.too_deep(text, decoding.DEPTH_LIMIT)
    return str(error) if str(error).startswith("json: ") else gojson.complaint(text)


def _yaml(text: bytes) -> Body:
    try:
        value, repeated = yamls.read(text)
    except yamls.BadYaml as error:
        raise _Unreadable(str(error)) from error
    # An empty document is an object that says nothing.
    return Body(value={} if value is None else value, repeated=repeated, text=text)


def _protobuf(text: bytes, kind: str, api_version: str) -> Body:
    from kubevirt.apiserver.wire import envelope  # noqa: PLC0415  # see there

    try:
        value = envelope.read(text, api_version=api_version, kind=kind)
    except envelope.MalformedObject as error:
        raise unhandled(error.kind, error.api_version, kind, str(error)) from error
    except envelope.Malformed as error:
        raise _Unreadable(str(error)) from error
    return Body(value=value, text=text)


def as_patch(text: bytes, type_: str) -> Body:
    if type_ == media.APPLY_PATCH:
        return _configuration(text)
    try:
        value = decoding.decode(text)
    except msgspec.DecodeError as error:
        # Kubernetes says so for all languages but one.
        prefix = "" if type_ == media.STRATEGIC_PATCH else "error decoding patch: "
        raise bad_request(f"{prefix}{_complaint(text, error)}") from error
    return Body(value=value, duplicates=decoding.duplicate_fields(text, value), text=text)


def _configuration(text: bytes) -> Body:
    """Of an apply: YAML, which JSON is, too. JSON that says nothing twice is read as what it is."""
    if text.lstrip().startswith(b"{"):
        with suppress(_Unreadable):  # YAML is more patient, and has words of its own
            if not (found := _json(text)).duplicates:
                return found
    try:
        found = _yaml(text)
    except _Unreadable as error:
        words = f"error decoding YAML: error converting YAML to JSON: {error}"
        raise bad_request(words) from error
    if not isinstance(found.value, dict):
        has = gotext.kind_of(found.value)
        words = f"json: cannot unmarshal {has} into Go value of type map[string]interface {{}}"
        raise bad_request(
            f"error decoding YAML: error unmarshaling JSON: while decoding JSON: {words}"
        )
    return found


def as_options(text: bytes, type_: str) -> dict[str, Any] | None:
    """Of a deletion; none is as good as any. What cannot be read is Kubernetes' own fault, it says."""
    if not text.strip():
        return None
    try:
        value = _decoded(text, type_, _OPTIONS, "v1").value
    except _Unreadable as error:
        raise refusal(500, "", str(error)) from error
    if not isinstance(value, dict):
        raise refusal(500, "", no_map(value))
    kind = value.get("kind") or _OPTIONS
    if kind != _OPTIONS:
        raise refusal(500, "", unregistered(value.get("apiVersion") or "v1", kind))
    return value
