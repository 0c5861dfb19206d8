"""Golden manifests: each file of tests/golden/create-vm has its command in the first line.

Write them anew with

    GOLDEN=write .venv/bin/pytest tests/unit/cli/test_create_vm.py

and review the difference: it is what users will get from the same command.
"""

import os
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parents[2] / "golden" / "create-vm"
WRITE = os.environ.get("GOLDEN") == "write"


@dataclass(frozen=True)
class Case:
    file: Path

    @property
    def name(self) -> str:
        return self.file.stem

    @property
    def headline(self) -> str:
        return self.file.read_text().partition("\n")[0]

    @property
    def words(self) -> list[str]:
        """After `virtctl`."""
        return shlex.split(self.headline.removeprefix("# virtctl "))

    @property
    def manifest(self) -> dict[str, Any]:
        found: dict[str, Any] = yaml.safe_load(self.file.read_text())
        return found


def cases() -> list[Case]:
    return [Case(file) for file in sorted(FOLDER.glob("*.yaml"))]
