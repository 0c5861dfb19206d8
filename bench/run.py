"""The driver: build the peers, fill the server, let every contender run, print and keep the result."""

import argparse
import asyncio
import json
import os
import signal
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bench import contest, machine, result, table
from bench.contest import KUBERNETES, OURS, OURS_FULL, OURS_METADATA, QUEUE_CASES, client_go
from bench.result import Result
from bench.server import History, Server, filled_server, make_history
from clusterup import binaries, errors, progress, settings

RESULTS = Path(__file__).parent / "results"
PEERS = Path(__file__).parent / "peers"
GO_PROGRAM = "client-go-informer"
INTERRUPTED = 130
TERMINATED = 143


@dataclass(frozen=True, kw_only=True)
class Plan:
    objects: int = 10_000
    changes: int = 10_000
    rounds: int = 3
    queue_keys: int = 200_000
    """Keys that our queue handles in one measurement; Go's handles ten times as many."""

    @classmethod
    def quick(cls) -> "Plan":
        """Whether everything works, in less than a minute; the numbers mean little."""
        return cls(objects=500, changes=500, rounds=1, queue_keys=20_000)


def main() -> int:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few objects, one round: a smoke test")
    parser.add_argument("--objects", type=int, help="how many VMIs the server holds")
    parser.add_argument("--rounds", type=int, help="how often each contender runs")
    asked = parser.parse_args()
    plan = Plan.quick() if asked.quick else Plan()
    objects = asked.objects or plan.objects
    plan = Plan(
        objects=objects,
        changes=objects,
        rounds=asked.rounds or plan.rounds,
        queue_keys=plan.queue_keys,
    )
    try:
        print(asyncio.run(measure(plan)))
    except errors.ClusterError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED
    except asyncio.CancelledError:
        return TERMINATED
    return 0


async def measure(plan: Plan) -> str:
    """The table; the whole result is in a file."""
    _end_orderly_by(signal.SIGTERM)
    say = progress.Progress("bench", sys.stderr)
    peers = binaries.Binaries(PEERS, settings.cache_folder(os.environ))
    await peers.ensure([GO_PROGRAM], say)
    go_program = peers.path(GO_PROGRAM)
    facts = machine.facts()
    found = _contest(go_program)
    async with filled_server(plan.objects, say) as server:
        rounds = [f"round {number + 1} of {plan.rounds}" for number in range(plan.rounds)]
        # Lists come first: with a history in its memory the API server's garbage collection is
        # rarer and longer, and hits one contender instead of all.
        for title in rounds:
            await _lists(found, server, say, title)
        history = await make_history(server, plan.changes, say)
        for title in rounds:
            await _watches(found, server, history, say, title)
        for title in rounds:
            await _queues(found, go_program, plan.queue_keys, server.folder, say, title)
    facts["sources_changed_meanwhile"] = machine.sources() != facts["sources"]
    if facts["sources_changed_meanwhile"]:
        say.say("the sources changed while this ran: the numbers belong to no one version")
    text = table.render(found, server)
    say.say(f"every number is in {_keep(found, server, facts)}")
    return text


def _end_orderly_by(number: signal.Signals) -> None:
    """As Ctrl-C does anyway: the server and its folder are gone before we are."""
    if (running := asyncio.current_task()) is not None:
        asyncio.get_running_loop().add_signal_handler(number, running.cancel)


def _contest(go_program: Path) -> Result:
    full = client_go(go_program, "full", "client-go, every field")
    nothing = client_go(go_program, "nothing", "the server alone: read, not decoded")
    return Result(
        contenders=[
            OURS,
            OURS_FULL,
            OURS_METADATA,
            KUBERNETES,
            full,
            client_go(go_program, "subset", "client-go, the same declared fields"),
            nothing,
        ],
        client_go=full,
        server_alone=nothing,
    )


async def _lists(found: Result, server: Server, say: progress.Progress, title: str) -> None:
    async with say.step(f"cold lists, {title}") as step:
        for who in found.contenders:
            step.detail = who.name
            found.lists.setdefault(who.name, []).append(await contest.cold_list(who, server))


async def _watches(
    found: Result, server: Server, history: History, say: progress.Progress, title: str
) -> None:
    async with say.step(f"watches, {title}") as step:
        for who in found.contenders:
            step.detail = who.name
            run = await contest.catch_up(who, server, history)
            found.watches.setdefault(who.name, []).append(run)


async def _queues(
    found: Result,
    go_program: Path,
    keys: int,
    folder: Path,
    say: progress.Progress,
    title: str,
) -> None:
    async with say.step(f"work queues, {title}") as step:
        for case in QUEUE_CASES:
            step.detail = case.name
            rates = found.queues.setdefault(case.name, {"ours": [], "go": []})
            rates["ours"].append(await contest.our_queue(case, keys, folder))
            rates["go"].append(await contest.go_queue(go_program, case, 10 * keys, folder))


def _keep(found: Result, server: Server, facts: dict[str, object]) -> Path:
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}.json"
    path.write_text(json.dumps(result.as_json(found, server, facts), indent=1) + "\n")
    return path
