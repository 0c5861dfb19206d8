"""What comes with a request: read no further than a limit, and no longer than one."""

from typing import Final, TypeVar

import msgspec
from aiohttp import web

from kubevirt.base.clock import Clock
from kubevirt.virt.commands.refusal import bad_request, too_large

T = TypeVar("T")

OPTIONS_LIMIT: Final = 64 << 10
"""Of a start and the like: a few words."""
MACHINE_LIMIT: Final = 3 << 20
"""The largest object that an API server takes."""
REVIEW_LIMIT: Final = 8 << 20
"""An object as it was and as it shall be, and what goes around them."""
READ_S: Final = 30.0


async def read(request: web.BaseRequest, limit: int, clock: Clock) -> bytes:
    if (request.content_length or 0) > limit:
        raise too_large(limit)
    pieces = bytearray()
    try:
        async with clock.timeout(READ_S):
            async for piece in request.content.iter_any():
                pieces += piece
                if len(pieces) > limit:
                    raise too_large(limit)
    except TimeoutError:
        raise bad_request(f"the body of the request did not come within {READ_S:g} s") from None
    return bytes(pieces)


async def options(request: web.BaseRequest, kind: type[T], clock: Clock) -> T:
    """The options of a call; all have defaults, so no body is as good as an empty one, and so is what Go makes of
    options that are not there.
    """
    body = (await read(request, OPTIONS_LIMIT, clock)).strip()
    try:
        return msgspec.json.decode(b"{}" if body in (b"", b"null") else body, type=kind)
    except (msgspec.DecodeError, RecursionError) as error:
        raise bad_request(f"Can not unmarshal Request body to struct, error: {error}") from None


def is_dry(values: tuple[str, ...]) -> bool:
    """`All` or nothing, as in Kubernetes."""
    if values not in ((), ("All",)):
        raise bad_request('dryRun can only be ["All"]')
    return bool(values)
