"""What virtctl's exit codes mean; documented in docs/virtctl.md and docs/embedded/up.md."""

from typing import Final

OK: Final = 0
FAILED: Final = 1
USAGE: Final = 2
NOT_FOUND: Final = 3
TIMEOUT: Final = 4
CONFLICT: Final = 5
NO_ACCESS: Final = 6
NOT_ABLE: Final = 7
"""This machine lacks something: a program, a kernel feature."""
INTERRUPTED: Final = 130

_BY_REASON: Final = {
    "Usage": USAGE,
    "NotFound": NOT_FOUND,
    "Timeout": TIMEOUT,
    "AlreadyExists": CONFLICT,
    "Conflict": CONFLICT,
    "HomeInUse": CONFLICT,
    "HomeTooNew": CONFLICT,
    "PortInUse": CONFLICT,
    "Forbidden": NO_ACCESS,
    "NotRoot": NO_ACCESS,
    "Unauthorized": NO_ACCESS,
    "KernelTooOld": NOT_ABLE,
    "NotAble": NOT_ABLE,
    "ProgramNotFound": NOT_ABLE,
    "Interrupted": INTERRUPTED,
}


def of(reason: str) -> int:
    return _BY_REASON.get(reason, FAILED)
