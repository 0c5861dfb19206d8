"""The driver: a home of its own, one thing after the other, a table and a file."""

import argparse
import asyncio
import compileall
import sys
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from bench import lines, machine
from bench.machine import ROOT
from bench.run import INTERRUPTED
from bench.vms import figures, measuring
from bench.vms.crowd import gathered
from bench.vms.figures import Found
from clusterup import progress
from kubevirt.testing.home import HomeFailedError, TrialHome, a_home

LEARNING_S: Final = 60.0
"""For a new home to ask QEMU what it can do: it does so beside everything else."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    starts: int = 20
    at_once: int = 20
    offs: int = 5
    most: int = 60
    idle_s: float = 30.0

    @classmethod
    def quick(cls) -> "Plan":
        """Whether everything works; the numbers mean little."""
        return cls(starts=2, at_once=3, offs=1, most=3, idle_s=5)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.vms", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few of everything: a smoke test")
    asked = parser.parse_args()
    # Launchers cannot: their view of the sources is read-only.
    compileall.compile_dir(ROOT / "src", quiet=1)
    try:
        with a_home() as home:
            print(asyncio.run(measure(home, Plan.quick() if asked.quick else Plan())))
    except HomeFailedError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED
    return 0


async def measure(home: TrialHome, plan: Plan) -> str:
    """The tables; the whole result is in a file."""
    say, facts = progress.Progress("bench", sys.stderr), machine.facts()
    async with home.client() as client:
        async with say.step("a first one, and what is learned from it"):
            await measuring.in_a_row(client, home, 2)
            await _learned(home)
        async with say.step(f"{plan.starts} in a row"):
            starts = await measuring.in_a_row(client, home, plan.starts)
        async with say.step(f"{plan.at_once} at once"):
            at_once = await measuring.at_once(client, plan.at_once)
        async with say.step(f"{plan.offs} that switch themselves off"):
            offs = await measuring.switched_off_guests(client, home, plan.offs)
        async with say.step("writes of a life, and rest"):
            costs = await measuring.costs(client, home, plan.idle_s)
        async with say.step(f"as many as there can be, up to {plan.most}"):
            crowd = await gathered(client, home, plan.most)
    found = Found(
        starts=starts,
        at_once=at_once,
        at_once_number=plan.at_once,
        offs=offs,
        costs=costs,
        crowd=crowd,
        idle_s=plan.idle_s,
    )
    return _told(found, facts, say)


async def _learned(home: TrialHome) -> None:
    """If it does not come, starts are slower, which is to be seen in them."""
    asked = home.path / "images/launcher/environment/learned/asked"
    with suppress(TimeoutError):
        async with asyncio.timeout(LEARNING_S):
            while not asked.exists():  # noqa: ASYNC110  # once, before anything is measured
                await asyncio.sleep(0.1)


def _told(found: Found, facts: dict[str, object], say: progress.Progress) -> str:
    told = figures.lines(found)
    say.say(f"every number is in {lines.keep('vms', told, figures.as_json(found), facts)}")
    parts = [
        figures.stacked(found.starts),
        figures.processors(found.starts),
        figures.writers(found.costs),
        figures.memory(found.crowd),
        [lines.table("kubevirt-py", "", told)],
        *([[f"no more guests: {found.crowd.failure}"]] if found.crowd.failure else []),
    ]
    return "\n\n".join("\n".join(part) for part in parts)
