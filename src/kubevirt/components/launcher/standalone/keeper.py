"""The outer process of a run while its guest runs: it waits, and is small.

It is what `running` becomes (by exec, so all that was needed to get there is gone) once the guest runs: the
sandbox is its child as before, locks and other descriptors are inherited. It keeps the guest's DHCP servers
alive, passes interruptions on, shows the console, and takes everything away when the guest has ended, in the same
way as the next run would if this one were killed.

It imports no asyncio until then: every stand-alone guest has such a process.
"""

import json
import os
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, TypedDict

from kubevirt.base.errors import KubevirtError
from kubevirt.base.files import Root
from kubevirt.components.launcher.monitor import GUEST_WAITS_S, Child, how
from kubevirt.components.launcher.standalone.events import Events
from kubevirt.components.launcher.standalone.voice import say

INTERRUPTIONS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
MODULE: Final = "kubevirt.components.launcher.standalone.keeper"
TIRED: Final = 5
"""Early deaths in a row of a DHCP server, after which the person is told."""
LONGEST_WAIT_S: Final = 3600.0
SIGNALLED: Final = 128


class Charge(TypedDict):
    """What a keeper is handed over; the descriptors in it are inherited."""

    sandbox: int
    """Pid of the sandbox, our child."""
    launcher: int
    """Descriptor of the first process in it."""
    interrupted: int
    """A pipe with the numbers of signals that came while we became a keeper."""
    servers: Sequence[list[str]]
    """Commands of the guest's DHCP servers."""
    console: str | None
    """Folder of the guest's sockets, if its console is wanted."""
    log: str
    notes: str
    """Folder in which the launcher says why its guest ended."""
    locks: list[int]
    """Descriptors that tell others that the run is alive."""
    uid: str
    runtime: str
    store: str
    """Of `folders.Place`."""


class Keeper:
    def __init__(self, charge: Charge) -> None:
        self._charge = charge
        self._events = Events()
        self._sandbox: int = charge["sandbox"]
        self._launcher: int = charge["launcher"]
        log = os.open(charge["log"], os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        self._servers = [Child("the DHCP server", argv, log) for argv in charge["servers"]]
        self._console: Any = None
        self._code: int | None = None
        self._has_asked = False
        self._was_killed = False

    def run(self) -> int:
        """The exit code of virt-launcher."""
        self._events.hear((signal.SIGCHLD,), self._reap)
        self._events.hear(INTERRUPTIONS, self._interrupted)
        with suppress(BlockingIOError):
            for _ in os.read(self._charge["interrupted"], 16):
                self._interrupted()
        self._reap()  # who has died before we listened
        try:
            if folder := self._charge["console"]:
                self._open_console(folder)
            while self._code is None:
                self._start_what_is_due()
                self._events.wait(self._patience())
        finally:
            if self._console:
                self._console.close()
        say(self._ending(self._code))
        return 0 if self._code == 0 else 1

    def _open_console(self, folder: str) -> None:
        from kubevirt.components.launcher.standalone.console import Console  # noqa: PLC0415

        self._console = Console(folder, self._events, say)
        self._console.open()

    # Children.

    def _start_what_is_due(self) -> None:
        for server in self._servers:
            if server.due <= time.monotonic():
                server.start(GUEST_WAITS_S)

    def _patience(self) -> float:
        nearest = min((server.due for server in self._servers), default=float("inf"))
        return min(max(nearest - time.monotonic(), 0.0), LONGEST_WAIT_S)

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if not pid:
                return
            if pid == self._sandbox:
                self._code = os.waitstatus_to_exitcode(status)
            for server in self._servers:
                if pid == server.pid:
                    server.ended(GUEST_WAITS_S)
                    if server.early_deaths == TIRED:
                        say(f"the guest's DHCP server does not live; see {self._charge['log']}")

    # Interruptions.

    def _interrupted(self) -> None:
        """The first one asks the guest to end, the second one ends it."""
        if self._has_asked:
            self._was_killed = True
            self._send(signal.SIGKILL)
        else:
            self._has_asked = True
            say("asking the guest to end; Ctrl+C again ends it at once")
            self._send(signal.SIGTERM)

    def _send(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):  # it is gone, which we shall hear of
            signal.pidfd_send_signal(self._launcher, number)

    # The end.

    def _ending(self, code: int | None) -> str:
        """Why the guest ended, in the launcher's words if it has any."""
        if self._was_killed:
            return "the guest was ended at once"
        try:
            with Root.open(self._charge["notes"]) as notes:
                return notes.read("ending", limit=1 << 12).decode(errors="replace").strip()
        except FileNotFoundError:
            from kubevirt.components.launcher.standalone.launcher import (  # noqa: PLC0415
                last_words,
            )

            said = last_words(Path(self._charge["log"]))
            return f"the launcher {_how(code or 0)}; the last that its log says: {said}"


def _how(code: int) -> str:
    """The end of what was in the sandbox, which tells of a signal as shells do."""
    return how(SIGNALLED - code if code > SIGNALLED else code)


def take_away(charge: Charge) -> None:
    """All that the run has left. What tells others that it lives is let go first."""
    import asyncio  # noqa: PLC0415  # from here on memory does not matter

    from kubevirt.components.launcher.standalone.clearing import clear  # noqa: PLC0415

    for fd in charge["locks"]:
        os.close(fd)
    try:
        asyncio.run(clear(charge["runtime"], charge["store"], charge["uid"]))
    except KubevirtError as error:
        say(f"something of the run is left, for the next one to take away: {error}")


def main(arguments: Sequence[str]) -> int:
    charge = json.loads(arguments[0])
    code = Keeper(charge).run()
    take_away(charge)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
