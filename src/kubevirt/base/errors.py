"""The error tree of the house.

    KubevirtError
    ├── UserError            the user can mend it: shown as condition and event, never retried
    │   └── ConfigError      a kubeconfig, a flag, a file of settings (a command ends with it)
    └── Retry                the world is not ready: tried again with back-off
        └── Unreachable      the other side does not answer at all

Everything else that is raised is a bug: stack trace, metric, retry. A message names the thing, the
cause and the way out, in one sentence. What a Kubernetes server answers is in `kube.errors`, which
hangs its classes under these.
"""


class KubevirtError(Exception):
    """Root of all errors that this package raises on purpose."""


class UserError(KubevirtError):
    """Something only the user can change; trying again gives the same answer."""

    def __init__(self, message: str, *, reason: str = "Invalid") -> None:
        super().__init__(message)
        self.reason = reason
        """CamelCase word for conditions and events."""


class ConfigError(UserError):
    """Settings that cannot be used: the file, the entry in it, what is wrong and how to mend it."""

    def __init__(self, message: str, *, reason: str = "InvalidConfiguration") -> None:
        super().__init__(message, reason=reason)


class Retry(KubevirtError):  # noqa: N818  # it is what happens next, not what went wrong
    """Not now. `after_s` is the least time to wait; the queue's own back-off applies above it."""

    def __init__(self, message: str, *, after_s: float = 0.0) -> None:
        super().__init__(message)
        self.after_s = after_s


class Unreachable(Retry):
    """No answer from the other side: refused, unresolved, timed out, cut off."""


def is_bug(error: BaseException) -> bool:
    """Nobody raised it on purpose. A group is a bug if any error in it is."""
    if isinstance(error, BaseExceptionGroup):
        return any(is_bug(each) for each in error.exceptions)
    return not isinstance(error, KubevirtError)
