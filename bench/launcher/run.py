"""The driver: measure one thing after the other, print and keep the result."""

import argparse
import asyncio
import compileall
import json
import os
import signal
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench import machine
from bench.launcher import figures, measuring, table
from bench.launcher.conversion import conversions
from bench.launcher.figures import Result
from bench.launcher.guest import ROOT, StartFailed
from bench.launcher.place import Place, a_place
from clusterup import progress
from guestimage import errors, image
from guestimage import progress as guest_progress

RESULTS = ROOT / "bench/results"
INTERRUPTED = 130


@dataclass(frozen=True, kw_only=True)
class Plan:
    starts: int = 20
    deaths: int = 10
    crowds: tuple[int, ...] = (20, 50)
    conversions: int = 2000
    memory: str = "48Mi"
    """Of each guest in a crowd."""

    @classmethod
    def quick(cls) -> "Plan":
        """Whether everything works, in a minute; the numbers mean little."""
        return cls(starts=2, deaths=1, crowds=(1, 2), conversions=100)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.launcher", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few of everything: a smoke test")
    asked = parser.parse_args()
    if os.geteuid() != 0:
        print("bench: launchers are measured by root only: sudo make bench", file=sys.stderr)
        return 1
    try:
        images = image.ready(os.environ, guest_progress.Progress())
        with a_place(images.folder) as place:
            print(asyncio.run(measure(Plan.quick() if asked.quick else Plan(), place)))
    except (errors.GuestError, StartFailed) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    except (KeyboardInterrupt, asyncio.CancelledError):
        return INTERRUPTED
    return 0


async def measure(plan: Plan, place: Place) -> str:
    """The tables; the whole result is in a file."""
    _end_orderly_by(signal.SIGTERM)
    say = progress.Progress("bench", sys.stderr)
    # As an installed package is: a sandbox cannot keep what Python compiles.
    compileall.compile_dir(ROOT / "src", quiet=1)
    facts = machine.facts()
    async with say.step("starts") as step:
        starts = await measuring.starts(place, plan.starts, step)
    async with say.step("deaths") as step:
        returns = await measuring.returns(place, plan.deaths, step)
    async with say.step("endings") as step:
        endings = await measuring.endings(place, plan.deaths, step)
    async with say.step("crowds") as step:
        crowds = await measuring.crowds(place, plan.crowds, plan.memory, step)
    found = Result(
        starts=starts,
        returns=returns,
        endings=endings,
        conversions=conversions(plan.conversions),
        crowds=crowds,
    )
    say.say(f"every number is in {_keep(found, facts)}")
    return table.render(found)


def _end_orderly_by(number: signal.Signals) -> None:
    """As Ctrl-C does anyway: the guests are gone before we are."""
    if (running := asyncio.current_task()) is not None:
        asyncio.get_running_loop().add_signal_handler(number, running.cancel)


def _keep(found: Result, facts: dict[str, Any]) -> Path:
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"launcher-{datetime.now(UTC):%Y%m%dT%H%M%SZ}.json"
    path.write_text(json.dumps(figures.as_json(found, facts), indent=1) + "\n")
    return path
