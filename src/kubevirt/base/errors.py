"""The error tree of the house.

    KubevirtError
    ├── UserError                 the user can mend it: shown as condition and event, never retried
    │   ├── ConfigError           a kubeconfig, a flag, a file of settings (a command ends with it)
    │   │   └── ProgramNotFound   a program that this machine does not have
    │   ├── QuantityError         a text that is no quantity
    │   ├── UnsafePath            a path that leads out of where it belongs
    │   └── FileTooLarge          a file beyond the limit of its reader
    └── Retry                     the world is not ready: tried again with back-off
        ├── Unreachable           the other side does not answer at all
        └── CommandFailed         a program did not do its work
            ├── CommandTimedOut   it took too long and was ended
            └── OutputTooLarge    it printed too much and was ended

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


class ProgramNotFound(ConfigError):  # noqa: N818  # like FileNotFoundError, which it stands for
    """A program that this machine does not have; `package` is where Debian has it."""

    def __init__(self, program: str, search_path: str, package: str | None = None) -> None:
        where = "" if "/" in program else f" in {search_path}"
        way_out = f"with: apt-get install {package}" if package else "or give its full path"
        super().__init__(
            f"there is no program {program}{where}; install it {way_out}", reason="ProgramNotFound"
        )


class QuantityError(UserError, ValueError):
    """A text that is no quantity, in Kubernetes' words."""


class UnsafePath(UserError):  # noqa: N818  # it is what the path is
    """A path that leads out of where it belongs: over a link, through `..`, to a device."""

    def __init__(self, message: str) -> None:
        super().__init__(message, reason="UnsafePath")


class FileTooLarge(UserError):  # noqa: N818  # it is what the file is
    """More than its reader is willing to take."""

    def __init__(self, message: str) -> None:
        super().__init__(message, reason="FileTooLarge")


class Retry(KubevirtError):  # noqa: N818  # it is what happens next, not what went wrong
    """Not now. `after_s` is the least time to wait; the queue's own back-off applies above it."""

    def __init__(self, message: str, *, after_s: float = 0.0) -> None:
        super().__init__(message)
        self.after_s = after_s


class Unreachable(Retry):
    """No answer from the other side: refused, unresolved, timed out, cut off."""


class CommandFailed(Retry):
    """A program did not do its work. The message has what it said last, never its arguments."""

    def __init__(
        self, program: str, how: str, *, exit_code: int | None = None, stderr: bytes = b""
    ) -> None:
        said = _last_words(stderr)
        super().__init__(f"{program} {how}: {said}" if said else f"{program} {how}")
        self.program = program
        self.how = how
        """The message without the program's name and without its words."""
        self.exit_code = exit_code
        """As in `Completed`; None if it was never started, or ended by us."""
        self.stderr = stderr


class CommandTimedOut(CommandFailed):
    pass


class OutputTooLarge(CommandFailed):
    pass


def _last_words(stderr: bytes, lines: int = 5, limit: int = 500) -> str:
    """The end of what it said, fit for one line of a condition or a log."""
    text = stderr[-4 * limit :].decode(errors="replace")
    said = [line.strip() for line in text.splitlines() if line.strip()]
    words = "; ".join(said[-lines:])
    return "".join(each if each.isprintable() else " " for each in words)[-limit:]


def is_bug(error: BaseException) -> bool:
    """Nobody raised it on purpose. A group is a bug if any error in it is."""
    if isinstance(error, BaseExceptionGroup):
        return any(is_bug(each) for each in error.exceptions)
    return not isinstance(error, KubevirtError)
