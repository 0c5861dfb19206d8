"""Why a call is not carried out, as a server says it: a code, a reason, a sentence.

The sentences are KubeVirt's; scripts and people know them.
"""

from typing import Final

from kubevirt.base.errors import UserError

MACHINE: Final = "virtualmachine"
INSTANCE: Final = "virtualmachineinstance"


class Refusal(UserError):  # noqa: N818  # it is an answer
    def __init__(
        self, code: int, message: str, *, reason: str, kind: str = "", name: str = ""
    ) -> None:
        super().__init__(message, reason=reason)
        self.code = code
        self.kind = kind
        """Of the object that it is about, if it is about one."""
        self.name = name


def bad_request(message: str) -> Refusal:
    return Refusal(400, message, reason="BadRequest")


def not_authenticated(message: str) -> Refusal:
    return Refusal(401, message, reason="Unauthorized")


def forbidden(kind: str, name: str, message: str) -> Refusal:
    text = f'{kind}.kubevirt.io "{name}" is forbidden: {message}'
    return Refusal(403, text, reason="Forbidden", kind=kind, name=name)


def not_found(kind: str, name: str) -> Refusal:
    text = f'{kind}.kubevirt.io "{name}" not found'
    return Refusal(404, text, reason="NotFound", kind=kind, name=name)


def no_such_path() -> Refusal:
    return Refusal(404, "the server could not find the requested resource", reason="NotFound")


def not_allowed(method: str) -> Refusal:
    return Refusal(
        405, f"the server does not allow {method} on this path", reason="MethodNotAllowed"
    )


def conflict(kind: str, name: str, message: str) -> Refusal:
    text = f'Operation cannot be fulfilled on {kind}.kubevirt.io "{name}": {message}'
    return Refusal(409, text, reason="Conflict", kind=kind, name=name)


def too_large(limit: int) -> Refusal:
    return Refusal(
        413,
        f"the body of the request is larger than {limit} bytes",
        reason="RequestEntityTooLarge",
    )


def too_many(what: str, limit: int) -> Refusal:
    return Refusal(
        429, f"{limit} {what} are open already; close one and try again", reason="TooManyRequests"
    )


def internal(message: str) -> Refusal:
    return Refusal(500, message, reason="InternalError")


def not_built(what: str) -> Refusal:
    return Refusal(501, f"not built yet: {what}", reason="NotImplemented")


def unavailable(message: str) -> Refusal:
    return Refusal(503, message, reason="ServiceUnavailable")


def as_internal(refused: Refusal) -> Refusal:
    """Calls that only read answer a state that is not right with 500, as KubeVirt does."""
    return internal(str(refused)) if refused.code == 409 else refused
