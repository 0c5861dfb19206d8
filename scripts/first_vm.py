"""The last step of `make up`: examples/vm.yaml is applied and started; when somebody can log in, it is said how.

It talks to the home that `virtctl up` has brought up. A machine that is there is not changed, only started.
"""

import asyncio
import os
import sys
import time
from pathlib import Path
from typing import Any

import yaml

from kubevirt.api.scheme import VIRTUAL_MACHINE_INSTANCES, VIRTUAL_MACHINES
from kubevirt.base.errors import KubevirtError
from kubevirt.cli import subresources, waiting
from kubevirt.cli.asking import Session
from kubevirt.cli.targets import Kind, Target
from kubevirt.embedded import home
from kubevirt.kube.access import kubeconfig
from kubevirt.kube.client import Client
from kubevirt.kube.errors import AlreadyExists

MANIFEST = Path("examples/vm.yaml")
NAMESPACE = "default"
STARTED_S = 120.0
BOOTED_S = 180.0
"""In software alone, on a busy machine; a quiet one needs 3 s."""

HOW = """
  .venv/bin/virtctl console {name}        user cirros, password gocubsgo; Ctrl+] leaves
  .venv/bin/virtctl ssh cirros@vm/{name}  the same over its network
  .venv/bin/virtctl stop {name}           also start, restart, pause, unpause, vnc, port-forward
  .venv/bin/virtctl status                how everything is
  kubectl --context kubevirt get vms      the machine as Kubernetes has it
  make down                               stops everything; data stays

More machines are in examples/, and docs/first-vm.md goes on from here."""


async def main() -> int:
    folder = Path(os.environ.get("KUBEVIRT_HOME") or home.DEFAULT)
    try:
        async with Client(kubeconfig.load([folder / "kubeconfig"], {})) as client:
            await _first_vm(Session(client, NAMESPACE))
    except KubevirtError as error:
        print(f"make up: {error}", file=sys.stderr)
        return 1
    return 0


async def _first_vm(session: Session) -> None:
    wanted = yaml.safe_load((Path(__file__).parents[1] / MANIFEST).read_text(encoding="utf-8"))
    name = wanted["metadata"]["name"]
    began = time.monotonic()
    if await _is_made(session, wanted):
        _say(f"{name} is made of {MANIFEST}")
    if await _is_started(session, name):
        _say(f"{name} is started")
    await waiting.until(
        *(session, VIRTUAL_MACHINES, name, NAMESPACE),
        lambda vm: waiting.printable(vm) == "Running",
        what="running",
        timeout_s=STARTED_S,
    )
    _say(f"{name} runs after {time.monotonic() - began:.1f} s, and its guest boots")
    await waiting.until(
        *(session, VIRTUAL_MACHINE_INSTANCES, name, NAMESPACE),
        lambda vmi: waiting.condition(vmi, "AgentConnected") == "True",
        what="booted",
        timeout_s=BOOTED_S,
    )
    _say(f"{name} can be logged in to after {time.monotonic() - began:.1f} s")
    print(HOW.format(name=name))


async def _is_made(session: Session, wanted: dict[str, Any]) -> bool:
    """False where there is one of that name."""
    try:
        # The mission's own words are of an older version of the API, so they go there.
        version, plural = wanted["apiVersion"], VIRTUAL_MACHINES.plural
        path = f"/apis/{version}/namespaces/{NAMESPACE}/{plural}"
        await session.client.raw("POST", path, wanted)
    except AlreadyExists:
        return False
    return True


async def _is_started(session: Session, name: str) -> bool:
    """False where it runs, or is about to."""
    found = await session.client.get(VIRTUAL_MACHINES.raw, name, NAMESPACE)
    if waiting.printable(found) in ("Running", "Starting"):
        return False
    await subresources.put(session, Target(kind=Kind.VM, name=name, namespace=NAMESPACE), "start")
    return True


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
