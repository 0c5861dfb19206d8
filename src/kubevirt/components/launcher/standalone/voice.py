"""What is said to the person who started a run: one line at a time, on standard error."""

import os
from contextlib import suppress
from typing import Final

_STDERR: Final = 2


def say(text: str) -> None:
    """One line, whatever is in it: names come from manifests, reasons from guests.

    Written at once: what Python keeps back and cannot write when it ends becomes its exit code.
    """
    line = "".join(each if each.isprintable() else "?" for each in text)
    with suppress(OSError):  # the window is closed, or the reader of the pipe has left
        # A terminal in raw mode needs the carriage return; any other does not mind.
        end = "\r\n" if os.isatty(_STDERR) else "\n"
        os.write(_STDERR, f"virt-launcher: {line}{end}".encode())
