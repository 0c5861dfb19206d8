"""`make soak`: every companion of a guest is killed at many moments of its life, and a table tells how that went.

    python -m tests.e2e.faults.soak --times 20

Ends with 0 if no guest ever noticed.
"""

import argparse
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

# Where the guest's builder is.
sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "guest"))

from tests.component.host.net_world import a_world
from tests.e2e.faults.life import COMPANIONS, Life, lived
from tests.e2e.standalone.driver import Machine, a_home

from guestimage import image, progress

HEAD = ("killed", "times", "booting", "working", "shutting down", "away, median", "away, worst")


def main() -> int:
    parser = argparse.ArgumentParser(prog="make soak", description=__doc__)
    parser.add_argument("--times", type=int, default=20, help="deaths of each; default 20")
    times = parser.parse_args().times
    if os.geteuid() != 0:
        sys.stderr.write("soak: networks and sandboxes are made by root only: sudo make soak\n")
        return 1
    say = progress.Progress()
    images = image.ready(os.environ, say)
    failures, rows = [], []
    for companion in COMPANIONS:
        _say(f"killing {companion}, {times} times")
        began = time.monotonic()
        try:
            with _a_machine(images.folder) as machine:
                rows.append(_row(lived(machine, companion, times)))
        except AssertionError as error:
            failures.append(f"{companion}: {error}")
        _say(f"killed {companion} in {time.monotonic() - began:.0f} s")
    sys.stdout.write(_table([HEAD, *rows]))
    for failure in failures:
        _say(failure)
    verdict = "some guest noticed" if failures else "no guest noticed anything"
    _say(f"{verdict}: QEMU, boot id, what was synced, and nothing left behind")
    return 1 if failures else 0


@contextmanager
def _a_machine(images: Path) -> Iterator[Machine]:
    with a_home() as home, a_world() as world:
        machine = Machine(home, world, images)
        yield machine
        assert not machine.leftovers(), machine.leftovers()


def _row(life: Life) -> tuple[str, ...]:
    """Of what was really killed."""
    deaths = [death for death in life.deaths if death.killed]
    moments = [death.moment for death in deaths]
    away = [death.away_s for death in deaths if death.moment != "shutting down"]
    return (
        life.companion,
        str(len(deaths)),
        *(str(moments.count(each)) for each in ("booting", "working", "shutting down")),
        f"{median(away):.2f} s",
        f"{max(away):.2f} s",
    )


def _table(rows: list[tuple[str, ...]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        + "\n"
        for row in rows
    )


def _say(text: str) -> None:
    sys.stderr.write(f"soak: {text}\n")


if __name__ == "__main__":
    sys.exit(main())
