"""What a container left to be read after its end: its termination message, or the end of its log.

Both are written by the container, so both are bounded here, and nothing in them is believed.
"""

import os
from pathlib import Path
from typing import Final

from kubevirt.api.core.container import Container
from kubevirt.base.errors import UserError
from kubevirt.base.files import Root

PATH: Final = "/dev/termination-log"
MOST_BYTES: Final = 4096
LOG_BYTES: Final = 2048
LOG_LINES: Final = 80
_HEAD_BYTES: Final = 64
"""More than what stands before the text in a line of a log."""


def message(folder: Path, container: Container, *, has_failed: bool) -> str:
    """`folder` is the attempt's. The log is read only of a container that failed and said nothing."""
    said = _text(folder, "message", 0, MOST_BYTES)
    wants_log = container.termination_message_policy == "FallbackToLogsOnError"
    if said or not wants_log or not has_failed:
        return said
    return from_log(_text(folder, "log", -(LOG_BYTES + LOG_LINES * _HEAD_BYTES), None))


def from_log(text: str) -> str:
    """Of the last lines of a log: the words without their times."""
    lines = [line.split(" ", 3) for line in text.splitlines()]
    words = [parts[3] for parts in lines if len(parts) == 4][-LOG_LINES:]
    whole = "".join(f"{each}\n" for each in words)
    return whole.encode()[-LOG_BYTES:].decode(errors="ignore")


def _text(folder: Path, name: str, offset: int, size: int | None) -> str:
    try:
        with Root.open(folder) as root, root.open_file(name) as file:
            end = os.fstat(file.fileno()).st_size
            file.seek(max(end + offset, 0) if offset < 0 else offset)
            return (file.read(size if size is not None else -offset) or b"").decode(
                errors="replace"
            )
    except (OSError, UserError):
        return ""
