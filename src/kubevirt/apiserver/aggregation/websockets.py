"""A websocket of a client and one of a callee, joined: what comes out of one goes into the other.

Messages, pings, pongs and the code and reason of the end are passed on as they are. Each direction waits for
the slower side, so a client that does not read stops the callee, and nothing piles up in between. Whoever
vanishes without a word is told to the callee as going away; a client just loses its connection, as it would
have.
"""

from collections.abc import Iterable
from contextlib import suppress
from typing import Final

import aiohttp
from aiohttp import web
from yarl import URL

from kubevirt.apiserver.aggregation import headers
from kubevirt.apiserver.callees.callees import Way
from kubevirt.apiserver.http.audited import begin
from kubevirt.base.clock import Clock
from kubevirt.base.errors import KubevirtError
from kubevirt.base.tasks import first_of

MESSAGE_LIMIT: Final = 4 << 20
"""Bytes of one message, which has to be held whole. A longer one ends the connection with 1009."""
REFUSAL_LIMIT: Final = 64 << 10
"""Bytes that are passed on of why a callee does not want to."""
CLOSE_S: Final = 3.0
"""For the other side to say goodbye too, whatever else it is saying."""

_Socket = web.WebSocketResponse | aiohttp.ClientWebSocketResponse


class HandshakeRefused(KubevirtError):  # noqa: N818  # it is an answer
    """The callee answers, but not with a websocket."""

    def __init__(self, status: int, pairs: Iterable[tuple[str, str]], body: bytes) -> None:
        super().__init__(f"a websocket was refused with {status}")
        self.status = status
        self.headers = list(pairs)
        self.body = body


class _End:
    """How one side ended; without a code if it just vanished."""

    def __init__(self, code: int | None = None, reason: str = "") -> None:
        self.code = code
        self.reason = reason.encode()


async def join(
    request: web.BaseRequest, way: Way, url: URL | str, onward: list[tuple[str, str]], clock: Clock
) -> web.StreamResponse:
    wanted = headers.protocols(request.headers.items())
    async with aiohttp.ClientSession(
        connector=way.session.connector,
        connector_owner=False,
        timeout=way.session.timeout,
        cookie_jar=aiohttp.DummyCookieJar(),
        raise_for_status=_check,
    ) as session:
        callee = await session.ws_connect(
            url,
            headers=onward,
            protocols=wanted,
            autoping=False,
            autoclose=False,
            max_msg_size=MESSAGE_LIMIT,
            timeout=aiohttp.ClientWSTimeout(ws_close=CLOSE_S),
        )
        try:
            client = web.WebSocketResponse(
                protocols=[callee.protocol] if callee.protocol else (),
                autoping=False,
                autoclose=False,
                compress=False,
                max_msg_size=MESSAGE_LIMIT,
                timeout=CLOSE_S,
            )
            await begin(request, client)
            await _joined(request, client, callee, clock)
        finally:
            # Without effect if it was closed already.
            await _closed(callee, _End(aiohttp.WSCloseCode.GOING_AWAY), clock)
    return client


async def _joined(
    request: web.BaseRequest,
    client: web.WebSocketResponse,
    callee: aiohttp.ClientWebSocketResponse,
    clock: Clock,
) -> None:
    end = await first_of(_pumped(client, callee), _pumped(callee, client))
    if end.code is None:
        if request.transport:
            request.transport.abort()
        return
    # The client last: when it has heard of the end, it may leave before we are done.
    await _closed(callee, end, clock)
    await _closed(client, end, clock)


async def _closed(side: _Socket, end: _End, clock: Clock) -> None:
    with suppress(TimeoutError):
        async with clock.timeout(CLOSE_S):
            await side.close(code=end.code or aiohttp.WSCloseCode.OK, message=end.reason)


async def _pumped(source: _Socket, target: _Socket) -> _End:
    """Passes on what comes until one of both has ended."""
    while True:
        message = await source.receive()
        try:
            match message.type:
                case aiohttp.WSMsgType.TEXT:
                    await target.send_str(message.data)
                case aiohttp.WSMsgType.BINARY:
                    await target.send_bytes(message.data)
                case aiohttp.WSMsgType.PING:
                    await target.ping(message.data)
                case aiohttp.WSMsgType.PONG:
                    await target.pong(message.data)
                case aiohttp.WSMsgType.CLOSE:
                    return _End(message.data or aiohttp.WSCloseCode.OK, message.extra or "")
                case aiohttp.WSMsgType.ERROR if isinstance(message.data, aiohttp.WebSocketError):
                    return _End(message.data.code, str(message.data))
                case _:
                    return _End()
        except (aiohttp.ClientConnectionResetError, ConnectionError):
            return _End()


async def _check(answer: aiohttp.ClientResponse) -> None:
    if answer.status != 101:
        body = await answer.content.read(REFUSAL_LIMIT)
        answer.close()
        raise HandshakeRefused(answer.status, answer.headers.items(), body)
