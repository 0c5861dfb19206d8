"""docs/upstream-examples.md: what became of each example, in each of the two ways to run it.

    GOLDEN=write KUBEVIRT_UPSTREAM=FOLDER .venv/bin/pytest tests/e2e/examples tests/e2e/vms/test_upstream_examples.py

writes it; without the first word the same run holds it against what it sees.
"""

import os
from collections.abc import Mapping
from enum import IntEnum
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs/upstream-examples.md"
WRITE = os.environ.get("GOLDEN") == "write"
BEGIN, END = "<!-- begin: written by tests.e2e.examples.page -->", "<!-- end -->"
RUNS = "runs"
_HEAD = ("| example | without a cluster | in a home |", "|---|---|---|")


class Way(IntEnum):
    """The column."""

    WITHOUT_A_CLUSTER = 0
    IN_A_HOME = 1


Rows = dict[str, list[str]]


def cell(outcome: object) -> str:
    return str(outcome).replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")


def rows() -> Rows:
    """What the page says, by example."""
    _, _, rest = PAGE.read_text().partition(BEGIN)
    lines = rest.partition(END)[0].splitlines()
    cells = (line.strip("| ").split(" | ") for line in lines if line.startswith("| "))
    return {name: told for name, *told in cells if len(told) == len(Way) and name != "example"}


def write(way: Way, outcomes: Mapping[str, object]) -> None:
    """One column; of the other what is there."""
    found = rows()
    for name, outcome in outcomes.items():
        found.setdefault(name, ["?"] * len(Way))[way] = cell(outcome)
    page = PAGE.read_text()
    before, _, rest = page.partition(BEGIN)
    PAGE.write_text(before + rendered(found) + rest.partition(END)[2])


def rendered(found: Rows) -> str:
    alone, at_home = (sum(told[way] == RUNS for told in found.values()) for way in Way)
    return "\n".join(
        [
            BEGIN,
            "",
            f"Of {len(found)} examples {alone} run without a cluster, and {at_home} in a home.",
            "",
            *_HEAD,
            *(f"| {name} | {' | '.join(found[name])} |" for name in sorted(found)),
            "",
            END,
        ]
    )
