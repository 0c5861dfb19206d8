"""Where things are: the sources beside this package, the results in a cache outside the checkout."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

SOURCES = Path(__file__).resolve().parent.parent
"""The folder `guest/` of the checkout."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    cache: Path
    """What was built and fetched; safe to delete, and then built and fetched again."""
    jobs: int
    """Compilers that run at once."""


def from_environment(environ: Mapping[str, str]) -> Settings:
    return Settings(cache=_cache_folder(environ) / "guest", jobs=len(os.sched_getaffinity(0)))


def _cache_folder(environ: Mapping[str, str]) -> Path:
    if chosen := environ.get("KUBEVIRT_CACHE"):
        return Path(chosen)
    base = environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path("~/.cache").expanduser()) / "kubevirt-py"
