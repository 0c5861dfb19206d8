"""The driver: a server, fake nodes, virt-controller in a process of its own, and a crowd that comes and goes."""

import argparse
import asyncio
import os
import signal
import sys
import tempfile
import time
from collections.abc import Awaitable
from contextlib import AsyncExitStack
from pathlib import Path

from bench import lines, machine, process
from bench.controller import figures
from bench.controller.crowd import Crowd
from bench.controller.figures import Found
from bench.run import INTERRUPTED
from clusterup import errors, progress, waiting
from clusterup.light import LightCluster
from clusterup.light_embedded import EmbeddedServer
from kubevirt.api import crds
from kubevirt.api.scheme import (
    CUSTOM_RESOURCE_DEFINITIONS,
    VIRTUAL_MACHINE_INSTANCES,
    VIRTUAL_MACHINES,
)
from kubevirt.base.clock import SystemClock
from kubevirt.base.tasks import background
from kubevirt.kube.access import kubeconfig
from kubevirt.kube.client import Client
from kubevirt.kube.errors import NoSuchResource
from kubevirt.testing.fake_nodes import FakeNodes

CONTESTANT = "bench.controller.contestant"
WANTED = {"virtualmachines", "virtualmachineinstances"}
QUICK = 20
WARM = 40
"""Machines that come and go before anything is measured: what they cost once is no cost of a machine."""
MACHINES = 2000


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.controller", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few of everything: a smoke test")
    parser.add_argument("--machines", type=int, default=MACHINES)
    parser.add_argument("--server", choices=["kubernetes", "embedded"], default="embedded")
    asked = parser.parse_args()
    try:
        print(asyncio.run(measure(QUICK if asked.quick else asked.machines, asked.server)))
    except errors.ClusterError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    except (KeyboardInterrupt, asyncio.CancelledError):
        return INTERRUPTED
    return 0


async def measure(number: int, kind: str) -> str:
    """The table; the whole result is in a file."""
    if (running := asyncio.current_task()) is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, running.cancel)
    say = progress.Progress("bench", sys.stderr)
    facts = machine.facts()
    server = EmbeddedServer() if kind == "embedded" else LightCluster(collects_garbage=True)
    async with say.step("a server"):
        await server.start()
    try:
        found = await _live(number, kind, server.kubeconfig, say)
    finally:
        await server.stop()
    told = figures.lines(found)
    kept = lines.keep("controller", told, figures.as_json(found), facts)
    say.say(f"every number is in {kept}")
    return lines.table(f"virt-controller, {kind}", "", told)


async def _live(number: int, kind: str, config: Path, say: progress.Progress) -> Found:
    clock = SystemClock()
    argv = [sys.executable, "-m", CONTESTANT, "--kubeconfig", str(config)]
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="kvb-")))
        client = await stack.enter_async_context(Client(kubeconfig.load([config], os.environ)))
        await _define(client)
        await stack.enter_async_context(FakeNodes(client, clock, count=10, workers=32))
        program = await stack.enter_async_context(process.started("controller", argv, folder))
        await program.expect("leads")
        crowd = Crowd(client, clock, number)
        await stack.enter_async_context(background(crowd.machines.run()))
        await crowd.machines.wait_synced()
        return await _measured(number, kind, crowd, program, say)


async def _measured(
    number: int, kind: str, crowd: Crowd, program: process.Process, say: progress.Progress
) -> Found:
    async with say.step("connections are opened, code is loaded"):
        few = Crowd(crowd.client, crowd.clock, WARM, prefix="warm")
        async with background(few.machines.run()):
            await few.come()
            await few.go()
    before = await _figures(program)
    empty = program.memory().anonymous
    async with say.step(f"{number} machines come"):
        to_running_s = await _seconds(crowd.come())
    await _figures(program)  # garbage is given back
    full = program.memory().anonymous
    async with say.step(f"{number} machines go"):
        to_gone_s = await _seconds(crowd.go())
    after = await _figures(program)
    return Found(
        server=kind,
        machines=number,
        to_running_s=to_running_s,
        to_gone_s=to_gone_s,
        cpu_s=after["cpu_seconds"] - before["cpu_seconds"],
        memory_bytes=full - empty,
        writes=int(after["writes"] - before["writes"]),
        looks=int(after["looks"] - before["looks"]),
        bugs=int(after["bugs"]),
    )


async def _figures(program: process.Process) -> dict[str, float]:
    program.proceed()
    return await program.expect("figures")


async def _seconds(work: Awaitable[None]) -> float:
    began = time.perf_counter()
    await work
    return time.perf_counter() - began


async def _define(client: Client) -> None:
    for crd in crds.load():
        if crd["spec"]["names"]["plural"] in WANTED:
            await client.create(CUSTOM_RESOURCE_DEFINITIONS.raw, crd)

    async def are_served() -> bool:
        try:
            await client.list(VIRTUAL_MACHINES)
            await client.list(VIRTUAL_MACHINE_INSTANCES)
        except NoSuchResource:
            return False
        return True

    await waiting.until(are_served, limit_s=60, what="the kinds are served")
