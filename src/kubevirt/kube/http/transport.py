"""One server, many requests: connections, credentials, time limits, second tries.

What a caller can rely on:

- Every call ends: with an answer, or with an error of the house within `Limits.call_s`, second tries included. What
  it takes to find credentials is not counted.
- Credentials and certificates are those on disk at the moment of the request. A 401 makes them be
  fetched anew once.
- A request that the server put off (429 or 503 with Retry-After) is made again when it said, if that
  is still within the call's time. Other failures are not repeated here, since only the caller knows
  whether a write may be repeated.
- Nothing limits how often or how many at once: the server knows its load and says so.
"""

import random
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import Any, TypeVar
from urllib.parse import quote

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from kubevirt.api.resource import Resource
from kubevirt.base.clock import Clock
from kubevirt.base.errors import KubevirtError
from kubevirt.base.sockets import Sockets
from kubevirt.kube.access import certificates
from kubevirt.kube.access.config import Config, Impersonation
from kubevirt.kube.access.credentials import Identity
from kubevirt.kube.access.tls import Tls
from kubevirt.kube.errors import (
    ApiError,
    NotAnApi,
    ServiceUnavailable,
    TooManyRequests,
    Unauthorized,
)
from kubevirt.kube.http import answers, failures, warnings
from kubevirt.kube.http.answers import Answer
from kubevirt.kube.http.request import Limits, Request
from kubevirt.kube.http.silence import wary_socket
from kubevirt.kube.http.traffic import Traffic
from kubevirt.kube.http.warnings import OnWarning

ERROR_BODY_LIMIT = 1 << 20
WEBSOCKET_MESSAGE_LIMIT = 16 << 20
WEBSOCKET_HEARTBEAT_S = 30.0
WEBSOCKET_CLOSE_S = 2.0

R = TypeVar("R")
ReadSome = Callable[[], Awaitable[bytes]]
"""Gives what has come in; nothing means that the server has finished."""


class Transport:
    def __init__(self, config: Config, *, clock: Clock, user_agent: str, limits: Limits) -> None:
        self.config = config
        self.clock = clock
        self.limits = limits
        self.traffic = Traffic()
        self._base = URL(config.server)
        self._tls = Tls(config) if self._base.scheme == "https" else None
        self._session: aiohttp.ClientSession | None = None
        self._upgrades: aiohttp.ClientSession | None = None
        self._sockets = Sockets()
        self._standing = CIMultiDict({"User-Agent": user_agent})
        if config.disable_compression:
            self._standing["Accept-Encoding"] = "identity"
        if config.impersonate is not None:
            self._standing.extend(_impersonating(config.impersonate))

    async def open(self) -> None:
        self._session = self._begun()
        # Who refuses a websocket often closes the connection a moment later: no other call may be given it.
        self._upgrades = self._begun(force_close=True, raise_for_status=_raise_refused_upgrade)

    def _begun(
        self,
        *,
        force_close: bool = False,
        raise_for_status: bool | Callable[[aiohttp.ClientResponse], Awaitable[None]] = False,
    ) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=0, socket_factory=self._socket, force_close=force_close
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=self.limits.connect_s),
            raise_for_status=raise_for_status,
        )

    async def close(self) -> None:
        if self._session is not None and self._upgrades is not None:
            await self._session.close()
            await self._upgrades.close()
            await self._sockets.hang_up(self.clock)
            self._session = self._upgrades = None

    def _socket(self, address: tuple[Any, ...]) -> socket.socket:
        """For an address, as aiohttp asks for it."""
        return self._sockets.keep(wary_socket(address))

    async def call(self, request: Request, on_warning: OnWarning | None) -> bytes:
        """The whole answer."""

        async def ask_and_read(identity: Identity) -> bytes:
            response = await self._ask(request, on_warning, identity)
            async with response:
                return await response.read()

        return await self._insist(request, ask_and_read)

    @asynccontextmanager
    async def stream(
        self, request: Request, on_warning: OnWarning | None
    ) -> AsyncIterator[ReadSome]:
        """The answer as it comes. Only its beginning has a time limit; the reader sets the rest."""
        response = await self._insist(request, partial(self._ask, request, on_warning))
        try:
            yield partial(self._read_some, response)
        finally:
            response.close()

    @asynccontextmanager
    async def websocket(
        self, request: Request, protocols: tuple[str, ...]
    ) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
        """A connection that both sides write to."""
        connection = await self._insist(request, partial(self._upgrade, request, protocols))
        try:
            yield connection
        finally:
            await connection.close()

    @property
    def _opened(self) -> aiohttp.ClientSession:
        return _opened(self._session)

    async def _insist(self, request: Request, attempt: Callable[[Identity], Awaitable[R]]) -> R:
        """The first answer that is neither a refusal of old credentials nor a `not now`."""
        left_s = self.limits.call_s
        tried, renewed = 0, False
        while True:
            # Not within the limit: a person may be asked for it, who has limits of their own.
            identity = await self.config.credentials.identity(self.clock)
            began = self.clock.monotonic()
            tried += 1
            try:
                async with self._limited(request, left_s):
                    return await attempt(identity)
            except Unauthorized as error:
                left_s -= self.clock.monotonic() - began
                if renewed or not await self.config.credentials.renew(identity, self.clock):
                    raise self._not_let_in(error, identity) from None
                renewed = True
            except (TooManyRequests, ServiceUnavailable) as error:
                # A little more than asked for, so that those who were put off together part ways.
                wait_s = error.after_s * random.uniform(1.0, 1.5)  # noqa: S311  # no secret
                left_s -= self.clock.monotonic() - began + wait_s
                if not (request.may_wait and wait_s and left_s > 0 and tried < self.limits.tries):
                    raise
                self.traffic.held_back(request.method, *self._about(request), wait_s)
                await self.clock.sleep(wait_s)
            except (aiohttp.ClientError, OSError) as error:
                raise self._explained(error, identity) from error

    @asynccontextmanager
    async def _limited(self, request: Request, seconds: float) -> AsyncIterator[None]:
        limit = self.clock.timeout(seconds)
        try:
            async with limit:
                yield
        except TimeoutError:
            if not limit.expired():
                raise  # aiohttp's own, which says more
            raise failures.too_slow(self.config.server, request.what, self.limits.call_s) from None

    async def _ask(
        self, request: Request, on_warning: OnWarning | None, identity: Identity
    ) -> aiohttp.ClientResponse:
        with self._counting(request) as counted:
            response = await self._opened.request(
                request.method,
                self._url(request),
                data=request.body,
                headers=self._headers(request, identity),
                allow_redirects=False,
                raise_for_status=False,
                **self._way(identity),
            )
            counted(response.status)
        if on_warning is not None:
            for text in warnings.parse(response.headers.getall("Warning", ())):
                on_warning(text)
        if response.status >= 300:
            raise self._refusal(await _read_refusal(response), request)
        if "html" in response.content_type:
            response.close()
            raise NotAnApi(self.config.server, f"a web page (code {response.status})")
        return response

    async def _upgrade(
        self, request: Request, protocols: tuple[str, ...], identity: Identity
    ) -> aiohttp.ClientWebSocketResponse:
        with self._counting(request) as counted:
            try:
                connection: aiohttp.ClientWebSocketResponse = await _opened(
                    self._upgrades
                ).ws_connect(
                    self._url(request),
                    protocols=protocols,
                    headers=self._headers(request, identity),
                    timeout=aiohttp.ClientWSTimeout(ws_close=WEBSOCKET_CLOSE_S),
                    heartbeat=WEBSOCKET_HEARTBEAT_S,
                    max_msg_size=WEBSOCKET_MESSAGE_LIMIT,
                    **self._way(identity),
                )
            except _UpgradeRefused as refused:
                counted(refused.answer.code)
                raise self._refusal(refused.answer, request) from None
            counted(101)
        return connection

    def _refusal(self, answer: Answer, request: Request) -> ApiError | NotAnApi:
        return answers.error_of(
            answer,
            self.clock.now(),
            server=self.config.server,
            resource=request.resource,
            subresource=request.subresource,
        )

    @contextmanager
    def _counting(self, request: Request) -> Iterator[Callable[[int], None]]:
        """Tells `traffic` how long the answer took and what it was, or that there was none."""
        began = self.clock.monotonic()

        def counted(code: int | None) -> None:
            self.traffic.answered(
                request.method,
                *self._about(request),
                is_watch=request.is_watch,
                code=code,
                seconds=self.clock.monotonic() - began,
            )

        try:
            yield counted
        except (aiohttp.ClientError, OSError):
            counted(None)
            raise

    def _about(self, request: Request) -> tuple[str, str, Resource[Any] | None]:
        return str(self._base.origin()), request.path, request.resource

    async def _read_some(self, response: aiohttp.ClientResponse) -> bytes:
        try:
            return await response.content.readany()
        except (aiohttp.ClientError, OSError) as error:
            raise self._explained(error) from error

    def _url(self, request: Request) -> URL:
        prefix = self._base.path.rstrip("/")
        return self._base.with_path(prefix + request.path).with_query(request.params)

    def _headers(self, request: Request, identity: Identity) -> CIMultiDict[str]:
        headers = self._standing.copy()
        headers["Accept"] = request.accept
        if request.body is not None:
            headers["Content-Type"] = request.content_type
        if identity.authorization:
            headers["Authorization"] = identity.authorization
        return headers

    def _way(self, identity: Identity) -> dict[str, Any]:
        """How the connection is made; aiohttp keeps connections of different ways apart."""
        way: dict[str, Any] = {}
        if self.config.proxy_url:
            way["proxy"] = self.config.proxy_url
        if self._tls is not None:
            way["ssl"] = self._tls.context(identity.key_pair)
            if self.config.tls_server_name:
                way["server_hostname"] = self.config.tls_server_name
        return way

    def _explained(
        self, error: aiohttp.ClientError | OSError, identity: Identity | None = None
    ) -> KubevirtError:
        return failures.explain(
            error,
            self.config.server,
            configured_by=self.config.origin,
            complaint=self._complaint(identity) if identity else "",
        )

    def _complaint(self, identity: Identity) -> str:
        """What is wrong with our own certificate, as a sentence without its beginning."""
        if self._tls is None or identity.key_pair is None:
            return ""
        pair = identity.key_pair
        trouble = certificates.complaint(pair.certificate, self.clock.now())
        return f"{pair.where} {trouble}" if trouble else ""

    def _not_let_in(self, error: Unauthorized, identity: Identity) -> Unauthorized:
        if complaint := self._complaint(identity):
            cause = f"the {complaint}; renew it, or log in anew"
        elif identity == Identity():
            cause = f"{self.config.origin} has no credentials; log in, or choose another context"
        else:
            cause = (
                f"it does not accept the credentials of {self.config.origin};"
                " renew them, log in anew, or choose another context"
            )
        return Unauthorized(error.status, f"{self.config.server} does not let us in: {cause}")


def _opened(session: aiohttp.ClientSession | None) -> aiohttp.ClientSession:
    if session is None:
        raise RuntimeError("the client is not open: use it in an `async with` block")
    return session


class _UpgradeRefused(Exception):  # noqa: N818  # it never leaves this file
    def __init__(self, answer: Answer) -> None:
        super().__init__()
        self.answer = answer


async def _raise_refused_upgrade(response: aiohttp.ClientResponse) -> None:
    """A hook of aiohttp, and the only way to read why a server refuses a websocket."""
    if response.status != 101:
        raise _UpgradeRefused(await _read_refusal(response))


async def _read_refusal(response: aiohttp.ClientResponse) -> Answer:
    body = b""
    async with response:
        async for chunk in response.content.iter_any():
            body += chunk
            if len(body) > ERROR_BODY_LIMIT:
                response.close()
                break
    return Answer(
        code=response.status,
        content_type=response.content_type,
        body=body,
        retry_after=response.headers.get("Retry-After", ""),
        path=response.url.path,
    )


def _impersonating(other: Impersonation) -> CIMultiDict[str]:
    headers = CIMultiDict({"Impersonate-User": other.user})
    if other.uid:
        headers["Impersonate-Uid"] = other.uid
    for group in other.groups:
        headers.add("Impersonate-Group", group)
    for key, values in other.extra.items():
        for value in values:
            headers.add(f"Impersonate-Extra-{quote(key, safe='')}", value)
    return headers
