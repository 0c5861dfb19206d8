"""What happens to a guest, as typed values, and the mailbox in which they wait.

libvirt tells in a thread of its own; the mailbox carries over to asyncio. It is bounded: a guest can
cause events without end. When it is full the oldest is dropped and the reader is told (`Missed`).
Events are hints: whoever reads `Missed` looks at the guest itself, as after a reconnection.
"""

import asyncio
import threading
from collections import deque
from enum import StrEnum
from typing import Final

import msgspec

from kubevirt.host.libvirt.states import UNKNOWN

MAILBOX_SIZE: Final = 512


class DomainEvent(msgspec.Struct, frozen=True, kw_only=True):
    """Something happened to the guest of that name."""

    domain: str


class Change(StrEnum):
    """Of a guest's life."""

    DEFINED = "Defined"
    UNDEFINED = "Undefined"
    STARTED = "Started"
    SUSPENDED = "Suspended"
    RESUMED = "Resumed"
    STOPPED = "Stopped"
    SHUT_DOWN = "ShutDown"
    """The guest powered itself off; `STOPPED` follows when QEMU has ended."""
    PM_SUSPENDED = "PMSuspended"
    CRASHED = "Crashed"


class LifeChanged(DomainEvent, frozen=True, kw_only=True):
    """It was started, paused, stopped … `detail` is why: Booted, Paused, IOError, Crashed …"""

    change: Change
    detail: str = UNKNOWN


class Rebooted(DomainEvent, frozen=True, kw_only=True):
    """The guest reset itself; QEMU is the same."""


class WatchdogFired(DomainEvent, frozen=True, kw_only=True):
    action: str
    """None, Pause, Reset, Poweroff, Shutdown, Debug, InjectNMI."""


class DiskFailed(DomainEvent, frozen=True, kw_only=True):
    """QEMU could not read or write."""

    path: str
    alias: str
    action: str
    """None, Pause or Report: what became of the guest."""
    reason: str
    """enospc, or empty for all other causes."""


class AgentChanged(DomainEvent, frozen=True, kw_only=True):
    """Something in the guest opened or closed the agent's channel; whether it answers is open."""

    connected: bool
    reason: str = UNKNOWN
    """DomainStarted or Channel."""


class DeviceAdded(DomainEvent, frozen=True, kw_only=True):
    alias: str


class DeviceRemoved(DomainEvent, frozen=True, kw_only=True):
    alias: str


class DeviceKept(DomainEvent, frozen=True, kw_only=True):
    """The guest would not let go of a device."""

    alias: str


class BalloonChanged(DomainEvent, frozen=True, kw_only=True):
    memory_bytes: int
    """What the guest has now."""


class Slept(DomainEvent, frozen=True, kw_only=True):
    """The guest suspended itself."""

    to_disk: bool = False


class WokeUp(DomainEvent, frozen=True, kw_only=True):
    pass


class Missed(msgspec.Struct, frozen=True, kw_only=True):
    """Events are missing here: the mailbox was full, or there was no daemon to hear them from."""

    why: str


Event = DomainEvent | Missed


class Mailbox:
    """Takes events in any thread, gives them in one asyncio loop, in order, at most so many."""

    def __init__(self, size: int = MAILBOX_SIZE) -> None:
        self._size = size
        self._waiting: deque[Event] = deque()
        self._overflowed = False
        self._closed = False
        self._lock = threading.Lock()
        self._loop = asyncio.get_running_loop()
        self._filled = asyncio.Event()

    def put(self, event: Event) -> None:
        with self._lock:
            if self._closed:
                return
            if len(self._waiting) >= self._size:
                self._waiting.popleft()
                self._overflowed = True
            self._waiting.append(event)
            is_first = len(self._waiting) == 1
        # One wake-up for many events: a flood must not pile up in the loop either.
        if is_first:
            self._wake()

    def close(self) -> None:
        """Who iterates gets what is there and then the end."""
        with self._lock:
            self._closed = True
        self._wake()

    def __aiter__(self) -> "Mailbox":
        return self

    async def __anext__(self) -> Event:
        while True:
            self._filled.clear()  # before the look: what comes after it sets it again
            if (event := self._take()) is not None:
                return event
            if self._closed:
                raise StopAsyncIteration
            await self._filled.wait()

    def _take(self) -> Event | None:
        with self._lock:
            if self._overflowed:
                self._overflowed = False
                return Missed(why=f"more than {self._size} events were waiting")
            return self._waiting.popleft() if self._waiting else None

    def _wake(self) -> None:
        try:
            self._loop.call_soon_threadsafe(self._filled.set)
        except RuntimeError:  # the loop is closed: nobody reads any more
            self._closed = True
