"""libvirt's event loop: one thread for the whole process, asleep until something happens.

libvirt has exactly one event loop for each process, and it must be there before the first
connection. That is its choice; this file is the only place where we live with it. The thread belongs
to no connection and to no asyncio loop, and dies with the process.
"""

import threading
from functools import cache

import libvirt

from kubevirt.base.log import get_logger

_log = get_logger("host.libvirt")


@cache
def ensure_event_thread() -> None:
    """Starts it with the first connection, never on import: a process may fork before."""
    libvirt.virEventRegisterDefaultImpl()
    # The library prints each error, also those that we handle.
    libvirt.registerErrorHandler(_ignore, None)
    threading.Thread(target=_run, name="libvirt-events", daemon=True).start()


def _run() -> None:
    while True:
        try:
            libvirt.virEventRunDefaultImpl()
        except libvirt.libvirtError:
            _log.exception("libvirt's event loop stumbled")


def _ignore(*_: object) -> None:
    pass
