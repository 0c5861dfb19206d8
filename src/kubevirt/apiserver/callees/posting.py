"""A question posted to a callee, and its answer, read no further than a limit."""

from typing import Final

import aiohttp
import msgspec

from kubevirt.apiserver.callees import words
from kubevirt.apiserver.callees.callee import Callee
from kubevirt.apiserver.callees.callees import Callees, Way
from kubevirt.apiserver.callees.errors import CalleeAway
from kubevirt.apiserver.callees.reuse import Reuse
from kubevirt.apiserver.schema import gotext

_HEADERS: Final = {
    "Accept": "application/json, */*",
    "Content-Type": "application/json",
    "User-Agent": "kube-apiserver-admission",  # some let nobody else in
}


class Posted(msgspec.Struct, frozen=True, kw_only=True):
    """What came back."""

    status: int
    content_type: str
    body: bytes


async def post(
    callees: Callees, callee: Callee, target: str, question: bytes, *, limit: int
) -> Posted:
    """Raises `CalleeAway`. How long it may take is the caller's to say."""
    try:
        async with callees.reached(callee) as way:
            while True:
                reuse = Reuse()
                try:
                    return await _posted(way, target, question, limit, reuse)
                except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError):
                    # One that was closed while nobody used it; the others of its age may be, too.
                    if not reuse.is_reused:
                        raise
    except CalleeAway as error:
        raise not_posted(callee, target, str(error)) from error
    except (aiohttp.ClientError, OSError) as error:
        raise not_posted(callee, target, words.of(error, callee)) from error


async def _posted(way: Way, target: str, question: bytes, limit: int, reuse: Reuse) -> Posted:
    async with way.session.post(
        way.origin + target,
        data=question,
        headers=_HEADERS,
        skip_auto_headers=("Accept-Encoding",),
        allow_redirects=False,
        trace_request_ctx=reuse,
    ) as response:
        return Posted(
            status=response.status,
            content_type=response.headers.get("Content-Type", ""),
            body=await _read(response, limit),
        )


def not_posted(callee: Callee, target: str, cause: str) -> CalleeAway:
    return CalleeAway(f"Post {gotext.quoted(callee.origin + target)}: {cause}")


async def _read(response: aiohttp.ClientResponse, limit: int) -> bytes:
    pieces = bytearray()
    async for piece in response.content.iter_any():
        pieces += piece
        if len(pieces) > limit:
            response.close()
            raise CalleeAway(f"the answer is larger than {limit} bytes")
    return bytes(pieces)
