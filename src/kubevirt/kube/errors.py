"""What a Kubernetes server answers when it does not do what was asked.

    ApiError                       the server answered, with a Status
    ├── Refused (UserError)        asking again gives the same answer
    │   ├── BadRequest             400
    │   ├── Unauthorized           401
    │   ├── Forbidden              403
    │   ├── NotFound               404: no such object
    │   │   └── NoSuchResource     404: no such kind of object; a CRD is not installed
    │   ├── MethodNotAllowed       405
    │   ├── NotAcceptable          406
    │   ├── Gone                   410, reason Gone
    │   ├── TooLarge               413
    │   ├── UnsupportedMediaType   415
    │   └── Invalid                422, with causes that name fields
    ├── Conflict (Retry)           409: another writer was first; read again
    │   ├── AlreadyExists          409 on create
    │   └── ApplyConflict          409 of a server-side apply; causes name the managers
    ├── Expired (Retry)            410: the resource version is too old; list again
    └── Overloaded (Retry)         the server cannot now; `after_s` says when it may
        ├── TooManyRequests        429
        ├── ServerTimeout          500 or 504 with that reason
        ├── ServiceUnavailable     503
        └── InternalError          500 and everything else from 500 up

    UndecodableObject (UserError)  the answer does not fit the type it was asked for
    NotAnApi (ConfigError)         a server that answers in another language: a login page, a proxy,
                                   somebody else's port
    Untrusted (Unreachable)        no TLS connection: the server's certificate or ours is not accepted
    Garbled (Unreachable)          an answer that was cut off or changed on the way

`base.errors.Unreachable` means that there was no answer at all; a write may or may not have happened.
`Untrusted` hangs below it, since certificates are rotated while programs run: a controller tries
again, a command ends with the message. Messages are for people; no body of an answer that is not a
`Status` is ever in one, because nobody knows what secrets it holds.
"""

# ruff: noqa: N818  # the reasons of Kubernetes are the names; `NotFound` needs no `Error` behind it

import re

from kubevirt.api.meta import Status, StatusCause, StatusDetails
from kubevirt.base.errors import ConfigError, KubevirtError, Retry, Unreachable, UserError


class ApiError(KubevirtError):
    """The server's refusal. `status` is what it sent, or what its HTTP code amounts to."""

    def __init__(self, status: Status, message: str = "") -> None:
        super().__init__(message or status.message)
        self.status = status
        self.reason = status.reason or type(self).__name__
        """The server's own word for it, also fit for conditions and events."""

        details = status.details or StatusDetails()
        self.after_s = float(details.retry_after_seconds)
        """The least time to wait before asking again, if the server named one."""

        self.causes: tuple[StatusCause, ...] = details.causes

    @property
    def code(self) -> int:
        return self.status.code

    def has_cause(self, reason: str) -> bool:
        return any(cause.reason == reason for cause in self.causes)


class Refused(ApiError, UserError):
    """Asking again gives the same answer."""


class BadRequest(Refused):
    """The request makes no sense to the server."""


class Unauthorized(Refused):
    """The server does not know who asks: credentials are missing, wrong or expired."""


class Forbidden(Refused):
    """The server knows who asks, and that user may not."""


class NotFound(Refused):
    """No such object."""


class NoSuchResource(NotFound):
    """No such kind of object on this server."""


class MethodNotAllowed(Refused):
    """The resource exists but does not support this verb."""


class NotAcceptable(Refused):
    """The server cannot answer in the form that was asked for."""


class Gone(Refused):
    """It was here once, and the server will not have it again."""


class TooLarge(Refused):
    """The object exceeds what the server stores."""


class UnsupportedMediaType(Refused):
    """The server does not take this form of patch; a CRD takes no strategic merge, for example."""


class Invalid(Refused):
    """The object breaks a rule; `causes` name the fields."""


class Conflict(ApiError, Retry):
    """Another writer was first."""


class AlreadyExists(Conflict):
    """The name is taken."""


FIELD_MANAGER_CONFLICT = "FieldManagerConflict"


class ApplyConflict(Conflict):
    """Fields of an apply belong to other managers."""

    @property
    def owners(self) -> dict[str, str]:
        """Each field in conflict, and the manager that has it."""
        return {
            cause.field: match[1] if (match := re.search(r'"([^"]*)"', cause.message)) else ""
            for cause in self.causes
            if cause.reason == FIELD_MANAGER_CONFLICT
        }


class Expired(ApiError, Retry):
    """The server no longer has the history that a watch or a list wants to continue."""


class Overloaded(ApiError, Retry):
    """The server cannot answer now."""


class TooManyRequests(Overloaded):
    """The server asks to slow down, or a disruption budget does not allow an eviction now."""


class ServerTimeout(Overloaded):
    """The server did not finish in its own time; a write may have happened."""


class ServiceUnavailable(Overloaded):
    """The server, or one it asks in turn, is not there."""


class InternalError(Overloaded):
    """The server failed."""


class UndecodableObject(UserError):
    """An object that the server has but that does not fit the type it was to be read as."""

    def __init__(self, what: str, error: str) -> None:
        super().__init__(
            f"{what} cannot be read: {error}; it was stored by a server with another schema,"
            " so correct the object, or use a version of this program that knows it",
            reason="Undecodable",
        )


class NotAnApi(ConfigError):
    """Something answers at the address, but it is no Kubernetes API."""

    def __init__(self, server: str, found: str) -> None:
        super().__init__(
            f"{server} is not a Kubernetes API: it answered with {found};"
            " check the server address, and whether a proxy or a login page stands before it",
            reason="NotAnApi",
        )


class Untrusted(Unreachable):
    """A TLS connection failed: one side does not accept the other's certificate."""


class Garbled(Unreachable):
    """An answer that is not what a server sends: cut off or changed on the way."""

    def __init__(self, what: str, error: str) -> None:
        super().__init__(
            f"the answer about {what} was damaged on the way ({error});"
            " try again, and check for a proxy that changes answers"
        )


BY_REASON: dict[str, type[ApiError]] = {
    "BadRequest": BadRequest,
    "Unauthorized": Unauthorized,
    "Forbidden": Forbidden,
    "NotFound": NotFound,
    "MethodNotAllowed": MethodNotAllowed,
    "NotAcceptable": NotAcceptable,
    "Gone": Gone,
    "RequestEntityTooLarge": TooLarge,
    "UnsupportedMediaType": UnsupportedMediaType,
    "Invalid": Invalid,
    "Conflict": Conflict,
    "AlreadyExists": AlreadyExists,
    "Expired": Expired,
    "TooManyRequests": TooManyRequests,
    "ServerTimeout": ServerTimeout,
    "Timeout": ServerTimeout,
    "ServiceUnavailable": ServiceUnavailable,
    "InternalError": InternalError,
    "StoreReadError": InternalError,
}

BY_CODE: dict[int, type[ApiError]] = {
    400: BadRequest,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    405: MethodNotAllowed,
    406: NotAcceptable,
    409: Conflict,
    410: Expired,
    413: TooLarge,
    415: UnsupportedMediaType,
    422: Invalid,
    429: TooManyRequests,
    503: ServiceUnavailable,
    504: ServerTimeout,
}


def from_status(status: Status) -> ApiError:
    """The error that a `Status` is. Its reason decides; its code where the reason is not known."""
    error = BY_REASON.get(status.reason) or BY_CODE.get(status.code)
    if error is None:
        error = InternalError if status.code >= 500 else Refused
    details = status.details or StatusDetails()
    if error is Conflict and any(c.reason == FIELD_MANAGER_CONFLICT for c in details.causes):
        error = ApplyConflict
    return error(status, status.message or f"the server answered with code {status.code}")
