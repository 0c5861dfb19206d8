"""One figure after the other, always of both servers in turns: what the machine does besides meets both."""

import asyncio
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from bench import population
from bench.apiserver.contestants import Contestant
from bench.apiserver.load import Creates, FanOut, Lists, Load, Rate
from bench.process import Memory
from clusterup import waiting
from kubevirt.api import crds
from kubevirt.kube.access import kubeconfig
from kubevirt.kube.client import Client

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
VMIS = "/apis/kubevirt.io/v1/namespaces/{}/virtualmachineinstances"
LIMIT_S = 60.0
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


class Idle(msgspec.Struct, frozen=True):
    seconds: float
    cpu_seconds: float
    written_bytes: int
    revisions: int
    """By how many writes of objects its revision went up."""


async def install(who: Contestant) -> None:
    """All CRDs of the house, until the last is served."""
    async with _client(who) as client:
        for definition in crds.load():
            await client.raw("POST", CRDS, definition)

        async def are_served() -> bool:
            found = msgspec.json.decode(await client.raw("GET", CRDS))["items"]
            return all(_is_established(each) for each in found)

        await waiting.until(are_served, limit_s=LIMIT_S, what="the CRDs are established")


def _is_established(definition: dict[str, Any]) -> bool:
    # Kubernetes begins with a null.
    conditions = definition.get("status", {}).get("conditions") or ()
    return any(each["type"] == "Established" and each["status"] == "True" for each in conditions)


async def make_namespace(who: Contestant, name: str) -> None:
    async with _client(who) as client:
        await client.raw("POST", "/api/v1/namespaces", {"metadata": {"name": name}})


def _client(who: Contestant) -> Client:
    return Client(kubeconfig.load([who.kubeconfig], os.environ))


def body(folder: Path) -> Path:
    """The VMI that is created over and over; the program gives it its names."""
    path = folder / "vmi.json"
    vmi = population.vmi(0)
    vmi["metadata"] = {**vmi["metadata"], "name": "NAME"}
    del vmi["metadata"]["namespace"], vmi["metadata"]["ownerReferences"]
    path.write_bytes(msgspec.json.encode(vmi))
    return path


async def starts(who: Contestant, times: int) -> list[float]:
    return [await who.start_again() for _ in range(times)]


def memory(who: Contestant) -> Mapping[str, int]:
    """Bytes in memory, of each of its programs."""
    return {name: Memory.of(pid).rss for name, pid in who.pids.items()}


async def idle(who: Contestant, seconds: float) -> Idle:
    async with _client(who) as client:
        before, cpu, written = await _revision(client), _cpu_s(who), _written(who)
        began = time.perf_counter()
        await asyncio.sleep(seconds)
        took = time.perf_counter() - began
        cpu, written = _cpu_s(who) - cpu, _written(who) - written
        return Idle(took, cpu, written, await _revision(client) - before)


async def _revision(client: Client) -> int:
    answer = msgspec.json.decode(await client.raw("GET", "/api/v1/namespaces"))
    return int(answer["metadata"]["resourceVersion"])


def _cpu_s(who: Contestant) -> float:
    return sum(_cpu_ticks(pid) for pid in who.pids.values()) / TICKS_PER_S


def _cpu_ticks(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def _written(who: Contestant) -> int:
    return sum(_written_bytes(pid) for pid in who.pids.values())


def _written_bytes(pid: int) -> int:
    lines = Path(f"/proc/{pid}/io").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("write_bytes"))


class Loads:
    """The loads of a run, on one server."""

    def __init__(self, program: Path, who: Contestant, vmi: Path) -> None:
        self._program = program
        self._who = who
        self._vmi = vmi
        self._turns = 0

    async def creates(self, clients: int, seconds: float) -> Creates:
        """Into a namespace of their own."""
        load = await self._in_new_namespace("creates")
        return await load.create(self._vmi, "vmi", clients=clients, seconds=seconds)

    async def fill(self, objects: int) -> None:
        await make_namespace(self._who, "full")
        await self._in("full").create(self._vmi, "vmi", clients=16, objects=objects)

    async def gets(self, clients: int, seconds: float, objects: int) -> Rate:
        return await self._in("full").get("vmi", clients=clients, seconds=seconds, objects=objects)

    async def lists(self, rounds: int) -> Lists:
        return await self._in("full").list(rounds)

    async def creates_beside(self, listers: int, seconds: float) -> Creates:
        self._turns += 1
        prefix = f"beside-{self._turns}"
        return await self._in("full").create(
            self._vmi, prefix, clients=1, listers=listers, seconds=seconds
        )

    async def fan_out(self, watchers: int, objects: int) -> FanOut:
        load = await self._in_new_namespace("watched")
        return await load.fan_out(self._vmi, "vmi", clients=4, watchers=watchers, objects=objects)

    async def _in_new_namespace(self, purpose: str) -> Load:
        self._turns += 1
        namespace = f"{purpose}-{self._turns}"
        await make_namespace(self._who, namespace)
        return self._in(namespace)

    def _in(self, namespace: str) -> Load:
        return Load(self._program, self._who.kubeconfig, VMIS.format(namespace))
