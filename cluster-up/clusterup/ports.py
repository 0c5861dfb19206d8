"""Free TCP ports on the loopback address, safe among test runs in parallel.

Asking the kernel for port 0 and closing the socket again lets two runs be given the same port.
Here a port is owned by a lock on a file of its number, held as long as the `Port` lives and
dropped by the kernel when its process dies. The range lies below the kernel's ephemeral ports, so
that no outgoing connection takes one in the meantime.
"""

import fcntl
import os
import random
import socket
import tempfile
from pathlib import Path

from clusterup import errors

LOOPBACK = "127.0.0.1"
_RANGE = range(21000, 30000)


class Port:
    def __init__(self, number: int, lock: int) -> None:
        self.number = number
        self._lock: int | None = lock

    def release(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def take() -> Port:
    """A port nobody listens on and nobody else of us has taken."""
    folder = Path(tempfile.gettempdir()) / f"kubevirt-ports-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    for number in random.sample(_RANGE, len(_RANGE)):
        lock = _lock(folder / str(number))
        if lock is None:
            continue
        if _is_free(number):
            return Port(number, lock)
        os.close(lock)
    raise errors.Missing(
        f"no TCP port between {_RANGE.start} and {_RANGE.stop} is free on {LOOPBACK}, and the "
        "control plane needs four; end some of the programs that listen there"
    )


def _lock(path: Path) -> int | None:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


def _is_free(number: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, number))
        except OSError:
            return False
    return True
