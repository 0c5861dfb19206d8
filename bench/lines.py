"""A table of figures, ours beside theirs, each with its target; and the file that keeps them all."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.run import RESULTS
from bench.table import block


@dataclass(frozen=True, kw_only=True)
class Line:
    what: str
    ours: str
    theirs: str = ""
    ratio: float | None = None
    """Ours to theirs."""
    target: str = ""
    """Nothing, where a figure is only told."""
    is_reached: bool = True


def table(ours: str, theirs: str, lines: Iterable[Line]) -> str:
    return "\n".join(block(("", ours, theirs, "ratio", "target", ""), map(_row, lines)))


def _row(line: Line) -> Sequence[str]:
    ratio = "" if line.ratio is None else f"{line.ratio:.2f}x"
    verdict = ("reached" if line.is_reached else "MISSED") if line.target else ""
    return line.what, line.ours, line.theirs, ratio, line.target, verdict


def keep(name: str, lines: Iterable[Line], found: Any, machine: dict[str, Any]) -> Path:
    """Everything that a run found, as JSON."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}.json"
    whole = {"machine": machine, "lines": [asdict(each) for each in lines], "found": found}
    path.write_text(json.dumps(whole, indent=1) + "\n")
    return path
