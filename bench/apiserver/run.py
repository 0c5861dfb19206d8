"""The driver: measure one thing after the other, print and keep the result."""

import argparse
import asyncio
import os
import signal
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench import lines, machine
from bench.apiserver import figures, measuring
from bench.apiserver.contestants import KUBERNETES, OURS, Contestant, both
from bench.apiserver.figures import Found, Result
from bench.apiserver.measuring import Loads
from bench.run import INTERRUPTED, PEERS
from clusterup import binaries, errors, progress, settings

PROGRAM = "api-load"
CLIENTS = (1, 16, 64)


@dataclass(frozen=True, kw_only=True)
class Plan:
    starts: int = 5
    idle_s: float = 30.0
    load_s: float = 4.0
    rounds: int = 3
    objects: int = 10_000
    lists: int = 5
    watchers: int = 100
    watched: int = 300

    @classmethod
    def quick(cls) -> "Plan":
        """Whether everything works; the numbers mean little."""
        return cls(
            starts=1, idle_s=2, load_s=0.5, rounds=1, objects=200, lists=1, watchers=5, watched=20
        )


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.apiserver", description=__doc__)
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
    peers = binaries.Binaries(PEERS, settings.cache_folder(os.environ))
    await peers.ensure([PROGRAM], say)
    facts = machine.facts()
    with tempfile.TemporaryDirectory(prefix="kubevirt-bench-") as folder:
        async with both() as servers:
            contest = _Contest(
                servers, plan, peers.path(PROGRAM), measuring.body(Path(folder)), say
            )
            result = await contest.run()
    told = figures.lines(result, CLIENTS, plan.objects, plan.watchers)
    kept = lines.keep("apiserver", told, figures.as_json(result), facts)
    say.say(f"every number is in {kept}")
    return lines.table(OURS, KUBERNETES, told)


class _Contest:
    def __init__(
        self,
        servers: Sequence[Contestant],
        plan: Plan,
        program: Path,
        vmi: Path,
        say: progress.Progress,
    ) -> None:
        self._plan = plan
        self._say = say
        self._servers = [(who, Loads(program, who, vmi), Found()) for who in servers]

    async def run(self) -> Result:
        await self._at_rest()
        await self._creating()
        await self._reading()
        await self._mixed()
        return {who.name: found for who, _, found in self._servers}

    async def _at_rest(self) -> None:
        async with self._say.step("starts and rest") as step:
            for who, _, found in self._servers:
                step.detail = who.name
                await measuring.install(who)
                found.starts = await measuring.starts(who, self._plan.starts)
                found.idle = await measuring.idle(who, self._plan.idle_s)
                found.memory_bytes = dict(measuring.memory(who))

    async def _creating(self) -> None:
        async with self._say.step("creates") as step:
            for clients in CLIENTS * self._plan.rounds:
                for who, loads, found in self._servers:
                    step.detail = f"{clients} clients, {who.name}"
                    made = await loads.creates(clients, self._plan.load_s)
                    found.creates.setdefault(clients, []).append(made)

    async def _reading(self) -> None:
        plan = self._plan
        async with self._say.step("reads") as step:
            for who, loads, _ in self._servers:
                step.detail = f"{plan.objects} VMIs for {who.name}"
                await loads.fill(plan.objects)
            for _ in range(plan.rounds):
                for who, loads, found in self._servers:
                    step.detail = who.name
                    found.gets.append(await loads.gets(16, plan.load_s, plan.objects))
                    found.lists.append(await loads.lists(plan.lists))
                    found.fan_outs.append(await loads.fan_out(plan.watchers, plan.watched))

    async def _mixed(self) -> None:
        async with self._say.step("creates beside lists") as step:
            for _ in range(self._plan.rounds):
                for who, loads, found in self._servers:
                    step.detail = who.name
                    seconds = 2 * self._plan.load_s
                    found.alone.append(await loads.creates_beside(0, seconds))
                    found.beside.append(await loads.creates_beside(1, seconds))
