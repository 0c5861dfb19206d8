"""The guest's serial console on our terminal, or on whatever standard input and output are.

What the guest printed before we came is in the log that QEMU keeps; what it prints from then on comes out of the
socket, which also takes what is typed. The log is then not read any further: when nobody empties the socket
quickly enough, QEMU tries a byte again and logs it twice. A guest whose log is switched off is heard from now on.

Socket and log lie in a folder of the launcher's, who may have put anything there: both are opened without
following a link.
"""

import errno
import io
import os
import socket
import termios
import tty
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from kubevirt.base import inotify
from kubevirt.base.files import Root
from kubevirt.components.launcher.standalone.events import Events

LEAVE: Final = b"\x1d"
"""Ctrl+], as in telnet and virsh."""
HOW_TO_LEAVE: Final = "connected to the serial console; Ctrl+] leaves it, and the guest runs on"
LEFT: Final = "left the console; the guest runs on until Ctrl+C"
NONE: Final = "the guest has no serial console; autoattachSerialConsole is false"
PORT: Final = "virt-serial0"
_CHUNK: Final = 1 << 16
_TAIL: Final = 1 << 12
_QUIET: Final = 2
"""Looks at the socket without anything new, after which all that QEMU has sent is in its log as well."""


class Console:
    def __init__(
        self,
        folder: str,
        events: Events,
        say: Callable[[str], None],
        *,
        stdin: int = 0,
        stdout: int = 1,
    ) -> None:
        """`folder` holds the guest's sockets; `say` talks to the person."""
        self._events = events
        self._say = say
        self._stdin = stdin
        self._stdout = stdout
        self._root = Root.open(folder)
        self._guest: socket.socket | None = None
        self._log: io.FileIO | None = None
        self._growth = -1
        self._tail = b""
        """The end of what was shown of the log."""
        self._typed = b""
        self._before: list[Any] | None = None

    def open(self) -> None:
        try:
            self._guest = self._connected()
        except (FileNotFoundError, ConnectionError):
            self._say(NONE)
            return
        self._events.watch(self._guest.fileno(), self._with_guest)
        with suppress(FileNotFoundError):
            self._log = self._root.open_file(f"{PORT}-log")
            self._growth = inotify.watch(f"/proc/self/fd/{self._log.fileno()}", inotify.MODIFIED)
            self._events.watch(self._growth, self._from_log)
        if os.isatty(self._stdin):
            self._before = termios.tcgetattr(self._stdin)
            self._say(HOW_TO_LEAVE)
            tty.setraw(self._stdin)
        self._listen()
        self._show_log()

    def close(self) -> None:
        """Shows the last words and puts the terminal back. Closing twice does no harm."""
        self._show_log()
        self._show(self._at_hand() if self._log is None else b"")
        if self._before is not None:
            with suppress(termios.error):  # the window is gone
                termios.tcsetattr(self._stdin, termios.TCSADRAIN, self._before)
            self._before = None
        self._events.forget(self._stdin)
        if self._guest is not None:
            self._events.forget(self._guest.fileno())
            self._guest.close()
            self._guest = None
        self._close_log()
        self._root.close()

    def _close_log(self) -> None:
        if self._log is not None:
            self._events.forget(self._growth)
            os.close(self._growth)
            self._log.close()
            self._log = None

    def _connected(self) -> socket.socket:
        guest = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            with self._root.connectable(PORT) as address:
                guest.connect(address)
        except BaseException:
            guest.close()
            raise
        guest.setblocking(False)
        return guest

    # From the guest.

    def _with_guest(self) -> None:
        """It has printed something, or takes more of what was typed."""
        if self._guest is None:
            return
        try:
            data = self._guest.recv(_CHUNK)
        except BlockingIOError:
            self._to_guest()
            return
        except ConnectionError:
            data = b""
        if not data:
            self._events.forget(self._guest.fileno())
        elif self._log is None:
            self._show(data)
        else:
            self._leave_log(data)

    def _leave_log(self, heard: bytes) -> None:
        """The socket speaks, so from here on it alone is heard.

        QEMU sends a byte, then logs it. Once nothing more comes, the log ends with all that was heard; or it
        lacks the last byte, if we were quicker than QEMU.
        """
        quiet = 0
        while quiet < _QUIET and len(heard) < _CHUNK:
            os.sched_yield()
            self._show_log()
            more = self._at_hand()
            heard += more
            quiet = 0 if more else quiet + 1
        self._close_log()
        if not self._tail.endswith(heard[-_TAIL:]):
            self._show(heard[-1:])

    def _at_hand(self) -> bytes:
        """What the guest has said and can be read without waiting."""
        found = b""
        with suppress(BlockingIOError, ConnectionError):
            while self._guest is not None and (data := self._guest.recv(_CHUNK)):
                found += data
        return found

    def _from_log(self) -> None:
        inotify.heard(self._growth)
        self._show_log()

    def _show_log(self) -> None:
        while self._log is not None and (data := self._log.read(_CHUNK)):
            self._tail = (self._tail + data)[-_TAIL:]
            self._show(data)

    def _show(self, data: bytes) -> None:
        rest = memoryview(data)
        with suppress(OSError):  # nobody looks any more; the guest runs on
            while rest:
                rest = rest[os.write(self._stdout, rest) :]

    # To the guest.

    def _listen(self) -> None:
        """Waits for what is typed. A plain file is read as soon as the guest takes it."""
        try:
            self._events.watch(self._stdin, self._from_person)
        except PermissionError:  # no terminal, no pipe: it cannot be waited for
            self._from_person()

    def _from_person(self) -> None:
        try:
            data = os.read(self._stdin, _CHUNK)
        except OSError as error:
            if error.errno != errno.EIO:  # the terminal is gone
                raise
            data = b""
        typed, leave, _ = data.partition(LEAVE) if self._before is not None else (data, b"", b"")
        self._typed += typed
        if leave:
            self.close()
            self._say(LEFT)
            return
        self._events.forget(self._stdin)
        if data:
            self._to_guest()

    def _to_guest(self) -> None:
        """Nothing more is read before the guest has taken this: a script may send faster than it reads."""
        if self._guest is None:
            return
        try:
            self._typed = self._typed[self._guest.send(self._typed) :]
        except BlockingIOError:
            pass
        except ConnectionError:
            return
        self._events.watch(self._guest.fileno(), self._with_guest, writable=bool(self._typed))
        if not self._typed:
            self._listen()
