"""One figure after the other, in one home."""

import asyncio
import os
import select
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec

from bench.launcher.processes import QEMU
from bench.launcher.stages import Stage
from bench.vms import living
from bench.vms.living import NAMESPACE, VMIS, VMS
from bench.vms.machines import WITHOUT_AGENT, instance, machine, switched_off
from bench.vms.pods import cpu_s, pods
from bench.vms.stages import stages
from kubevirt.kube.client import Client
from kubevirt.testing.home import TrialHome
from kubevirt.testing.writes import writes

PAUSED: Final = "Paused"
OF_THE_HOME: Final = "home"
BEATS: Final = frozenset({"leases", "nodes", "nodes/status"})
"""Written though nothing happens."""
OFF_LIMIT_S: Final = 120.0
REFUSED: Final = 400
"""And above: codes of the server."""


@dataclass(kw_only=True)
class Starts:
    seconds: list[float] = field(default_factory=list)
    stages: list[list[Stage]] = field(default_factory=list)
    cpu_s: list[dict[str, float]] = field(default_factory=list)
    """Until `Running`, by process: those of the pod, and the home's."""


@dataclass(frozen=True, kw_only=True)
class Costs:
    """Writes of a whole life by KubeVirt's programs, each kind with its number."""

    instance: dict[str, int]
    machine: dict[str, int]
    idle: dict[str, int]
    """By anybody, while a guest runs and nobody wants anything."""


def _audit_log(home: TrialHome) -> Path:
    return home.path / "audit.log"


def _home_pid(home: TrialHome) -> int:
    found = msgspec.json.decode((home.path / "process.json").read_bytes())
    return int(found["pid"])


async def in_a_row(client: Client, home: TrialHome, times: int) -> Starts:
    found = Starts()
    for number in range(times):
        name = f"row-{number}"
        before = cpu_s(_home_pid(home))
        wanted = [instance(name, startStrategy=PAUSED)]
        began, ended = await living.started(client, VMIS, wanted, living.runs)
        pod = (await pods(client, home))[name]
        found.seconds.append(ended - began)
        found.stages.append(stages(pod, _audit_log(home), began, ended))
        found.cpu_s.append({**pod.cpu_s(), OF_THE_HOME: cpu_s(_home_pid(home)) - before})
        await living.end(client, VMIS, [name])
    return found


async def at_once(client: Client, number: int) -> float:
    """Seconds until the last one runs."""
    names = [f"once-{each}" for each in range(number)]
    wanted = [instance(name, startStrategy=PAUSED) for name in names]
    began, ended = await living.started(client, VMIS, wanted, living.runs)
    await living.end(client, VMIS, names)
    return ended - began


async def switched_off_guests(client: Client, home: TrialHome, times: int) -> list[float]:
    """Seconds from the end of a QEMU whose guest switched itself off until its machine is `Stopped`."""
    return [await _switched_off(client, home, f"off-{number}") for number in range(times)]


async def _switched_off(client: Client, home: TrialHome, name: str) -> float:
    await client.create(VMS, switched_off(name), NAMESPACE)
    await living.until(client, VMIS, name, living.runs)
    qemu = (await pods(client, home))[name].processes()[QEMU]
    fd = os.pidfd_open(qemu.pid)
    try:
        async with asyncio.TaskGroup() as tasks:
            stopped = tasks.create_task(living.until(client, VMS, name, living.is_stopped))
            off = await asyncio.to_thread(_ended, fd)
    finally:
        os.close(fd)
    await living.end(client, VMS, [name])
    return stopped.result() - off


def _ended(pidfd: int) -> float:
    poll = select.poll()
    poll.register(pidfd, select.POLLIN)
    if not poll.poll(1000 * OFF_LIMIT_S):
        raise TimeoutError("a guest did not switch itself off")
    return time.time()


async def costs(client: Client, home: TrialHome, idle_s: float) -> Costs:
    paused = instance("alone", startStrategy=PAUSED)
    before = len(writes(_audit_log(home)))
    await living.started(client, VMIS, [paused], living.has(PAUSED))
    await living.end(client, VMIS, ["alone"])
    of_instance = _written(home, before)
    before = len(writes(_audit_log(home)))
    # Nobody tells more of it in the middle of its life.
    wanted = machine("whole", WITHOUT_AGENT)
    await living.started(client, VMS, [wanted], living.has("Ready"))
    await living.end(client, VMS, ["whole"])
    of_machine = _written(home, before)
    return Costs(instance=of_instance, machine=of_machine, idle=await _idle(client, home, idle_s))


async def _idle(client: Client, home: TrialHome, idle_s: float) -> dict[str, int]:
    await living.started(client, VMS, [machine("resting")], living.has("Ready"))
    await living.until(client, VMIS, "resting", living.has("AgentConnected"))
    await _settled(home)
    begin = len(writes(_audit_log(home)))
    await asyncio.sleep(idle_s)
    found = (each for each in writes(_audit_log(home))[begin:] if each.resource not in BEATS)
    told = dict(Counter(each.words for each in found))
    await living.end(client, VMS, ["resting"])
    return told


def _written(home: TrialHome, since: int) -> dict[str, int]:
    """What the server has taken; where somebody else was quicker nothing was written."""
    found = writes(_audit_log(home))[since:]
    return dict(
        Counter(each.words for each in found if each.is_of_kubevirt and each.code < REFUSED)
    )


async def _settled(home: TrialHome) -> None:
    """An agent's first answers come in pieces."""
    before = -1
    while before != (now := sum(_written(home, 0).values())):
        before = now
        await asyncio.sleep(4.0)
