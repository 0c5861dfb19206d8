"""One figure after the other, of both homes in turns: what the machine does besides meets both."""

import asyncio
import json
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

import msgspec

from bench.home.contestants import IMAGE, Contestant, Ours
from bench.launcher.processes import pss_bytes
from bench.process import Memory
from kubevirt.api import scheme
from kubevirt.api.core.pod import Pod
from kubevirt.kube.access import kubeconfig
from kubevirt.kube.client import Client
from kubevirt.kube.errors import NotFound
from kubevirt.kube.watch import EventType, Undecodable

LIMIT_S: Final = 180.0
NAMESPACE: Final = "default"
TICKS_PER_S: Final = os.sysconf("SC_CLK_TCK")
BEATS: Final = ("leases", "nodes")
"""Resources that are written though nothing happens."""


class Idle(msgspec.Struct, frozen=True):
    seconds: float
    cpu_seconds: float
    writes: dict[str, int]
    """By verb and resource."""

    @property
    def needless(self) -> dict[str, int]:
        return {what: n for what, n in self.writes.items() if what.split()[1] not in BEATS}


def _client(who: Contestant) -> Client:
    return Client(kubeconfig.load([who.kubeconfig], os.environ))


def _pod(name: str) -> dict[str, Any]:
    container = {
        "name": "main",
        "image": IMAGE,
        "imagePullPolicy": "IfNotPresent",
        "command": ["/bin/sleep", "100000"],
    }
    return {
        "metadata": {"name": name, "labels": {"bench": "home"}},
        "spec": {"containers": [container], "terminationGracePeriodSeconds": 0},
    }


def _is_ready(pod: Pod) -> bool:
    return any(each.type == "Ready" and each.status == "True" for each in pod.status.conditions)


def _is_running(pod: Pod) -> bool:
    return pod.status.phase == "Running"


async def readiness(who: Contestant, times: int) -> list[float]:
    """Seconds from the request that creates a pod until a watch tells that it is ready."""
    return [await _started(who, [f"pod-{n}"], _is_ready) for n in range(times)]


async def crowd(who: Contestant, pods: int) -> float:
    """Seconds from the first request until all of them run."""
    return await _started(who, [f"crowd-{n}" for n in range(pods)], _is_running)


async def _started(who: Contestant, names: list[str], holds: Callable[[Pod], bool]) -> float:
    async with _client(who) as client, asyncio.timeout(LIMIT_S), asyncio.TaskGroup() as tasks:
        version = (await client.list(scheme.PODS, NAMESPACE)).resource_version
        watching = tasks.create_task(_until_all(client, names, holds, version))
        began = time.perf_counter()
        await make(client, names)
        seconds = await watching - began
    await remove(who, names)
    return seconds


async def make(client: Client, names: Iterable[str]) -> None:
    async with asyncio.TaskGroup() as tasks:
        for name in names:
            tasks.create_task(client.create(scheme.PODS.raw, _pod(name), NAMESPACE))


async def _until_all(
    client: Client, names: Iterable[str], holds: Callable[[Pod], bool], version: str
) -> float:
    """A server may end a watch whenever it likes; what it would have told then is in a list."""
    missing = set(names)
    while True:
        async for event in client.watch(scheme.PODS, NAMESPACE, resource_version=version):
            pod = event.object
            if event.type is EventType.BOOKMARK or pod is None or isinstance(pod, Undecodable):
                continue
            if holds(pod):
                missing.discard(pod.metadata.name or "")
            if not missing:
                return time.perf_counter()
        listed = await client.list(scheme.PODS, NAMESPACE)
        missing -= {pod.metadata.name or "" for pod in listed.items if holds(pod)}
        version = listed.resource_version
        if not missing:
            return time.perf_counter()


async def remove(who: Contestant, names: Iterable[str]) -> None:
    async with _client(who) as client, asyncio.timeout(LIMIT_S):
        for name in names:
            await client.delete(scheme.PODS, name, NAMESPACE, grace_period_s=0)
        for name in names:
            await _until_gone(client, name)


async def _until_gone(client: Client, name: str) -> None:
    while True:
        try:
            await client.get(scheme.PODS, name, NAMESPACE)
        except NotFound:
            return
        await asyncio.sleep(0.05)


async def fill(who: Contestant, pods: int) -> list[str]:
    """Pods that stay until they are removed."""
    names = [f"stay-{n}" for n in range(pods)]
    async with _client(who) as client, asyncio.timeout(LIMIT_S), asyncio.TaskGroup() as tasks:
        version = (await client.list(scheme.PODS, NAMESPACE)).resource_version
        tasks.create_task(_until_all(client, names, _is_ready, version))
        await make(client, names)
    return names


def memory(who: Contestant) -> dict[str, int]:
    """Bytes in memory, of each of its programs."""
    found: Counter[str] = Counter()
    for pid, name in who.pids.items():
        found[name] += Memory.of(pid).rss
    return dict(found)


def sandbox_bytes(pods: int) -> float:
    """What a container costs beside its own processes: PSS of whoever stands around it."""
    numbers = (int(each.name) for each in Path("/proc").iterdir() if each.name.isdigit())
    return sum(pss_bytes(pid) for pid in numbers if _surrounds(pid)) / pods


def _surrounds(pid: int) -> bool:
    """By its command line: the keeper is started by an open file, so its name is a number."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    is_keeper = words[0].startswith(b"/proc/self/fd/") and words[1:2] == [b"run"]
    return is_keeper or words[0] == b"bwrap"


async def idle(who: Ours, seconds: float) -> Idle:
    await asyncio.sleep(2)  # what the last pods have stirred up
    lines, cpu, began = _audited(who), _cpu_s(who), time.perf_counter()
    await asyncio.sleep(seconds)
    took, cpu = time.perf_counter() - began, _cpu_s(who) - cpu
    found: Counter[str] = Counter()
    for line in _audited(who)[len(lines) :]:
        event = json.loads(line)
        if event["verb"] in ("create", "update", "patch", "delete"):
            found[f"{event['verb']} {event.get('objectRef', {}).get('resource', '?')}"] += 1
    return Idle(took, cpu, dict(found))


def _audited(who: Ours) -> list[str]:
    return who.audit_log.read_text().splitlines()


def _cpu_s(who: Contestant) -> float:
    return sum(map(_cpu_ticks, who.pids)) / TICKS_PER_S


def _cpu_ticks(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])
