"""How a command ended, as a client reads it: a Status of Kubernetes on the channel of errors."""

from collections.abc import Sequence

import msgspec

from kubevirt.api.meta import Status, StatusCause, StatusDetails


def ended(code: int, command: Sequence[str]) -> bytes:
    if code == 0:
        return msgspec.json.encode(Status(status="Success"))
    said = f"error executing command [{' '.join(command)}], exit code {code}"
    return msgspec.json.encode(
        Status(
            status="Failure",
            message=f"command terminated with non-zero exit code: {said}",
            reason="NonZeroExitCode",
            details=StatusDetails(causes=(StatusCause(reason="ExitCode", message=str(code)),)),
        )
    )


def not_started(why: str) -> bytes:
    said = f"error executing command in container: {why}"
    return msgspec.json.encode(
        Status(
            status="Failure",
            message=f"Internal error occurred: {said}",
            reason="InternalError",
            details=StatusDetails(causes=(StatusCause(message=said),)),
            code=500,
        )
    )
