"""Waiting for a daemon: until somebody listens at a unix socket.

The kernel tells when a name appears in the socket's folder (inotify), so there is nothing to poll. A
daemon that was killed leaves its socket behind, and a new one binds before it listens; so what
counts is not the name but that a connection is taken.
"""

import errno
import socket
from pathlib import Path
from typing import Final

from kubevirt.base import inotify
from kubevirt.base.clock import Clock
from kubevirt.base.file_news import news_of
from kubevirt.host.libvirt.errors import DaemonUnreachableError

_BETWEEN_BIND_AND_LISTEN_S: Final = 0.002
"""After its socket has appeared a daemon listens at once; there is no event for that."""
_LOOKS: Final = 100
"""How often we look at a socket that is there, before the next event is waited for."""


async def wait_for_socket(path: Path, *, clock: Clock, limit_s: float = 10.0) -> None:
    """Returns as soon as something listens at `path`, whose folder need not exist yet."""
    try:
        async with clock.timeout(limit_s):
            await _wait(path, clock)
    except TimeoutError:
        raise DaemonUnreachableError(
            f"nothing listens at {path} after {limit_s:g} s; what the daemon printed tells why"
        ) from None


async def _wait(path: Path, clock: Clock) -> None:
    while True:
        folder = _nearest_folder(path)
        with news_of(folder, inotify.APPEARS | inotify.GOES) as appeared:
            if listens(path):
                return
            if folder == _nearest_folder(path):  # else it came before the watch did
                await appeared.wait()
        for _ in range(_LOOKS):
            if listens(path):
                return
            if not _is_there(path):
                break
            await clock.sleep(_BETWEEN_BIND_AND_LISTEN_S)


def listens(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as trial:
        trial.setblocking(False)
        try:
            trial.connect(str(path))
        except BlockingIOError:
            return True  # its queue is full, so it is there
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.ECONNREFUSED, errno.ENOTDIR):
                return False
            raise
    return True


def _is_there(path: Path) -> bool:
    return path.is_socket()


def _nearest_folder(path: Path) -> Path:
    """The folder in which something must appear next."""
    return next(folder for folder in path.parents if folder.is_dir())
