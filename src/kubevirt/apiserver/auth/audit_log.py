"""The audit log: JSON lines in a file, rotated by size. It never holds up a request.

Lines go through a queue to a thread of its own. When the disk cannot follow, lines are dropped and counted: the
next line that fits says how many. A server that stood still because its log is full would be worse.
"""

import os
import queue
import threading
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import msgspec

from kubevirt.base.log import get_logger

log = get_logger(__name__)

_END: Final = b""


class AuditLogSettings(msgspec.Struct, frozen=True, kw_only=True):
    path: Path
    max_bytes: int = 32 << 20
    """Of one file, before it is put aside."""
    backups: int = 4
    """Files that are kept beside the current one: PATH.1 is the youngest."""
    queued: int = 8192
    """Lines that may wait for the disk: about 8 MB."""
    close_limit_s: float = 5
    """How long the end waits for lines that are still queued."""


class AuditLog:
    """`with AuditLog(settings) as audit: audit.write(line)`"""

    def __init__(self, settings: AuditLogSettings) -> None:
        self._settings = settings
        self._queue: queue.Queue[bytes] = queue.Queue(settings.queued)
        self._thread = threading.Thread(target=self._run, name="audit", daemon=True)
        self.dropped = 0
        """Lines that were lost since the start."""
        self._unreported = 0
        self._size = 0

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self._queue.put(_END, timeout=self._settings.close_limit_s)
        except queue.Full:
            log.warning("the audit log could not be written to its end", lines=self._queue.qsize())
            return
        self._thread.join(self._settings.close_limit_s)

    def write(self, line: bytes) -> None:
        """Returns at once, whatever the disk does. Called from one thread."""
        try:
            if self._unreported:
                self._queue.put_nowait(_lost(self._unreported))
                self._unreported = 0
            self._queue.put_nowait(line)
        except queue.Full:
            self.dropped += 1
            self._unreported += 1

    def _run(self) -> None:
        file = -1
        is_failing = False
        while (line := self._queue.get()) != _END:
            try:
                if file < 0:
                    file = self._open()
                if self._size and self._size + len(line) > self._settings.max_bytes:
                    os.close(file)
                    file = -1
                    self._rotate()
                    file = self._open()
                self._size += os.write(file, line + b"\n")
                is_failing = False
            except OSError as error:
                self.dropped += 1
                if not is_failing:  # once, not for each line that follows
                    log.warning("the audit log cannot be written", error=error)
                is_failing = True
        if file >= 0:
            os.close(file)

    def _open(self) -> int:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        file = os.open(self._settings.path, flags, 0o600)
        self._size = os.fstat(file).st_size
        return file

    def _rotate(self) -> None:
        path, backups = self._settings.path, self._settings.backups
        if not backups:
            path.unlink()
            return
        for number in range(backups - 1, 0, -1):
            older = path.with_name(f"{path.name}.{number}")
            if older.exists():
                older.rename(path.with_name(f"{path.name}.{number + 1}"))
        path.rename(path.with_name(f"{path.name}.1"))


def _lost(lines: int) -> bytes:
    note = {"kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Metadata", "stage": "Panic"}
    return msgspec.json.encode(
        {**note, "annotations": {"audit.kubevirt.io/lost-events": str(lines)}}
    )
