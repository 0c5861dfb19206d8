"""The driver: measure one thing after the other, print and keep the result."""

import argparse
import asyncio
import signal
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench import lines, machine
from bench.home import clusters, figures, measuring
from bench.home.contestants import KUBERNETES, OURS, Kubernetes, Ours, kubernetes, our_home
from bench.home.figures import Found
from bench.run import INTERRUPTED
from clusterup import errors, progress

SETTLING_S: Final = 5.0
"""For programs that come after virt-api: a start does not wait for them."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    ups: int = 5
    pods: int = 20
    crowd: int = 100
    stay: int = 50
    idle_s: float = 60.0
    clusters: int = 3
    """How often each kind of test cluster is started."""

    @classmethod
    def quick(cls) -> "Plan":
        """Whether everything works; the numbers mean little."""
        return cls(ups=1, pods=2, crowd=5, stay=2, idle_s=2, clusters=1)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.home", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few of everything: a smoke test")
    asked = parser.parse_args()
    try:
        print(asyncio.run(measure(Plan.quick() if asked.quick else Plan())))
    except errors.ClusterError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    except (KeyboardInterrupt, asyncio.CancelledError):
        return INTERRUPTED
    return 0


async def measure(plan: Plan) -> str:
    """The table; the whole result is in a file."""
    if (running := asyncio.current_task()) is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, running.cancel)
    say = progress.Progress("bench", sys.stderr)
    facts = machine.facts()
    # Short, since sockets lie below it.
    with tempfile.TemporaryDirectory(prefix="kvb-") as folder:
        found = Found()
        found.clusters = await clusters.starts(Path(folder), plan.clusters, say)
        async with our_home(Path(folder) / "whole", with_kubevirt=True) as whole:
            found.whole_ups = await _ups(plan, whole, say, "starts with KubeVirt")
            await asyncio.sleep(SETTLING_S)
            found.whole_rss = sum(measuring.memory(whole).values())
        async with our_home(Path(folder) / "home") as ours:
            found.ups = await _ups(plan, ours, say, "starts")
            async with kubernetes(Path(folder), say) as theirs:
                await _measure_both(plan, ours, theirs, found, say)
    told = figures.lines(found, OURS, KUBERNETES, plan.crowd, plan.stay)
    kept = lines.keep("home", told, figures.as_json(found), facts)
    say.say(f"every number is in {kept}")
    return lines.table(OURS, KUBERNETES, told)


async def _ups(plan: Plan, ours: Ours, say: progress.Progress, what: str) -> list[float]:
    """While nobody else is there. The last one stays up."""
    async with say.step(what):
        taken = [await ours.up()]
        for _ in range(plan.ups - 1):
            await ours.down()
            taken.append(await ours.up())
        return taken


async def _measure_both(
    plan: Plan, ours: Ours, theirs: Kubernetes, found: Found, say: progress.Progress
) -> None:
    found.rss = {who.name: measuring.memory(who) for who in (ours, theirs)}
    async with say.step("single pods") as step:
        for who in (ours, theirs):
            step.detail = who.name
            await measuring.readiness(who, 2)  # the image is had, caches are filled
            found.readiness[who.name] = await measuring.readiness(who, plan.pods)
    async with say.step("many pods") as step:
        for who in (ours, theirs):
            step.detail = who.name
            found.crowds[who.name] = await measuring.crowd(who, plan.crowd)
    async with say.step("rest with pods"):
        names = await measuring.fill(ours, plan.stay)
        found.sandbox_bytes = measuring.sandbox_bytes(plan.stay)
        found.idle = await measuring.idle(ours, plan.idle_s)
        await measuring.remove(ours, names)
