"""One process for one store: a lock file beside the database, with the holder's process number.

The kernel drops the lock when its holder dies, however it dies, so there are no stale locks. The file
stays: to remove it would let two processes hold locks on two files of one name.
"""

import fcntl
import os
from pathlib import Path

from kubevirt.apiserver.storage.errors import StoreUnusable


class Lock:
    def __init__(self, store: Path) -> None:
        path = store.with_name(store.name + ".lock")
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(self._fd, 32, 0).decode(errors="replace").strip()
            self.release()
            raise StoreUnusable(
                f"the store {store} is in use by {_named(holder)}; stop that process, or choose"
                " another folder"
            ) from None
        os.ftruncate(self._fd, 0)
        os.pwrite(self._fd, f"{os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def _named(holder: str) -> str:
    if not holder.isdigit():
        return "another process"
    try:
        name = Path(f"/proc/{holder}/comm").read_text(errors="replace").strip()
    except OSError:
        return f"process {holder}"
    return f"process {holder} ({name})"
