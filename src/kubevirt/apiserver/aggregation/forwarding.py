"""Requests and answers on their way to a callee and back, streamed: nothing is kept whole.

What the callee answers is what the client gets, but for what belongs to one connection only. Whoever
leaves takes the other connection with them. What we say in the callee's place is plain text, as in
Kubernetes.
"""

from typing import Final
from urllib.parse import quote, unquote

import aiohttp
from aiohttp import web
from yarl import URL

from kubevirt.apiserver.aggregation import headers
from kubevirt.apiserver.aggregation.registration import Registration
from kubevirt.apiserver.aggregation.websockets import HandshakeRefused, join
from kubevirt.apiserver.callees import words
from kubevirt.apiserver.callees.callee import Callee, ClientFiles
from kubevirt.apiserver.callees.callees import Callees, Way
from kubevirt.apiserver.callees.errors import CalleeAway, NoAddress
from kubevirt.apiserver.http.audited import ID, ID_HEADER, begin
from kubevirt.apiserver.refusals import bad_request
from kubevirt.apiserver.registry.identity import Identity
from kubevirt.base.clock import Clock
from kubevirt.base.log import get_logger

log = get_logger(__name__)

DISCOVERY_S: Final = 5.0
"""For an answer about what is served: everybody waits for it who asks for anything."""
UNAVAILABLE: Final = "service unavailable"
REDIRECT: Final = "the backend attempted to redirect this request, which is not permitted"
_PATH_CHARACTERS: Final = "/$&+,:;=@"
"""What stands for itself in a path, as Go writes one."""
_NOTHING_ADDED: Final = ("Accept", "Accept-Encoding", "Content-Type", "User-Agent")


class Forwarder:
    def __init__(self, callees: Callees, client: ClientFiles | None, clock: Clock) -> None:
        self._callees = callees
        self._client = client
        self._clock = clock

    async def forward(
        self, request: web.BaseRequest, identity: Identity, registration: Registration
    ) -> web.StreamResponse:
        if not registration.is_available:
            return said(503, UNAVAILABLE)
        callee = registration.callee(self._client)
        try:
            async with self._callees.reached(callee) as way:
                if protocol := headers.upgrade(request.headers.items()):
                    return await self._upgraded(request, identity, callee, way, protocol)
                return await self._answered(request, identity, callee, way)
        except NoAddress as error:
            log.info("a callee has no address", api_service=registration.name, reason=str(error))
            return said(503, UNAVAILABLE)
        except CalleeAway as error:
            return said(500, str(error))

    async def _answered(
        self, request: web.BaseRequest, identity: Identity, callee: Callee, way: Way
    ) -> web.StreamResponse:
        limit_s = DISCOVERY_S if request.rel_url.raw_path.strip("/").count("/") == 2 else None
        try:
            async with (
                self._clock.timeout(limit_s),
                way.session.request(
                    request.method,
                    _url(way, request),
                    headers=_onward(request, identity),
                    data=request.content if request.can_read_body else None,
                    skip_auto_headers=_NOTHING_ADDED,
                    allow_redirects=False,
                ) as answer,
            ):
                if 300 <= answer.status < 400 and "Location" in answer.headers:
                    return said(502, REDIRECT)
                return await _copied(request, answer)
        except (aiohttp.ClientError, OSError) as error:  # a TimeoutError is one of the latter
            return said(503, f"error trying to reach service: {words.of(error, callee)}")

    async def _upgraded(
        self, request: web.BaseRequest, identity: Identity, callee: Callee, way: Way, protocol: str
    ) -> web.StreamResponse:
        if protocol != "websocket":
            raise bad_request(
                f"this server passes on websockets and no other protocol; an upgrade to {protocol} was asked for"
            )
        try:
            onward = _onward(request, identity)
            return await join(request, way, _url(way, request), onward, self._clock)
        except HandshakeRefused as refused:
            if refused.status < 400:
                return said(503, f"invalid upgrade response: status code {refused.status}")
            pairs = headers.back(refused.headers)
            kept = [each for each in pairs if each[0].lower() != "content-length"]
            return web.Response(status=refused.status, headers=kept, body=refused.body)
        except (aiohttp.ClientError, OSError) as error:
            return said(503, f"error dialing backend: {words.of(error, callee)}")


async def _copied(request: web.BaseRequest, answer: aiohttp.ClientResponse) -> web.StreamResponse:
    pairs = [*headers.back(answer.headers.items()), *_audited(request)]
    response = web.StreamResponse(status=answer.status, reason=answer.reason, headers=pairs)
    await begin(request, response)
    try:
        async for chunk in answer.content.iter_any():
            await response.write(chunk)
    except aiohttp.ClientConnectionResetError:
        return response  # the client has left
    except BaseException as error:
        # Half of an answer must not look like all of it.
        if request.transport:
            request.transport.abort()
        if not isinstance(error, aiohttp.ClientError):
            raise
        log.info("a callee left in the middle of its answer", path=request.path, reason=str(error))
        return response
    await response.write_eof()
    return response


def said(code: int, text: str) -> web.Response:
    """As Go's `http.Error` says it."""
    return web.Response(
        status=code, text=f"{text}\n", headers={"X-Content-Type-Options": "nosniff"}
    )


def _url(way: Way, request: web.BaseRequest) -> URL:
    """The path is written anew, so that the callee reads it as whoever decided on it did."""
    asked = request.rel_url
    path = quote(unquote(asked.raw_path), safe=_PATH_CHARACTERS)
    query = f"?{asked.raw_query_string}" if asked.raw_query_string else ""
    return URL(f"{way.origin}{path}{query}", encoded=True)


def _onward(request: web.BaseRequest, identity: Identity) -> list[tuple[str, str]]:
    pairs = headers.onward(request.headers.items(), identity, request.remote or "")
    return [*pairs, *_audited(request)]


def _audited(request: web.BaseRequest) -> list[tuple[str, str]]:
    """What a callee writes down can be found by what we do."""
    return [(ID_HEADER, request[ID])] if ID in request else []
