"""Strays: a QEMU that a libvirtd had started to ask what it can do, and then died.

libvirt lets go of such a process as it does of a guest, so nobody else would ever end it. It is no guest: it has
no machine. While libvirt may be asking, only one that is older than the daemon is surely a stray; once a guest
was started there is nothing left to ask, and all of them are.
"""

import os
import signal
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Final

from kubevirt.base.log import get_logger
from kubevirt.host.libvirt.daemon import Daemon

log = get_logger(__name__)

_START_TIME: Final = 19
"""Index in /proc/PID/stat, counted behind the name, which may hold anything."""


def end_strays_of_former(daemon: Daemon) -> None:
    """To be called when a daemon has come."""
    try:
        began = _start_time(int(daemon.pid_file.read_text()))
    except (OSError, ValueError):
        return  # it is gone again; its successor will do
    _end(pid for pid in _askable() if _is_older(pid, began))


def end_all_strays() -> None:
    """To be called when nobody is asked."""
    _end(_askable())


def _end(pids: Iterable[int]) -> None:
    for pid in pids:
        log.info("a QEMU that a former libvirtd left is ended", pid=pid)
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _is_older(pid: int, moment: int) -> bool:
    try:
        return _start_time(pid) < moment
    except OSError:  # it has ended by itself
        return False


def _askable() -> Iterator[int]:
    """QEMUs without a machine, of all processes that we see: those of our own container."""
    for each in Path("/proc").iterdir():
        if each.name.isdigit():
            with suppress(OSError):
                words = (each / "cmdline").read_bytes().split(b"\0")
                if b"qemu-system" in words[0] and _has_no_machine(words):
                    yield int(each.name)


def _has_no_machine(words: list[bytes]) -> bool:
    return any(
        option == b"-machine" and value.split(b",")[0] == b"none"
        for option, value in pairwise(words)
    )


def _start_time(pid: int) -> int:
    """In ticks since the machine's start."""
    status = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    return int(status.rpartition(")")[2].split()[_START_TIME])
