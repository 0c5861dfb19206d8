"""One sentence for what went wrong: the thing, the cause and the way out."""

import errno
import ssl
from pathlib import Path

from kubevirt.base.errors import KubevirtError, UserError
from kubevirt.embedded.process.progress import Failed


def told(error: BaseException, home: Path, port: int) -> Failed:
    if isinstance(error, BaseExceptionGroup):
        return told(error.exceptions[0], home, port)
    if isinstance(error, UserError):
        return Failed(message=str(error), reason=error.reason)
    if isinstance(error, OSError) and (known := _known(error, home, port)):
        return known
    if isinstance(error, KubevirtError | OSError | ssl.SSLError):
        return Failed(message=f"{error}; the log is {home}/process.log")
    kind = type(error).__name__
    return Failed(
        message=f"a mistake in virtctl itself ({kind}: {error}); please report it with {home}/process.log",
        reason="Bug",
    )


def _known(error: OSError, home: Path, port: int) -> Failed | None:
    match error.errno:
        case errno.EADDRINUSE:
            return Failed(
                message=f"port {port} is in use by another process; choose another one with --port",
                reason="PortInUse",
            )
        case errno.ENOSPC | errno.EDQUOT:
            return Failed(
                message=f"there is no space left for {error.filename or home}; free some, or choose "
                "a folder on another disk with --home",
                reason="DiskFull",
            )
        case errno.EROFS:
            return Failed(
                message=f"{error.filename or home} is on a disk that cannot be written to; choose "
                "another folder with --home",
                reason="ReadOnly",
            )
        case errno.EACCES | errno.EPERM:
            return Failed(
                message=f"{error.filename or home} may not be used: {error.strerror}; run virtctl as root",
                reason="Forbidden",
            )
    return None
