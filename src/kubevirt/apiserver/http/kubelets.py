"""Logs and terminals of pods: asked of the node that runs them, over its own authenticated endpoint.

A node is believed by its certificate, which our authority has signed, and knows us by ours. What it
answers is passed on as it comes: a log may never end, and a terminal goes both ways.
"""

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final
from urllib.parse import urlencode

import aiohttp
import msgspec
from aiohttp import web

from kubevirt.api.meta import StatusCause, StatusDetails
from kubevirt.apiserver.aggregation import headers
from kubevirt.apiserver.aggregation.websockets import HandshakeRefused, join
from kubevirt.apiserver.callees import words
from kubevirt.apiserver.callees.callee import Callee, ClientFiles
from kubevirt.apiserver.callees.callees import Callees, Way
from kubevirt.apiserver.callees.errors import CalleeAway
from kubevirt.apiserver.http.audited import begin
from kubevirt.apiserver.refusals import Refusal, bad_request, method_not_allowed, refusal
from kubevirt.apiserver.registry import locating
from kubevirt.apiserver.registry.answering import admit_connection
from kubevirt.apiserver.registry.call import Call
from kubevirt.apiserver.registry.locating import Location
from kubevirt.apiserver.registry.registry import Registry
from kubevirt.apiserver.schema.gotext import quoted

SUBRESOURCES: Final = ("attach", "exec", "log", "portforward")
PATIENCE_S: Final = 4 * 3600.0
"""How long a client may take nothing of a log or of what a terminal shows; a kubelet's."""
REFUSAL_LIMIT: Final = 64 << 10
"""Bytes that are read of why a node does not want to."""
_SPDY: Final = "spdy/3.1"
_NO_FORWARDING: Final = (
    "this server cannot forward ports, which needs SPDY, also inside of a websocket; reach the pod by its"
    " address, or by a Service"
)
_STREAMS: Final = ("stdin", "stdout", "stderr", "tty")
_NAMES_OF_STREAMS: Final = {"stdin": "input", "stdout": "output", "stderr": "error", "tty": "tty"}
"""What kubelets call them."""


class KubeletSettings(msgspec.Struct, frozen=True, kw_only=True):
    authority: bytes = b""
    """Who signs certificates of nodes, PEM."""
    client: ClientFiles | None = None
    """The certificate by which nodes know us. Without it nobody's log or terminal can be had."""


class Kubelets:
    def __init__(self, registry: Registry, callees: Callees, settings: KubeletSettings) -> None:
        self._registry = registry
        self._callees = callees
        self._settings = settings

    async def serve(self, request: web.BaseRequest, call: Call) -> web.StreamResponse:
        with _patience(request):
            return await self._served(request, call)

    async def _served(self, request: web.BaseRequest, call: Call) -> web.StreamResponse:
        if call.subresource == "log":
            if call.verb != "get":
                raise method_not_allowed()
            return await self._log(request, call)
        if call.verb not in ("get", "create"):
            raise method_not_allowed()
        if call.subresource == "portforward":
            raise refusal(501, "NotImplemented", _NO_FORWARDING)
        return await self._connected(request, call)

    def _callee(self, location: Location, *, is_unverified: bool = False) -> Callee:
        if self._settings.client is None:
            raise refusal(501, "NotImplemented", "this server has no certificate to show to nodes")
        return Callee(
            url=location.origin,
            authority=self._settings.authority,
            client=self._settings.client,
            is_unverified=is_unverified,
        )

    # Logs

    async def _log(self, request: web.BaseRequest, call: Call) -> web.StreamResponse:
        asked = locating.log_parameters(call)
        location = await locating.locate(self._registry, call, "containerLogs")
        if location is None:
            return web.Response(body=b"", content_type="text/plain")
        is_unverified = locating.is_set(call, "insecureSkipTLSVerifyBackend")
        callee = self._callee(location, is_unverified=is_unverified)
        url = f"{location.origin}{location.path}?{urlencode(asked)}"
        try:
            async with (
                self._callees.reached(callee) as way,
                way.session.get(url, allow_redirects=False) as answer,
            ):
                if not 200 <= answer.status <= 206:
                    raise await _said_no(call, answer)
                return await _streamed(request, answer)
        except (aiohttp.ClientError, OSError, CalleeAway) as error:
            raise refusal(500, "", f'Get "{url}": {words.of(error, callee)}') from error

    # Terminals

    async def _connected(self, request: web.BaseRequest, call: Call) -> web.StreamResponse:
        await admit_connection(self._registry, call, _options(call))
        location = await locating.locate(self._registry, call, call.subresource)
        if location is None:
            raise bad_request(f"pod {call.name} does not have a host assigned")
        upgrade = headers.upgrade(request.headers.items())
        if upgrade not in ("websocket", _SPDY):
            raise bad_request("Upgrade request required")
        callee = self._callee(location)
        asked = [(_NAMES_OF_STREAMS[name], "1") for name in _STREAMS if locating.is_set(call, name)]
        asked += [("command", each) for each in call.query.get("command", ())]
        url = f"{location.origin}{location.path}?{urlencode(asked)}"
        try:
            async with self._callees.reached(callee) as way:
                if upgrade == _SPDY:
                    return await _refused(way, url)
                return await join(request, way, url, [], self._registry.clock)
        except HandshakeRefused as refused:
            pairs = [each for each in headers.back(refused.headers) if _is_kept(each[0])]
            return web.Response(status=refused.status, headers=pairs, body=refused.body)
        except (aiohttp.ClientError, OSError, CalleeAway) as error:
            raise refusal(500, "", f"error dialing backend: {words.of(error, callee)}") from error


async def _refused(way: Way, url: str) -> web.Response:
    """Why a node does not want to. Nobody here speaks SPDY, but kubectl comes with it when a websocket was
    refused, and shows only what it is told then.
    """
    async with way.session.get(url, allow_redirects=False) as answer:
        body = await answer.content.read(REFUSAL_LIMIT)
    code = max(answer.status, 400)
    return web.Response(status=code, body=body, content_type="text/plain")


@contextmanager
def _patience(request: web.BaseRequest) -> Iterator[None]:
    """A person may leave a pager alone for long; nothing piles up meanwhile, for the node waits, too."""
    found = request.transport.get_extra_info("socket") if request.transport else None
    if found is None or found.family not in (socket.AF_INET, socket.AF_INET6):
        yield
        return
    before = found.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)
    found.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(PATIENCE_S * 1000))
    try:
        yield
    finally:
        with suppress(OSError):  # it is closed by now
            found.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, before)


def _is_kept(name: str) -> bool:
    return name.lower() not in ("content-length", "content-encoding")


def _options(call: Call) -> dict[str, object]:
    """What admission is shown of a connection."""
    wanted: dict[str, object] = {
        "kind": f"Pod{call.subresource.capitalize()}Options",
        "apiVersion": "v1",
        **{name: True for name in _STREAMS if locating.is_set(call, name)},
    }
    if container := call.first("container"):
        wanted["container"] = container
    if command := call.query.get("command"):
        wanted["command"] = list(command)
    return wanted


async def _streamed(request: web.BaseRequest, answer: aiohttp.ClientResponse) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/plain"})
    await begin(request, response)
    try:
        async for chunk in answer.content.iter_any():
            await response.write(chunk)
    except aiohttp.ClientError:
        # Half of a log must not look like all of it.
        if request.transport:
            request.transport.abort()
        return response
    await response.write_eof()
    return response


async def _said_no(call: Call, answer: aiohttp.ClientResponse) -> Refusal:
    """A node's own answer, as Kubernetes passes it on."""
    body = (await answer.content.read(REFUSAL_LIMIT)).decode(errors="replace")
    code = answer.status
    if code == 500:
        details = StatusDetails(causes=(StatusCause(message=body),))
        message = f"Internal error occurred: {body}"
        return refusal(500, "InternalError", message, details=details)
    if code == 400:
        return bad_request(body)
    reason, sentence = _SENTENCES.get(code, ("Unknown", ""))
    if code == 403:
        sentence = body
    elif not sentence and code > 500:
        reason = "InternalError"
        sentence = (
            f"an error on the server ({quoted(body)}) has prevented the request from succeeding"
        )
    elif not sentence:
        sentence = (
            f"the server responded with the status code {code} but did not return more information"
        )
    details = StatusDetails(name=call.name, kind="pods/log")
    return refusal(code, reason, f"{sentence} ( pods/log {call.name})", details=details)


_SENTENCES: Final = {
    401: ("Unauthorized", "the server has asked for the client to provide credentials"),
    403: ("Forbidden", ""),
    404: ("NotFound", "the server could not find the requested resource"),
    503: ("ServiceUnavailable", "the server is currently unable to handle the request"),
}
