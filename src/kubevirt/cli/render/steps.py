"""Steps of a long command on standard error: ticks and times for a person, lines for a log, JSON for a program."""

import os
import sys
from typing import Final

from kubevirt.embedded.process.progress import Began, Done, Event, Listener, line

_WIDTH: Final = 26
_DETAIL: Final = 34
_CLEAR: Final = "\r\033[K"


def listener(form: str) -> Listener:
    """`form` is what --progress says."""
    if form == "json":
        return Lines()
    is_terminal = sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"
    return Ticks() if form == "auto" and is_terminal else Plain()


class Ticks:
    """A step that runs stands on the last line, and is written anew with a tick when it is done."""

    def hear(self, event: Event) -> None:
        if isinstance(event, Began):
            _write(f"{_CLEAR} • {event.step} …")
        elif isinstance(event, Done):
            _write(
                f"{_CLEAR} ✓ {event.step:<{_WIDTH}}{event.detail:<{_DETAIL}}{event.took_s:>6.1f} s\n"
            )
        else:
            _write(_CLEAR)


class Plain:
    def hear(self, event: Event) -> None:
        if isinstance(event, Done):
            detail = f" {event.detail}" if event.detail else ""
            _write(f"{event.step}:{detail} ({event.took_s:.1f} s)\n")


class Lines:
    def hear(self, event: Event) -> None:
        _write(line(event).decode())


def _write(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
