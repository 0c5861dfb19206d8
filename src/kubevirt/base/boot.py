"""Which start of the machine this is."""

from pathlib import Path
from typing import Final

_PLACE: Final = Path("/proc/sys/kernel/random/boot_id")


def boot_id() -> str:
    """Another one after each start of the machine."""
    return _PLACE.read_text().strip()
