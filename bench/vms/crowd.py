"""As many booted guests as the machine holds, all of which answer."""

import asyncio
from dataclasses import dataclass, field
from statistics import mean
from typing import Final

from bench.launcher.processes import QEMU
from bench.vms import living
from bench.vms.living import VMIS
from bench.vms.machines import instance
from bench.vms.pods import LauncherPod, pods
from kubevirt.kube.client import Client
from kubevirt.testing.home import TrialHome

MEMORY: Final = "48Mi"
BATCH: Final = 10
WEIGHED: Final = 20
"""With how many of them the memory of each is measured."""
SSH: Final = 22
ANSWER_S: Final = 60.0
BESIDE: Final = "beside QEMU"


@dataclass(kw_only=True)
class Crowd:
    guests: int = 0
    """That were held at once, and all answered."""
    memory: dict[str, float] = field(default_factory=dict)
    """PSS of each process of one guest, in bytes, when there were `weighed`."""
    weighed: int = 0
    failure: str = ""
    """Why there are not more."""

    @property
    def beside_qemu(self) -> float:
        return sum(weight for role, weight in self.memory.items() if role != QEMU)


async def gathered(client: Client, home: TrialHome, most: int) -> Crowd:
    """More and more, until one does not come or does not answer."""
    crowd, names = Crowd(), list[str]()
    try:
        while len(names) < most:
            batch = [f"crowd-{len(names) + each}" for each in range(min(BATCH, most - len(names)))]
            names += batch
            wanted = [instance(name, memory=MEMORY) for name in batch]
            await living.started(client, VMIS, wanted, living.has("AgentConnected"))
            found = await pods(client, home)
            await _all_answer([found[name] for name in names])
            crowd.guests = len(names)
            if crowd.guests <= WEIGHED:
                crowd.memory = _weighed([found[name] for name in names])
                crowd.weighed = crowd.guests
    except (TimeoutError, OSError, ExceptionGroup) as error:
        crowd.failure = f"{type(error).__name__}: {error}"
    finally:
        await living.end(client, VMIS, names)
    return crowd


async def _all_answer(found: list[LauncherPod]) -> None:
    async with asyncio.timeout(ANSWER_S), asyncio.TaskGroup() as tasks:
        for each in found:
            tasks.create_task(_answers(each.address))


async def _answers(address: str) -> None:
    """The guest's ssh server says who it is; the first one has to make its keys."""
    while True:
        try:
            reader, writer = await asyncio.open_connection(address, SSH)
            try:
                if (await reader.readline()).startswith(b"SSH-"):
                    return
            finally:
                writer.close()
        except OSError:
            await asyncio.sleep(0.2)


def _weighed(found: list[LauncherPod]) -> dict[str, float]:
    each = [pod.memory() for pod in found]
    roles = {role for memory in each for role in memory}
    return {role: mean(memory.get(role, 0) for memory in each) for role in roles}
