"""Ends the process of a home in good order, or clears away what is left of one that died."""

import os
import select
import signal
from enum import Enum
from typing import Final

from kubevirt.base.errors import ConfigError
from kubevirt.embedded.home import Home
from kubevirt.embedded.process.progress import Listener, step
from kubevirt.embedded.process.settings import STOP_S

PATIENCE_S: Final = STOP_S + 30.0
"""What pods are given, and the rest of the process on top of it."""


class Ended(Enum):
    STOPPED = "stopped"
    CLEARED = "cleared"
    """The process had died; what it left on the machine is gone."""
    NOT_UP = "not up"


def stop(home: Home, listener: Listener) -> Ended:
    if home.is_running:
        with step(listener, "stopping pods, network, API server"):
            _stop(home)
        if home.process is None:
            return Ended.STOPPED
    elif home.process is None:
        return Ended.NOT_UP
    with step(listener, "clearing away what a process left that died"):
        _clear(home)
    return Ended.CLEARED


def _stop(home: Home) -> None:
    pid = home.holder
    if pid is None:
        return  # gone meanwhile
    try:
        pidfd = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        if not _is_ending(home, pid):  # a second signal would cut short what pods are promised
            _ask_to_end(pidfd, pid)
        readable, _, _ = select.select([pidfd], [], [], PATIENCE_S)
    finally:
        os.close(pidfd)
    if not readable:
        raise ConfigError(
            f"process {pid} did not end within {PATIENCE_S:.0f} s; its log is {home.log}, and by force it is "
            f"ended with: kill -9 {pid}; virtctl down",
            reason="Timeout",
        )


def _is_ending(home: Home, pid: int) -> bool:
    """The one that runs now, not one that was killed while it was ending."""
    found = home.process
    return found is not None and found.is_ending and found.pid == pid


def _ask_to_end(pidfd: int, pid: int) -> None:
    try:
        signal.pidfd_send_signal(pidfd, signal.SIGTERM)
    except ProcessLookupError:
        return
    except PermissionError:
        raise ConfigError(
            f"you may not end process {pid}, which is another user's; use sudo", reason="NotRoot"
        ) from None


def _clear(home: Home) -> None:
    import asyncio  # noqa: PLC0415  # a rare thing; the usual one needs none of it

    from kubevirt.embedded.process import clearing  # noqa: PLC0415

    with home.locked():
        asyncio.run(clearing.clear(home))
        home.leave()
