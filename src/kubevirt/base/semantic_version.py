"""A version of ours as others read it: Python writes 0.1.0.dev0 where semantic versioning has 0.1.0-dev0."""

import re
from typing import Final

import kubevirt

_PARTS: Final = re.compile(r"(\d+)(?:\.(\d+))?(?:\.(\d+))?[.-]?([^+]*)(\+.*)?")


def semantic(version: str) -> str:
    """Three numbers, and behind a hyphen what comes before a release. One that is so already stays as it is, and
    so does what is none at all.
    """
    found = _PARTS.fullmatch(version)
    if found is None:
        return version
    *numbers, before, build = found.groups(default="")
    return ".".join(each or "0" for each in numbers) + (f"-{before}" if before else "") + build


VERSION: Final = f"v{semantic(kubevirt.__version__)}"
"""Ours."""
