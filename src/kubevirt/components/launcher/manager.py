"""The manager: the process of a launcher that answers the handler and looks after the guest.

    python -I -m kubevirt.components.launcher.manager SETTINGS.json

It may be killed at any moment. The monitor starts it again, and it finds the guest as it is: all that it must
know is in libvirt, in the notes and in the settings. It ends with 0 when there is nothing left to look after.

What it does is in `managing.py`, which is imported only after the preparer was forked: a process of one thread,
with little in it, is easily copied.
"""

import gc
import sys

if __name__ == "__main__":
    # Of what is imported nothing is garbage; to look for it takes a tenth of the start.
    gc.disable()
    # asyncio does without TLS if there is none, and every guest is 1.3 MB cheaper: we speak over unix sockets.
    sys.modules["ssl"] = None  # type: ignore[assignment]  # Python's own way to say "do not import"

import asyncio
import os
from typing import Final

from kubevirt.base import log as logs
from kubevirt.base.clock import SystemClock
from kubevirt.base.errors import ConfigError
from kubevirt.components.launcher import preparer, settings
from kubevirt.components.launcher.notes import Notes

log = logs.get_logger(__name__)

USELESS: Final = 64
"""Another start of the manager would not help."""


def main(argv: list[str]) -> int:
    try:
        found = settings.read(argv[0])
    except ConfigError as error:
        print(f"virt-launcher: {error}", file=sys.stderr)  # noqa: T201  # there are no logs yet
        return USELESS
    logs.configure("virt-launcher", found.verbosity)
    notes = Notes(found.folder)
    preparing = None if notes.has_started else preparer.fork(found)
    from kubevirt.components.launcher.managing import manage  # noqa: PLC0415  # see above

    gc.freeze()
    gc.enable()
    try:
        return asyncio.run(manage(found, notes, preparing, SystemClock()))
    except Exception:
        log.exception("the manager fails, and is started again")
        return 1


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stderr.flush()
    # All is said and closed. Taking down the interpreter too would make every ending 30 ms longer.
    os._exit(code)
