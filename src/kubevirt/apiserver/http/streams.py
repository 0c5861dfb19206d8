"""Watches on the wire: a JSON object a line, for as long as the client stays and its time lasts."""

import random
from typing import Final

from aiohttp import web

from kubevirt.apiserver.http import media
from kubevirt.apiserver.http.answers import Answers, error_frame
from kubevirt.apiserver.http.audited import begin
from kubevirt.apiserver.refusals import Refusal
from kubevirt.apiserver.registry.watching import Watching
from kubevirt.apiserver.storage.errors import StoreClosed, WatcherTooSlow
from kubevirt.base.clock import Clock
from kubevirt.base.log import get_logger

log = get_logger(__name__)

LEAST_S: Final = 1800
"""A watch without a time limit gets one, between this and twice as long, so that clients that came
together do not all come again together."""


async def stream(
    request: web.BaseRequest,
    response: web.StreamResponse,
    watching: Watching,
    answers: Answers,
    clock: Clock,
) -> web.StreamResponse:
    limit_s = watching.options.timeout_s or LEAST_S * (1 + random.random())  # noqa: S311  # no secret
    deadline = clock.monotonic() + limit_s
    response.content_type = media.JSON
    response.enable_chunked_encoding()
    await begin(request, response)
    try:
        async with clock.timeout(limit_s):
            async for sights in watching.sights(deadline):
                for piece in answers.frames(sights):
                    await response.write(piece)
    except TimeoutError:
        pass
    except Refusal as refused:
        await response.write(error_frame(refused.status))
    except (WatcherTooSlow, StoreClosed) as error:
        log.info("a watch was cut", reason=str(error))
    except ConnectionError:
        return response  # the client has left
    await response.write_eof()
    return response
