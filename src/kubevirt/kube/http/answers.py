"""Answers that are no success: from an HTTP response to the error that it means.

A Kubernetes server explains itself with a `Status`. What else answers (a proxy, a login page, the
server's own mux) is known by its code and type alone: its text is not repeated to anybody.
"""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any

import msgspec

from kubevirt.api.meta import Status, StatusDetails
from kubevirt.api.resource import Resource
from kubevirt.kube.errors import ApiError, NoSuchResource, NotAnApi, NotFound, from_status
from kubevirt.kube.http.decoding import status_in

RETRY_AFTER_LIMIT_S = 3600


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What came back, as far as an error needs it."""

    code: int
    content_type: str
    body: bytes
    retry_after: str = ""
    path: str


def error_of(
    answer: Answer,
    now: datetime,
    *,
    server: str,
    resource: Resource[Any] | None = None,
    subresource: str = "",
) -> ApiError | NotAnApi:
    """What an answer with a code from 300 up means. The keywords say who answered, about what."""
    status = status_in(answer.body) if "json" in answer.content_type else None
    if status is None:
        if trouble := _foreign(answer):
            return NotAnApi(server, trouble)
        status = Status(message=f"{server} {_phrase(answer)}")
    if not status.code:
        status = msgspec.structs.replace(status, code=answer.code)
    error = from_status(status)
    error.after_s = max(error.after_s, _seconds(answer.retry_after, now))
    if isinstance(error, NotFound) and not (status.details or StatusDetails()).name:
        there = f"{server} has no"
        if resource is None:
            return NoSuchResource(status, f"{there} {answer.path}; check the path and the server")
        return NoSuchResource(status, f"{there} {_missing(resource, subresource)}")
    return error


def _foreign(answer: Answer) -> str:
    """What shows that this is no Kubernetes server; empty when it may be one."""
    if answer.code < 400:
        return f"a redirect to another address (code {answer.code})"
    if answer.body.startswith(b"Client sent an HTTP request to an HTTPS server"):
        return "the wish to be spoken to in TLS; write https:// in the address"
    # A load balancer before a server that restarts answers 502 or 503 with a page: wait for it.
    if "html" in answer.content_type and answer.code < 500:
        return f"a web page (code {answer.code})"
    return ""


def _phrase(answer: Answer) -> str:
    try:
        words = HTTPStatus(answer.code).phrase
    except ValueError:
        words = "a code that is not known"
    return f"answered {answer.code} ({words}) to {answer.path} without saying why"


def _missing(resource: Resource[Any], subresource: str) -> str:
    where = f"{resource.group_resource} in version {resource.version}"
    if subresource:
        return f"subresource {subresource} of {where}; its definition must declare it"
    look = f" --api-group={resource.group}" if resource.group else ""
    return (
        f"{where}; install the component that brings it (its CustomResourceDefinition),"
        f" or see what there is with: kubectl api-resources{look}"
    )


def _seconds(retry_after: str, now: datetime) -> float:
    """Retry-After, in seconds or as a date."""
    if retry_after.isascii() and retry_after.isdigit():
        seconds = float(retry_after)
    elif retry_after:
        try:
            date = parsedate_to_datetime(retry_after)
        except ValueError:
            return 0.0
        seconds = (date.replace(tzinfo=date.tzinfo or UTC) - now).total_seconds()
    else:
        return 0.0
    return min(max(seconds, 0.0), RETRY_AFTER_LIMIT_S)
