"""Refusals: the ways in which an API server says no, in Kubernetes' own words.

Clients look at the code and the reason, people read the message, and tools look for the fields in the causes.
All three are part of the API; the contract suite compares them with a real server's.
"""

from collections.abc import Iterable

from kubevirt.api.meta import ListMeta, Status, StatusCause, StatusDetails
from kubevirt.apiserver.kinds.kind import Kind
from kubevirt.base.errors import KubevirtError

BODY_LIMIT = 3 << 20
"""Bytes of a request's body, as etcd's users know it."""


class Refusal(KubevirtError):  # noqa: N818  # it is an answer
    """Ends a request with a `Status`."""

    def __init__(self, status: Status) -> None:
        super().__init__(status.message)
        self.status = status


def refusal(
    code: int,
    reason: str,
    message: str,
    *,
    details: StatusDetails | None = None,
) -> Refusal:
    return Refusal(
        Status(status="Failure", message=message, reason=reason, details=details, code=code)
    )


# About an object


def not_found(kind: Kind, name: str) -> Refusal:
    message = f'{kind.group_resource} "{name}" not found'
    return refusal(404, "NotFound", message, details=_about(kind, name))


def already_exists(kind: Kind, name: str) -> Refusal:
    message = f'{kind.group_resource} "{name}" already exists'
    return refusal(409, "AlreadyExists", message, details=_about(kind, name))


def conflict(kind: Kind, name: str, cause: str) -> Refusal:
    message = f'Operation cannot be fulfilled on {kind.group_resource} "{name}": {cause}'
    return refusal(409, "Conflict", message, details=_about(kind, name))


def modified(kind: Kind, name: str) -> Refusal:
    """Somebody was quicker."""
    return conflict(
        kind,
        name,
        "the object has been modified; please apply your changes to the latest version and try again",
    )


def invalid(kind: Kind, name: str, causes: Iterable[StatusCause]) -> Refusal:
    """The causes tell the field; the message joins them as Go does."""
    causes = tuple(causes)
    lines = [f"{each.field}: {each.message}" if each.field else each.message for each in causes]
    shown = lines[0] if len(lines) == 1 else f"[{', '.join(lines)}]"
    group = kind.storage_group
    details = StatusDetails(name=name, group=group, kind=kind.names.kind, causes=causes)
    subject = f"{kind.names.kind}.{group}" if group else kind.names.kind
    return refusal(422, "Invalid", f'{subject} "{name}" is invalid: {shown}', details=details)


def forbidden(kind: Kind, name: str, cause: str) -> Refusal:
    subject = f'{kind.group_resource} "{name}"' if name else kind.group_resource
    return refusal(403, "Forbidden", f"{subject} is forbidden: {cause}", details=_about(kind, name))


def _about(kind: Kind, name: str) -> StatusDetails:
    return StatusDetails(name=name, group=kind.group, kind=kind.names.plural)


# About a request


def bad_request(message: str) -> Refusal:
    return refusal(400, "BadRequest", message)


def unauthorized() -> Refusal:
    return refusal(401, "Unauthorized", "Unauthorized")


def no_such_path() -> Refusal:
    return refusal(
        404,
        "NotFound",
        "the server could not find the requested resource",
        details=StatusDetails(),
    )


def method_not_allowed() -> Refusal:
    return refusal(
        405,
        "MethodNotAllowed",
        "the server does not allow this method on the requested resource",
        details=StatusDetails(),
    )


def no_such_verb(kind: Kind, verb: str) -> Refusal:
    """Of custom resources Kubernetes says which."""
    if not kind.is_custom:
        return method_not_allowed()
    message = f'{verb} is not supported on resources of kind "{kind.group_resource}"'
    return refusal(405, "MethodNotAllowed", message, details=_about(kind, ""))


def unsupported_media_type(accepted: Iterable[str]) -> Refusal:
    message = (
        "the body of the request was in an unknown format - accepted media types include: "
        f"{', '.join(accepted)}"
    )
    return refusal(415, "UnsupportedMediaType", message)


def not_acceptable(offered: Iterable[str], *, is_custom: bool) -> Refusal:
    shown = ", ".join(offered)
    if is_custom:
        message = f"only the following media types are accepted: {shown}"
        return refusal(406, "NotAcceptable", message)
    message = f"406: Not Acceptable\n\nAvailable representations: {shown}"
    return refusal(406, "NotAcceptable", message, details=StatusDetails())


def too_large(limit: int = BODY_LIMIT) -> Refusal:
    message = f"Request entity too large: limit is {limit}"
    return refusal(413, "RequestEntityTooLarge", message)


def too_large_to_store() -> Refusal:
    """In etcd's words, which come through unchanged."""
    return refusal(500, "", "etcdserver: request is too large")


def too_many_requests() -> Refusal:
    return refusal(
        429,
        "TooManyRequests",
        "Too many requests, please try again later.",
        details=StatusDetails(retry_after_seconds=1),
    )


def took_too_long() -> Refusal:
    message = "Timeout: request did not complete within the allotted timeout"
    return refusal(504, "Timeout", message, details=StatusDetails())


# About the past and the future


def forgotten_version(version: int, oldest: int) -> Refusal:
    return refusal(410, "Expired", f"too old resource version: {version} ({oldest})")


def forgotten_list() -> Refusal:
    words = "The resourceVersion for the provided list is too old."
    return refusal(410, "Expired", words)


def forgotten_page(rest: str) -> Refusal:
    """`rest` is a token for what follows, as it is now."""
    status = Status(
        metadata=ListMeta(continue_=rest),
        status="Failure",
        message=(
            "The provided continue parameter is too old to display a consistent list result. You can start a "
            "new list without the continue parameter, or use the continue token in this response to retrieve "
            "the remainder of the results. Continuing with the provided token results in an inconsistent list "
            "- objects that were created, modified, or deleted between the time the first chunk was returned "
            "and now may show up in the list."
        ),
        reason="Expired",
        code=410,
    )
    return Refusal(status)


def future_version(version: int, current: int) -> Refusal:
    """The client may have it from a server that knows more; it may ask again."""
    return refusal(
        504,
        "Timeout",
        f"Timeout: Too large resource version: {version}, current: {current}",
        details=StatusDetails(
            causes=(
                StatusCause(reason="ResourceVersionTooLarge", message="Too large resource version"),
            ),
            retry_after_seconds=1,
        ),
    )


def internal(message: str) -> Refusal:
    """A mistake of ours. The cause is in the log, not in the answer."""
    return refusal(500, "InternalError", f"Internal error occurred: {message}")


def no_room() -> Refusal:
    return refusal(
        507,
        "InsufficientStorage",
        "the disk of the API server is full; make room and try again",
    )
