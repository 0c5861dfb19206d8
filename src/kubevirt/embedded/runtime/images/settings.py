"""Where images are, and where they come from."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec


class ImageSettings(msgspec.Struct, frozen=True, kw_only=True):
    folder: Path
    """Of this home, for all its nodes; only root may look into it."""
    archives: Sequence[Path] = ()
    """More archives than those in the folder, or folders of them: the project's own guests."""
    mirrors: Mapping[str, str] = {}
    """A URL to ask instead of a registry of that name."""
    unused_days: float = 14.0
    """Days after which an image that nobody uses goes, when the home is brought up."""
