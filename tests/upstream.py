"""KubeVirt's own data, where somebody has it: the examples and the OpenAPI document.

KUBEVIRT_UPSTREAM names a folder that holds both, as `examples/` and `swagger.json`. Nothing of them is part of this
repository, and without the folder their tests are skipped.
"""

import os
from pathlib import Path

import pytest

VARIABLE = "KUBEVIRT_UPSTREAM"
FOLDER = Path(os.environ[VARIABLE]) if os.environ.get(VARIABLE) else None

needed = pytest.mark.skipif(
    FOLDER is None, reason=f"set {VARIABLE} to a folder with KubeVirt's swagger.json and examples/"
)


def examples() -> list[Path]:
    """None where there is no such folder; one that holds none is somebody's mistake, and no reason to skip."""
    if FOLDER is None:
        return []
    found = sorted((FOLDER / "examples").glob("*.yaml"))
    if not found:
        raise FileNotFoundError(f"{VARIABLE} is {FOLDER}, which has no examples/*.yaml")
    return found


def swagger() -> bytes:
    assert FOLDER is not None
    return (FOLDER / "swagger.json").read_bytes()
