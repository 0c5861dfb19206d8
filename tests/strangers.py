"""Tests that become somebody else, and what that needs of the folders above this checkout."""

import os
import sys
from pathlib import Path

import pytest

NOBODY = 65534
_EXECUTE_BY_OTHERS = 0o001


def _is_open(path: Path) -> bool:
    return all(each.stat().st_mode & _EXECUTE_BY_OTHERS for each in path.resolve().parents)


_OPEN = _is_open(Path(__file__)) and _is_open(Path(sys.executable))

as_somebody_else = pytest.mark.skipif(
    os.geteuid() != 0 or not _OPEN,
    reason="needs root, to become somebody else, and a checkout that others may enter",
)
"""For tests that run this checkout's programs as another user."""
