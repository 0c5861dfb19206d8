"""Whether a request went over a connection that had been used before.

A callee may close one while nobody uses it, and the next request over it fails though the callee is well.
That one may be sent again; a request over a fresh connection may not: the callee has seen it.

    reuse = Reuse()
    async with session.post(…, trace_request_ctx=reuse):
        …
"""

from types import SimpleNamespace

import aiohttp


class Reuse:
    def __init__(self) -> None:
        self.is_reused = False


def noting_reuse() -> aiohttp.TraceConfig:
    """For a session whose requests want to know."""
    config = aiohttp.TraceConfig()
    config.on_connection_reuseconn.append(_note)
    return config


async def _note(
    _session: aiohttp.ClientSession,
    context: SimpleNamespace,
    _params: aiohttp.TraceConnectionReuseconnParams,
) -> None:
    if isinstance(context.trace_request_ctx, Reuse):
        context.trace_request_ctx.is_reused = True
