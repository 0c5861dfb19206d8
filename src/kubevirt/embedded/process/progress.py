"""What is told to whoever waits for a start: steps that begin and end, and how it came out.

The process tells a `Listener`; across a pipe it is one JSON object per line, which is also what
`--progress=json` prints.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from time import monotonic
from typing import Final, Protocol

import msgspec


class Began(msgspec.Struct, frozen=True, kw_only=True, tag="began", rename="camel"):
    step: str


class Done(msgspec.Struct, frozen=True, kw_only=True, tag="done", rename="camel"):
    step: str
    detail: str = ""
    took_s: float


class Ready(msgspec.Struct, frozen=True, kw_only=True, tag="ready", rename="camel"):
    url: str
    kubeconfig: str
    nodes: tuple[str, ...] = ()
    took_s: float


class Failed(msgspec.Struct, frozen=True, kw_only=True, tag="failed", rename="camel"):
    message: str
    reason: str = ""
    """The one of the error: a command makes its exit code of it."""


Event = Began | Done | Ready | Failed


class Listener(Protocol):
    def hear(self, event: Event) -> None: ...


class Step:
    """One that has begun; `detail` may be set until it ends."""

    def __init__(self) -> None:
        self.detail = ""


@contextmanager
def step(listener: Listener, name: str) -> Iterator[Step]:
    """A step that fails is never done: what went wrong is told at the end, once."""
    listener.hear(Began(step=name))
    began, current = monotonic(), Step()
    yield current
    listener.hear(Done(step=name, detail=current.detail, took_s=round(monotonic() - began, 3)))


class Nobody:
    def hear(self, event: Event) -> None:
        """Nobody listens."""


class Pipe:
    """To whoever started us; it may be gone, and nothing here depends on it."""

    def __init__(self, fd: int) -> None:
        """Takes over `fd`."""
        self._fd = fd

    def hear(self, event: Event) -> None:
        if self._fd < 0:
            return
        with suppress(OSError):
            os.write(self._fd, line(event))
        if isinstance(event, Ready | Failed):  # the last one
            os.close(self._fd)
            self._fd = -1


def line(event: Event) -> bytes:
    return msgspec.json.encode(event) + b"\n"


_EVENTS: Final = msgspec.json.Decoder(Event)


def event(line: bytes) -> Event:
    found: Event = _EVENTS.decode(line)
    return found
