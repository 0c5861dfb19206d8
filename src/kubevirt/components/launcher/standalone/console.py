"""The guest's serial console on our terminal, or on whatever standard input and output are.

What the guest prints is read from the log that QEMU keeps, from its first byte on: so nothing of the boot is
lost, and nothing comes twice. The socket takes what is typed; what comes out of it is in the log as well and is
thrown away. A guest whose log is switched off is heard through the socket, from now on.

Socket and log lie in a folder of the launcher's, who may have put anything there: both are opened without
following a link.
"""

import asyncio
import errno
import io
import os
import socket
import stat
import termios
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from kubevirt.base.files import Root
from kubevirt.components.launcher.standalone.changes import MODIFIED, Watch

LEAVE: Final = b"\x1d"
"""Ctrl+], as in telnet and virsh."""
HOW_TO_LEAVE: Final = "connected to the serial console; Ctrl+] leaves it, and the guest runs on"
LEFT: Final = "left the console; the guest runs on until Ctrl+C"
_CHUNK: Final = 1 << 16


class Console:
    def __init__(
        self,
        folder: Path,
        say: Callable[[str], None],
        *,
        port: str = "virt-serial0",
        stdin: int = 0,
        stdout: int = 1,
    ) -> None:
        """`folder` holds the guest's sockets; `say` talks to the person."""
        self._root = Root.open(folder)
        self._say = say
        self._port = port
        self._stdin = stdin
        self._stdout = stdout
        self._log: io.FileIO | None = None
        self._is_open = True

    def close(self) -> None:
        """The last words too; then it is over."""
        self._show_log()
        if self._log is not None:
            self._log.close()
        self._root.close()

    async def run(self) -> None:
        """Until the person leaves, or for ever."""
        try:
            guest = self._connected()
        except FileNotFoundError:
            self._say("the guest has no serial console; autoattachSerialConsole is false")
            return
        with suppress(FileNotFoundError):
            self._log = self._root.open_file(f"{self._port}-log")
        with guest, _raw(self._stdin) as is_terminal:
            if is_terminal:
                self._say(HOW_TO_LEAVE + "\r")
            async with asyncio.TaskGroup() as tasks:
                output = tasks.create_task(self._output(guest))
                if await self._input(guest, is_terminal=is_terminal):
                    output.cancel()
        self._is_open = False
        self._say(LEFT)

    def _connected(self) -> socket.socket:
        guest = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        try:
            with self._root.connectable(self._port) as address:
                guest.connect(address)
        except BaseException:
            guest.close()
            raise
        return guest

    # From the guest.

    async def _output(self, guest: socket.socket) -> None:
        if self._log is None:
            await self._drain(guest, self._show)
            return
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._drain(guest, _thrown_away))
            with Watch(f"/proc/self/fd/{self._log.fileno()}", MODIFIED) as log:
                while True:
                    self._show_log()
                    await log.changed()

    async def _drain(self, guest: socket.socket, take: Callable[[bytes], None]) -> None:
        loop = asyncio.get_running_loop()
        with suppress(ConnectionError):
            while data := await loop.sock_recv(guest, _CHUNK):
                take(data)

    def _show_log(self) -> None:
        while self._is_open and self._log is not None and (data := self._log.read(_CHUNK)):
            self._show(data)

    def _show(self, data: bytes) -> None:
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[os.write(self._stdout, rest) :]
        except OSError:  # nobody looks any more; the guest runs on
            self._is_open = False

    # To the guest.

    async def _input(self, guest: socket.socket, *, is_terminal: bool) -> bool:
        """Whether the person left; a pipe that ends leaves the output running."""
        loop = asyncio.get_running_loop()
        while data := await _read(self._stdin):
            typed, leave, _ = data.partition(LEAVE) if is_terminal else (data, b"", b"")
            with suppress(ConnectionError):
                await loop.sock_sendall(guest, typed)
            if leave:
                return True
        return False


def _thrown_away(data: bytes) -> None:
    del data


async def _read(fd: int) -> bytes:
    """The next bytes; none at the end, or when the terminal is gone."""
    loop = asyncio.get_running_loop()
    if not stat.S_ISREG(os.fstat(fd).st_mode):  # a file is always ready, and epoll refuses it
        ready = asyncio.Event()
        try:
            loop.add_reader(fd, ready.set)
        except PermissionError:  # /dev/null, which is always ready too
            pass
        else:
            try:
                await ready.wait()
            finally:
                loop.remove_reader(fd)
    try:
        return os.read(fd, _CHUNK)
    except OSError as error:
        if error.errno == errno.EIO:
            return b""
        raise


@contextmanager
def _raw(fd: int) -> Iterator[bool]:
    """Every key for the guest, Ctrl+C too; whether it is a terminal at all. Always put back."""
    if not os.isatty(fd):
        yield False
        return
    before = termios.tcgetattr(fd)
    try:
        tty.setraw(fd)
        yield True
    finally:
        with suppress(termios.error):  # the window is gone
            termios.tcsetattr(fd, termios.TCSADRAIN, before)
