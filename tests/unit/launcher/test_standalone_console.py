"""The console of a stand-alone guest shows every byte once, whoever was quicker: the log or the socket."""

import os
import selectors
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from kubevirt.components.launcher.standalone.console import PORT, Console
from kubevirt.components.launcher.standalone.events import Events


class Ready(Events):
    """The same without signals, which belong to the whole process."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()


class Screen:
    """A console on pipes, and the QEMU that it talks to."""

    def __init__(self, folder: Path) -> None:
        self.events = Ready()
        self.log = folder / f"{PORT}-log"
        self.log.write_bytes(b"booted\n")
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(str(folder / PORT))
        self._listening.listen()
        self._reading, self._writing = os.pipe()
        self._typed = os.pipe()
        os.set_blocking(self._reading, False)
        self.console = Console(
            str(folder), self.events, lambda _: None, stdin=self._typed[0], stdout=self._writing
        )
        self.console.open()
        self.qemu, _ = self._listening.accept()

    def prints(self, sent: bytes, logged: bytes) -> None:
        self.qemu.sendall(sent)
        with self.log.open("ab") as log:
            log.write(logged)
        self.events.wait(0)

    @property
    def shown(self) -> bytes:
        try:
            return os.read(self._reading, 65536)
        except BlockingIOError:
            return b""

    def close(self) -> None:
        self.console.close()
        for each in (self.qemu, self._listening, self.events._selector):
            each.close()
        for fd in (self._reading, self._writing, *self._typed):
            os.close(fd)


@pytest.fixture
def screen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Screen]:
    monkeypatch.chdir(tmp_path)  # a socket's address has room for 107 characters
    screen = Screen(Path())
    yield screen
    screen.close()


def test_what_was_printed_before_comes_from_the_log(screen: Screen) -> None:
    assert screen.shown == b"booted\n"


def test_the_first_output_that_comes_both_ways_is_shown_once(screen: Screen) -> None:
    screen.prints(b"hello", logged=b"hello")
    assert screen.shown == b"booted\nhello"


def test_a_byte_that_is_not_yet_in_the_log_is_shown_too(screen: Screen) -> None:
    screen.prints(b"hello", logged=b"hell")
    assert screen.shown == b"booted\nhello"
    screen.prints(b"!", logged=b"o!")
    assert screen.shown == b"!"


def test_characters_that_qemu_logs_twice_when_the_machine_is_busy_are_shown_once(
    screen: Screen,
) -> None:
    screen.prints(b"hello", logged=b"hello")
    screen.prints(b" 192.0.2.1", logged=b" 192.0.2.11")
    assert screen.shown == b"booted\nhello 192.0.2.1"


def test_the_last_words_are_shown_at_the_end(screen: Screen) -> None:
    screen.prints(b"hello", logged=b"hello")
    screen.qemu.sendall(b", and goodbye")
    screen.console.close()
    assert screen.shown == b"booted\nhello, and goodbye"
