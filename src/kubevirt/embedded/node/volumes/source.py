"""Where a volume of a pod is found on the machine, once it is prepared."""

from pathlib import Path

import msgspec


class Source(msgspec.Struct, frozen=True, kw_only=True):
    path: Path
    is_read_only: bool = False
    is_device: bool = False
