"""How a home is, seen from outside: its folder, its process, what its API server says."""

import asyncio
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Any, Final

import msgspec

from kubevirt.api.resource import Resource
from kubevirt.base.errors import KubevirtError
from kubevirt.embedded.home import Home, Process
from kubevirt.embedded.programs import sighted
from kubevirt.embedded.programs.sighted import Sighted
from kubevirt.kube.access import kubeconfig
from kubevirt.kube.client import Client
from kubevirt.kube.errors import NotFound

ASK_S: Final = 5.0
_RAW: Final = dict[str, Any]
_NODES: Final = Resource("", "v1", "nodes", "Node", False, _RAW)
_PODS: Final = Resource("", "v1", "pods", "Pod", True, _RAW)
_KUBEVIRTS: Final = Resource("kubevirt.io", "v1", "kubevirts", "KubeVirt", True, _RAW)


class State(Enum):
    ABSENT = "absent"
    """There is no home in the folder."""
    DOWN = "down"
    STARTING = "starting"
    UP = "up"
    STOPPING = "stopping"
    SILENT = "silent"
    """A process runs, and its API server does not answer."""
    DIED = "died"
    """It was up and is not; pods may still run."""


class NodeCondition(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    name: str
    is_ready: bool
    message: str = ""
    """Why it is not ready, or what does not work of it although it is."""

    @property
    def is_well(self) -> bool:
        return self.is_ready and not self.message


class KubeVirtCondition(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """As its object says."""

    phase: str
    is_available: bool
    message: str = ""


class Condition(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    home: str
    state: State
    process: Process | None = None
    memory_bytes: int = 0
    nodes: Sequence[NodeCondition] = ()
    pods: Mapping[str, int] = {}
    """How many are in each phase."""
    kubevirt: KubeVirtCondition | None = None
    """None where it is not installed."""
    programs: Sequence[Sighted] = ()
    """Of KubeVirt, as far as they are processes of their own."""
    kubeconfig: str = ""
    log: str = ""
    trouble: str = ""
    """Why it is not as it should be, or why no more is known."""


async def look(home: Home) -> Condition:
    if not home.is_there:
        return Condition(home=str(home.path), state=State.ABSENT)
    found, is_running = home.process, home.is_running
    if not is_running:
        state = State.DIED if found else State.DOWN
        return Condition(home=str(home.path), state=state, process=found, log=str(home.log))
    if found is None:
        return Condition(home=str(home.path), state=State.STARTING, log=str(home.log))
    if found.is_ending:
        return Condition(
            home=str(home.path), state=State.STOPPING, process=found, log=str(home.log)
        )
    condition = Condition(
        home=str(home.path),
        state=State.UP,
        process=found,
        memory_bytes=_memory(found.pid),
        programs=sighted.look(home) if home.choices.is_separate else (),
        kubeconfig=str(home.kubeconfig),
        log=str(home.log),
    )
    if not os.access(home.kubeconfig, os.R_OK):
        return msgspec.structs.replace(condition, trouble="only root may ask it for more")
    try:
        async with asyncio.timeout(ASK_S):
            found_there = await _ask(home)
    except (KubevirtError, TimeoutError) as error:
        trouble = str(error) or f"the API server did not answer within {ASK_S:g} s"
        return msgspec.structs.replace(condition, state=State.SILENT, trouble=trouble)
    return msgspec.structs.replace(condition, **found_there)


async def _ask(home: Home) -> dict[str, Any]:
    async with Client(kubeconfig.load([home.kubeconfig], {})) as client:
        await client.raw("GET", "/readyz/etcd", accept="*/*")  # which says why not
        nodes = await client.list(_NODES)
        pods = await client.list(_PODS)
        kubevirt = await _kubevirt(client)
    phases = Counter(each.get("status", {}).get("phase", "Unknown") for each in pods.items)
    return {
        "nodes": [_condition(each) for each in nodes.items],
        "pods": dict(sorted(phases.items())),
        "kubevirt": kubevirt,
    }


async def _kubevirt(client: Client) -> KubeVirtCondition | None:
    try:
        found = await client.get(_KUBEVIRTS, "kubevirt", "kubevirt")
    except NotFound:
        return None
    status = found.get("status") or {}
    conditions = {each["type"]: each for each in status.get("conditions") or ()}
    available = conditions.get("Available") or {}
    is_available = available.get("status") == "True"
    message = "" if is_available else str(available.get("message") or "it has not begun yet")
    return KubeVirtCondition(
        phase=status.get("phase", "Unknown"), is_available=is_available, message=message
    )


def _condition(node: dict[str, Any]) -> NodeCondition:
    conditions = {each["type"]: each for each in node.get("status", {}).get("conditions", ())}
    ready = conditions.get("Ready", {})
    is_ready = ready.get("status") == "True"
    message = "" if is_ready else str(ready.get("message") or "it has not reported yet")
    network = conditions.get("NetworkUnavailable", {})
    if is_ready and network.get("status") == "True":
        message = str(network.get("message") or "its network does not work")
    return NodeCondition(name=node["metadata"]["name"], is_ready=is_ready, message=message)


def _memory(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(each.split()[1]) << 10 for each in lines if each.startswith("VmRSS:")), 0)
