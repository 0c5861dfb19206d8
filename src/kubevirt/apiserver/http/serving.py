"""A port on which the front is reached."""

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from aiohttp import web

from kubevirt.apiserver.http.audited import Handler

LINE_LIMIT: Final = 64 * 1024
"""Bytes of a request line and of each header: selectors can be long."""
SHUTDOWN_S: Final = 1.0
"""How long open requests may take to end when the server does. Watches end at once."""


@asynccontextmanager
async def listening(
    front: Handler, host: str, port: int, tls: ssl.SSLContext | None = None
) -> AsyncIterator[int]:
    """Gives the port, which the system chooses if it was 0."""
    server = web.Server(
        front.handle,
        handler_cancellation=True,  # a client that leaves takes its watch with it
        access_log=None,
        max_line_size=LINE_LIMIT,
        max_field_size=LINE_LIMIT,
        auto_decompress=True,
    )
    runner = web.ServerRunner(server, shutdown_timeout=SHUTDOWN_S)
    await runner.setup()
    try:
        site = web.TCPSite(runner, host, port, ssl_context=tls, backlog=1024)
        await site.start()
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()
