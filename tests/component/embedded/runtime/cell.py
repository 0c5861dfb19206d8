"""A container in which root looks for a way out."""

import uuid
from pathlib import Path

from tests.component.embedded.runtime.containers import (
    ran,
    said,
)

from kubevirt.embedded.runtime.attempt import Attempt
from kubevirt.embedded.runtime.container import Container
from kubevirt.embedded.runtime.keeper import Keeper
from kubevirt.embedded.runtime.seccomp.filters import Filters

SECRET = uuid.uuid4().hex
"""Of files that nobody may find."""


class Cell:
    """A container in which root tries things; filtered, unless a test is about what else holds."""

    def __init__(self, folder: Path, keeper: Keeper, filters: Filters) -> None:
        self.folder = folder
        self.keeper = keeper
        self.filter = filters.get(None)
        self.number = 0

    async def tries(self, container: Container, *, filtered: bool = True) -> str:
        attempt = Attempt(self.folder / str(self.number))
        self.number += 1
        await ran(attempt, container, self.keeper, self.filter if filtered else None)
        return said(attempt)
