"""Pods while the process of their home is killed again and again: what they do, and what must hold.

Every container writes a line for each of its starts into a file that only it writes to, so what really ran is
known without asking anybody. After the storm the home is held to it.
"""

import asyncio
import random
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.component.embedded.process.leftovers import said
from tests.component.embedded.process.pods import is_ready

from kubevirt.api import scheme
from kubevirt.api.core.pod import Pod
from kubevirt.base.errors import Retry
from kubevirt.embedded.network.objects import ENDPOINT_SLICES, SERVICES
from kubevirt.embedded.network.services.fronts import fronts
from kubevirt.embedded.network.services.rules import NameServers, Place, table
from kubevirt.embedded.network.settings import NetworkSettings
from kubevirt.host.net.netns import Namespace
from kubevirt.host.net.table import Loader, Table, changes, listed
from kubevirt.kube.access import kubeconfig
from kubevirt.kube.client import Client
from kubevirt.kube.errors import ApiError, NotFound

NAMESPACE = "default"
LIMIT_S = 120.0
STAYS, ENDS, COMES_BACK = "stays", "ends", "comes-back"
CODE = 7
RETURNS = 2
"""How often a container that fails is started again before it stays."""
STORM = "storm"
LABELS = {"app": STORM}
SERVICE = {"metadata": {"name": STORM}, "spec": {"selector": LABELS, "ports": [{"port": 80}]}}
"""All pods stand behind it."""


@dataclass
class Storm:
    """The pods of one run; `marks` is a folder of the machine that all of them write to."""

    file: Path
    """A kubeconfig of the home."""
    marks: Path
    chance: random.Random
    made: dict[str, str] = field(default_factory=dict)
    """What each pod does, by its name; those that nobody deleted."""
    confirmed: set[str] = field(default_factory=set)
    """Of which the server has said that they are made, and which nobody has asked it to delete: they must be there."""
    deleted: set[str] = field(default_factory=set)
    number: int = 0

    def client(self) -> Client:
        return Client(kubeconfig.load([self.file], {}))

    # What happens

    async def begin(self) -> None:
        async with self.client() as client:
            await client.create(scheme.SERVICES.raw, SERVICE, NAMESPACE)

    async def blow(self) -> None:
        """Makes and deletes pods until it is cancelled; a server that is away is asked again."""
        async with self.client() as client:
            while True:
                try:
                    await self._step(client)
                except (ApiError, Retry, OSError):
                    await asyncio.sleep(0.05)
                await asyncio.sleep(self.chance.uniform(0.01, 0.15))

    async def _step(self, client: Client) -> None:
        if self.made and (len(self.made) > 12 or self.chance.random() < 0.3):
            name = self.chance.choice(sorted(self.made))
            await self._delete(client, name)
            return
        self.number += 1
        what = self.chance.choice([STAYS, ENDS, COMES_BACK])
        name = f"{what}-{self.number}"
        # Whether it was made is not known if the server dies now; it is looked up in the end.
        self.made[name] = what
        await client.create(scheme.PODS.raw, self._pod(name, what), NAMESPACE)
        self.confirmed.add(name)

    async def _delete(self, client: Client, name: str) -> None:
        self.confirmed.discard(name)  # whether it is heard is not known, either
        with suppress(NotFound):
            await client.delete(scheme.PODS, name, NAMESPACE, grace_period_s=1)
        self.made.pop(name)
        self.deleted.add(name)

    def _pod(self, name: str, what: str) -> dict[str, Any]:
        rest = {
            STAYS: "sleep 100000",
            ENDS: f"sleep 0.{self.chance.randint(0, 9)}; exit {CODE}",
            COMES_BACK: f"test $(wc -l < /marks/{name}) -gt {RETURNS} || exit {CODE}; sleep 100000",
        }[what]
        container = {
            "name": "main",
            "image": "kubevirt.io/built-in",
            "command": ["sh", "-c", f"trap exit TERM; echo $$ >> /marks/{name}; {rest} & wait"],
            "volumeMounts": [{"name": "marks", "mountPath": "/marks"}],
        }
        if what != STAYS:
            container["command"] = ["sh", "-c", f"echo $$ >> /marks/{name}; {rest}"]
        return {
            "metadata": {"name": name, "labels": LABELS},
            "spec": {
                "containers": [container],
                "restartPolicy": "Never" if what == ENDS else "Always",
                "terminationGracePeriodSeconds": 1,
                "volumes": [{"name": "marks", "hostPath": {"path": str(self.marks)}}],
            },
        }

    # What must hold

    async def settle(self) -> dict[str, Pod]:
        """The pods that are left, when each has come to where it was going, and has written that it is there:
        a container that is told to run may not have come to its first line.
        """
        async with self.client() as client, asyncio.timeout(LIMIT_S):
            while True:
                found = {
                    pod.metadata.name or "": pod
                    for pod in (await client.list(scheme.PODS, NAMESPACE)).items
                }
                has_arrived = all(map(self._has_arrived, found.values()))
                if has_arrived and all(self._has_begun(pod) for pod in found.values()):
                    return found
                await asyncio.sleep(0.2)

    def _has_begun(self, pod: Pod) -> bool:
        """Whether as many of its starts are written as are told. Those that are too many are for `check`."""
        told = pod.status.container_statuses[0].restart_count + 1
        return self.starts(pod.metadata.name or "") >= told

    def _has_arrived(self, pod: Pod) -> bool:
        name = pod.metadata.name or ""
        if name in self.deleted or pod.metadata.deletion_timestamp:
            return False
        statuses = pod.status.container_statuses
        if name.startswith(ENDS):
            return pod.status.phase in ("Failed", "Succeeded")
        if not statuses or statuses[0].state is None or statuses[0].state.running is None:
            return False
        return name.startswith(STAYS) or statuses[0].restart_count >= RETURNS

    def starts(self, name: str) -> int:
        path = self.marks / name
        return len(path.read_text().splitlines()) if path.exists() else 0

    def check(self, found: dict[str, Pod]) -> Iterator[str]:
        """Every sentence is something that should not be."""
        for name in sorted(self.confirmed - found.keys()):
            yield f"{name} was made, and nobody knows it any more"
        for name, pod in found.items():
            status = pod.status.container_statuses[0]
            if self.starts(name) != status.restart_count + 1:
                yield f"{name} was started {self.starts(name)} times, and {status.restart_count} are told"
            if name.startswith(STAYS) and status.restart_count:
                yield f"{name} was started again"
            if name.startswith(ENDS):
                ended = status.state.terminated if status.state else None
                if ended is None or ended.exit_code != CODE:
                    yield f"{name} ended with {CODE}, and told is {ended}"


def served(found: dict[str, Pod]) -> set[str]:
    """Addresses that the Service should lead to."""
    return {pod.status.pod_ip or "" for pod in found.values() if is_ready(pod)}


async def planned(client: Client, network: NetworkSettings) -> tuple[set[str], Table]:
    """The addresses that the storm's Service leads to, and all rules of the home: by what the server knows, and by
    where names are served.
    """
    services = (await client.list(SERVICES)).items
    slices = (await client.list(ENDPOINT_SLICES)).items
    found = [each for each in fronts(services, slices) if each.address != str(network.dns_address)]
    led = {
        backend.address
        for each in found
        if each.name == f"{NAMESPACE}/{STORM}"
        for backend in each.backends
    }
    place = Place(
        table=network.table,
        links=f"{network.link_prefix}*",
        gateway=str(network.gateway),
        pods=network.pods,
        services=network.services,
    )
    servers = NameServers(address=str(network.dns_address), ports=name_ports(network))
    return led, table(place, found, servers)


def name_ports(network: NetworkSettings) -> list[int]:
    """Where names are served."""
    lines = said("ss", "-Hltnp", "src", str(network.gateway)).splitlines()
    return sorted(int(line.split()[3].rpartition(":")[2]) for line in lines if '"dnsmasq"' in line)


def are_loaded(plan: Table) -> bool:
    """Whether the kernel's rules are those and no others. It writes some in other words than it was told them in, so
    the plan is loaded where nobody is, and both are as it writes them.
    """
    with Namespace.new("the plan of a storm") as nowhere:
        nowhere.call(lambda: Loader().load(plan))
        wanted = nowhere.call(lambda: listed(plan.name))
    assert wanted
    return changes(wanted, listed(plan.name)) is None


def sandboxes(home: Path) -> set[str]:
    """The pods, by their uids, of which anything runs: keepers have the folder of their try as their own."""
    found = set()
    for process in Path("/proc").iterdir():
        if not process.name.isdigit():
            continue
        try:
            folder = (process / "cwd").readlink()
        except OSError:
            continue
        if folder.is_relative_to(home / "nodes"):
            found.add(folder.relative_to(home / "nodes").parts[2])
    return found
