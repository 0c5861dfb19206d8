"""Answers as HTTP: their headers, their compression, and lists that go out piece by piece."""

import asyncio
import zlib
from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Final

from aiohttp import web

from kubevirt.api.meta import Status
from kubevirt.apiserver.http import answers, media, warnings
from kubevirt.apiserver.http.audited import begin

GZIP_FROM: Final = 128 * 1024
"""Bytes from which an answer is compressed: below that it costs more than it saves. Also how much of a
list is gathered before it goes out."""


def headers(warned: Iterable[str] = ()) -> list[tuple[str, str]]:
    fixed = [("Cache-Control", "no-cache, private")]
    return fixed + [("Warning", each) for each in warnings.shown(warned)]


def refused(status: Status, warned: Sequence[str] = ()) -> web.Response:
    body = answers.encode(answers.status(status))
    response = web.Response(body=body, status=status.code or 500, content_type=media.JSON)
    response.headers.extend(headers(warned))
    if status.details and status.details.retry_after_seconds:
        response.headers["Retry-After"] = str(status.details.retry_after_seconds)
    return response


async def whole(request: web.BaseRequest, body: bytes, type_: str, code: int = 200) -> web.Response:
    found = {"Content-Type": type_}
    if len(body) >= GZIP_FROM and _takes_gzip(request):
        packer = _packer()
        # Beside the loop: the library lets go of Python's lock while it works.
        body = await asyncio.to_thread(packer.compress, body) + packer.flush()
        found |= {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
    return web.Response(body=body, status=code, headers=found)


async def flowing(
    request: web.BaseRequest, pieces: AsyncIterator[bytes], type_: str, warned: Iterable[str]
) -> web.StreamResponse:
    """What is short goes out whole. What is long is never in memory at once, and if it cannot be
    finished, its connection is cut: half of a list must not be taken for a list.
    """
    part = await _gathered(pieces)
    if len(part) < GZIP_FROM:
        response = await whole(request, part, type_)
        response.headers.extend(headers(warned))
        return response
    stream = web.StreamResponse(headers=[("Content-Type", type_), *headers(warned)])
    stream.enable_chunked_encoding()
    packer = _packer() if _takes_gzip(request) else None
    if packer:
        stream.headers.update({"Content-Encoding": "gzip", "Vary": "Accept-Encoding"})
    try:
        await begin(request, stream)
        while part:
            if packer:
                part = await asyncio.to_thread(packer.compress, part)
            await stream.write(part)
            part = await _gathered(pieces)
        await stream.write_eof(packer.flush() if packer else b"")
    except BaseException:
        if request.transport is not None:
            request.transport.abort()
        raise
    return stream


async def _gathered(pieces: AsyncIterator[bytes]) -> bytes:
    """As much as is worth a turn of its own; less means that there is no more."""
    found: list[bytes] = []
    size = 0
    async for piece in pieces:
        found.append(piece)
        size += len(piece)
        if size >= GZIP_FROM:
            break
    return b"".join(found)


def _packer() -> "zlib._Compress":
    return zlib.compressobj(1, zlib.DEFLATED, 16 + zlib.MAX_WBITS)


def _takes_gzip(request: web.BaseRequest) -> bool:
    return "gzip" in request.headers.get("Accept-Encoding", "")
