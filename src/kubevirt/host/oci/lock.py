"""A lock between processes: a file that one of them has locked."""

import fcntl
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from kubevirt.base.clock import Clock

_TRY_S: Final = 0.1


@asynccontextmanager
async def locked(path: Path, clock: Clock) -> AsyncIterator[None]:
    """Waits for the lock, and holds it for the body. Who dies holds it no longer.

    The kernel would wake a thread that waits for the lock, but nobody can call that thread back when
    its task is cancelled. So the lock is tried again and again: what it guards takes far longer.
    """
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        while not _try(file):
            await clock.sleep(_TRY_S)
        yield
    finally:
        os.close(file)


def _try(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
