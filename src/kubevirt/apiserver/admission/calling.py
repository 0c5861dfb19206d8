"""One question to one webhook, with all that can go wrong.

Whoever says no is quoted. Whoever cannot be asked, hangs, or answers what makes no sense has failed: then its
failure policy decides, which is up to those who ask (`failed_open`).
"""

import math
from typing import Any, Final

import msgspec

from kubevirt.api.meta import Status
from kubevirt.apiserver.admission import reviews
from kubevirt.apiserver.admission.answers import Answer, BadAnswer, Undecodable, read_answer
from kubevirt.apiserver.admission.hooks import Hook
from kubevirt.apiserver.admission.request import Request
from kubevirt.apiserver.callees.callees import Callees
from kubevirt.apiserver.callees.errors import CalleeAway
from kubevirt.apiserver.callees.posting import Posted, not_posted, post
from kubevirt.apiserver.refusals import Refusal, bad_request, refusal
from kubevirt.apiserver.registry.admission import failed
from kubevirt.apiserver.registry.call import Call
from kubevirt.apiserver.registry.chance import Chance
from kubevirt.apiserver.schema import gotext
from kubevirt.base.clock import Clock
from kubevirt.base.errors import Retry
from kubevirt.base.log import get_logger

log = get_logger(__name__)

Object = dict[str, Any]

ANSWER_LIMIT: Final = 8 << 20
"""Bytes of an answer: a patch may hold a whole object, in base64."""
_QUOTED_LIMIT: Final = 1024
_OF_STATUS: Final = {
    400: "the server rejected our request for an unknown reason",
    401: "the server has asked for the client to provide credentials",
    404: "the server could not find the requested resource",
    405: "the server does not allow this method on the requested resource",
    406: "the server was unable to respond with a content type that the client supports",
    409: "the server reported a conflict",
    422: "the server rejected our request due to an error in our request",
    429: "the server has received too many requests and has asked us to try again later",
    503: "the server is currently unable to handle the request",
    504: "the server was unable to return a response in the time allotted, but may still be processing "
    "the request",
}


class HookFailed(Retry):
    """Nobody said no, but nobody said yes either."""

    def __init__(self, hook: Hook, message: str) -> None:
        super().__init__(f"failed calling webhook {gotext.quoted(hook.name)}: {message}")


class Caller:
    def __init__(self, callees: Callees, clock: Clock, chance: Chance) -> None:
        self._callees = callees
        self._clock = clock
        self._chance = chance

    async def ask(
        self,
        hook: Hook,
        request: Request,
        object_: Object | None,
        version: str,
        *,
        is_mutating: bool,
    ) -> Answer:
        """A yes. Raises a `Refusal` for a no, `HookFailed` for anything else."""
        if request.is_dry_run and hook.has_side_effects:
            raise bad_request(
                f"admission webhook {gotext.quoted(hook.name)} does not support dry run"
            )
        if not hook.speaks_v1:
            known = "webhook does not accept known AdmissionReview versions (v1)"
            raise HookFailed(hook, f"could not create admission objects: {known}")
        uid = self._chance.uid()
        body = await self._answer(hook, request, reviews.question(uid, request, object_, version))
        try:
            answer = read_answer(body, uid, is_mutating=is_mutating)
        except Undecodable as error:
            raise HookFailed(hook, f"failed to call webhook: {error}") from error
        except BadAnswer as error:
            raise HookFailed(hook, f"received invalid webhook response: {error}") from error
        return answer

    async def _answer(self, hook: Hook, request: Request, question: bytes) -> bytes:
        limit_s = max(min(hook.timeout_s, request.deadline - self._clock.monotonic()), 0)
        target = f"{hook.path}?timeout={math.ceil(limit_s)}s"
        try:
            async with self._clock.timeout(limit_s):
                posted = await post(
                    self._callees, hook.callee, target, question, limit=ANSWER_LIMIT
                )
        except CalleeAway as error:
            raise HookFailed(hook, f"failed to call webhook: {error}") from error
        except TimeoutError as error:
            late = not_posted(hook.callee, target, "context deadline exceeded")
            raise HookFailed(hook, f"failed to call webhook: {late}") from error
        if complaint := _complaint(posted):
            raise HookFailed(hook, f"failed to call webhook: {complaint}")
        return posted.body

    def failed_open(self, hook: Hook, error: HookFailed, request: Request) -> bool:
        """Whether to go on without it. Refuses where there is no time left to ask anybody else."""
        if not hook.fails_open:
            return False
        log.info("a webhook failed and is passed over", webhook=hook.name, error=error)
        if self._clock.monotonic() >= request.deadline:
            raise _timed_out() from error
        return True


def _complaint(posted: Posted) -> str:
    """Why what came back cannot be an answer; empty if it can."""
    if not 200 <= posted.status <= 206:
        return _own_words(posted.body) or _of_status(posted)
    if posted.body:
        return ""
    code, type_ = posted.status, posted.content_type
    return f"0-length response with status code: {code} and content type: {type_}"


def _of_status(posted: Posted) -> str:
    code, said = posted.status, "unknown"
    if not posted.content_type or posted.content_type.startswith("text/"):
        said = posted.body[:_QUOTED_LIMIT].decode(errors="replace").strip()
    if code in (403, 415):
        return said
    if known := _OF_STATUS.get(code):
        return known
    if code >= 500:
        return f"an error on the server ({gotext.quoted(said)}) has prevented the request from succeeding"
    return f"the server responded with the status code {code} but did not return more information"


class _Said(msgspec.Struct):
    kind: str = ""
    status: str = ""
    message: str = ""


def _own_words(body: bytes) -> str:
    """Of an answer that is the Status of a failure."""
    try:
        said = msgspec.json.decode(body, type=_Said)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return ""
    return said.message if (said.kind, said.status) == ("Status", "Failure") else ""


def _timed_out() -> Refusal:
    words = "Timeout: request did not complete within requested timeout"
    return refusal(504, "Timeout", words)


def refused(hook: Hook, answer: Answer) -> Refusal:
    """The webhook's own status, with its name before the words. A no is never a success."""
    said = answer.status or Status()
    denied = f"admission webhook {gotext.quoted(hook.name)} denied the request"
    cause = said.message or said.reason
    return Refusal(
        Status(
            status=said.status if said.status not in ("", "Success") else "Failure",
            message=f"{denied}: {cause}" if cause else f"{denied} without explanation",
            reason=said.reason,
            details=said.details,
            code=max(said.code, 400),
        )
    )


def note(call: Call, hook: Hook, answer: Answer) -> None:
    """What a webhook wants the client and the audit log to know."""
    call.warnings += [each for each in answer.warnings if each]
    call.annotations.update(
        {f"{hook.name}/{key}": value for key, value in answer.annotations.items()}
    )


def closed(error: HookFailed) -> Refusal:
    """Of a webhook that must not be passed over."""
    return failed(str(error))
