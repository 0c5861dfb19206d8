"""The socket under a connection, to be shut down under a call that does not end.

The library does not show its socket. It is found among our descriptors: a unix socket whose other
end is the daemon's, and which was not there before the connection was opened. So, connections to one
daemon are opened one at a time; and the daemon must see its socket under the path that we do, as it
does in a pod.
"""

import os
import socket
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from kubevirt.base.errors import ConfigError


class Wire:
    def __init__(self, path: Path) -> None:
        if any(each in str(path) for each in "?&#%"):
            raise ConfigError(f"the socket {path} cannot be told to libvirt; rename its folder")
        self._path = str(path)
        self._others: frozenset[int] = frozenset()
        self._ours: frozenset[int] | None = None

    def begin(self) -> None:
        """Before the library opens it."""
        self._others = self._numbers()

    def done(self) -> None:
        """After the library has opened it."""
        self._ours = self._numbers() - self._others

    def cut(self) -> None:
        """Ends it for both sides and for every thread that waits on it; harmless when it is gone."""
        for number, each in self._sockets():
            if number in self._ours if self._ours is not None else number not in self._others:
                with suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)

    def _numbers(self) -> frozenset[int]:
        return frozenset(number for number, _ in self._sockets())

    def _sockets(self) -> Iterator[tuple[int, socket.socket]]:
        """Our sockets to that daemon, each with the kernel's number of it."""
        for entry in Path("/proc/self/fd").iterdir():
            fd = int(entry.name)
            with suppress(OSError):  # closed since
                if not stat.S_ISSOCK(os.fstat(fd).st_mode):
                    continue
                with socket.fromfd(fd, socket.AF_UNIX, socket.SOCK_STREAM) as each:
                    if each.getpeername() == self._path:
                        yield os.fstat(each.fileno()).st_ino, each
