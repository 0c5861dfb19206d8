"""What tests of ways out share."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.component.embedded.runtime.cell import SECRET, Cell

from kubevirt.embedded.runtime.keeper import Keeper
from kubevirt.embedded.runtime.seccomp.filters import Filters


@pytest.fixture
def cell(attempts: Path, keeper: Keeper, tmp_path: Path) -> Iterator[Cell]:
    with Filters(tmp_path) as filters:
        yield Cell(attempts, keeper, filters)


@pytest.fixture
def treasure() -> Iterator[Path]:
    """Files with a secret, in the places that must never be seen."""
    made = [
        Path(folder) / f".treasure-{SECRET}" for folder in ("/root", "/run", "/var/tmp", "/tmp")
    ]
    for each in made:
        each.write_text(SECRET)
    yield made[0]
    for each in made:
        each.unlink()
