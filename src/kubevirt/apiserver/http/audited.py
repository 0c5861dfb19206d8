"""The front, with a line in the audit log for every request that was answered."""

from typing import Any, Final, Protocol

import msgspec
from aiohttp import web

from kubevirt.apiserver.auth import audit
from kubevirt.apiserver.auth.audit_log import AuditLog
from kubevirt.apiserver.auth.authorization import Authorization
from kubevirt.apiserver.http import asked, bodies
from kubevirt.apiserver.http.doors import caller_of
from kubevirt.base.clock import Clock

ANNOTATIONS: Final = web.RequestKey("annotations", dict[str, str])
"""What those who were asked about a request want to be written down."""


ID: Final = web.RequestKey("audit", str)
"""Under which a request is written down: a callee writes it down under the same."""
ID_HEADER: Final = "Audit-Id"
_BEGUN: Final = web.RequestKey("begun", int)


async def begin(request: web.BaseRequest, response: web.StreamResponse) -> None:
    """For answers that go on: whoever breaks one off has had its code, which is written down."""
    await response.prepare(request)
    request[_BEGUN] = response.status


class Handler(Protocol):
    async def handle(self, request: web.BaseRequest) -> web.StreamResponse: ...


class AuditedFront:
    def __init__(
        self, front: Handler, log: AuditLog, authorization: Authorization, clock: Clock
    ) -> None:
        self._front = front
        self._log = log
        self._authorization = authorization
        self._clock = clock

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """A watch is written down when it ends, and so is what its client broke off."""
        received_at = self._clock.now()
        url = request.rel_url
        noted = audit.Request(
            id=audit.new_id(),
            uri=url.raw_path_qs,
            asked=asked.read(request.method, url.raw_path, url.query),
            received_at=received_at,
            source=request.remote or "",
            user_agent=request.headers.get("User-Agent", ""),
        )
        request[ID] = noted.id
        response: web.StreamResponse | None = None
        try:
            response = await self._front.handle(request)
        finally:
            self._note(noted, request, response)
        response.headers[ID_HEADER] = noted.id
        return response

    def _note(
        self, noted: audit.Request, request: web.BaseRequest, response: web.StreamResponse | None
    ) -> None:
        noted.caller = caller_of(request)
        if noted.caller:
            # Decided once more: it is pure, and nobody else tells.
            noted.decision = self._authorization.authorize(noted.asked, noted.caller.acting)
        if audit.level(noted.asked) == audit.REQUEST:
            noted.body = request.get(bodies.READ)
        noted.annotations = request.get(ANNOTATIONS) or {}
        code = response.status if response is not None else request.get(_BEGUN, 0)
        self._log.write(audit.event(noted, code, self._clock.now(), _refusal(response)))


def _refusal(response: web.StreamResponse | None) -> dict[str, Any] | None:
    """The Status of an answer that is one."""
    if not isinstance(response, web.Response) or response.status < 400:
        return None
    if response.content_type != "application/json" or not isinstance(response.body, bytes):
        return None
    try:
        found = msgspec.json.decode(response.body, type=dict[str, Any])
    except msgspec.DecodeError:  # not by us: a callee's own words
        return None
    return found if found.get("kind") == "Status" else None
