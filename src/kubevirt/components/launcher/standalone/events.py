"""Descriptors that become ready, and signals: what a process waits for that has no event loop.

asyncio would triple the memory of a process that mostly sleeps.
"""

import selectors
import signal
import socket
from collections.abc import Callable, Iterable
from contextlib import suppress

Callback = Callable[[], None]


class Events:
    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._signals: dict[int, Callback] = {}
        self._woken, self._wake = socket.socketpair()
        for end in (self._woken, self._wake):
            end.setblocking(False)
        signal.set_wakeup_fd(self._wake.fileno(), warn_on_full_buffer=False)
        self.watch(self._woken.fileno(), self._take_signals)

    def watch(self, fd: int, callback: Callback, *, writable: bool = False) -> None:
        """Calls back whenever there is something to read, or also when there is room to write."""
        self.forget(fd)
        kinds = selectors.EVENT_READ | (selectors.EVENT_WRITE if writable else 0)
        self._selector.register(fd, kinds, callback)

    def forget(self, fd: int) -> None:
        with suppress(KeyError):
            self._selector.unregister(fd)

    def hear(self, numbers: Iterable[signal.Signals], callback: Callback) -> None:
        """Calls back for a signal; one that was blocked until now comes through."""
        for number in numbers:
            self._signals[number] = callback
            signal.signal(number, _nothing)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, numbers)

    def wait(self, limit_s: float | None) -> None:
        """Until something happened, and was attended to."""
        for key, _ in self._selector.select(limit_s):
            if key.fd in self._selector.get_map():  # not forgotten by one that came before
                key.data()

    def _take_signals(self) -> None:
        with suppress(BlockingIOError):
            for number in dict.fromkeys(self._woken.recv(4096)):
                if callback := self._signals.get(number):
                    callback()


def _nothing(number: int, frame: object) -> None:
    """The byte that Python writes for us is all we need."""
    del number, frame
