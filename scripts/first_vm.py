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
from msgspec import convert

from kubevirt.api.machine import VirtualMachine
from kubevirt.api.scheme import VIRTUAL_MACHINE_INSTANCES, VIRTUAL_MACHINES
from kubevirt.base.errors import KubevirtError, UserError
from kubevirt.cli import subresources, waiting
from kubevirt.cli.asking import Session
from kubevirt.cli.targets import Kind, Target
from kubevirt.embedded import home
from kubevirt.kube.access import kubeconfig
from kubevirt.kube.client import Client
from kubevirt.kube.errors import AlreadyExists
from kubevirt.virt.machine import strategy

MANIFEST = Path("examples/vm.yaml")
NAMESPACE = "default"
COMES_BY_ITSELF = (strategy.ALWAYS, strategy.ONCE)
STARTED_S = 120.0
BOOTED_S = 180.0
"""In software alone, on a busy machine; a quiet one needs 3 s."""
AGAIN_S = 0.2
"""Between two questions to a guest that did not answer."""

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
    _say(f"{name} runs, and its guest boots")
    await until_booted(session, name)
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
    """False where it runs, or comes to run by itself, as after `make down`."""
    found = await session.client.get(VIRTUAL_MACHINES.raw, name, NAMESPACE)
    if waiting.printable(found) in ("Running", "Starting"):
        return False
    if strategy.of(convert(found, VirtualMachine)) in COMES_BY_ITSELF:
        return False
    await subresources.put(session, Target(kind=Kind.VM, name=name, namespace=NAMESPACE), "start")
    return True


async def until_booted(session: Session, name: str, limit_s: float = BOOTED_S) -> None:
    """Asked of the guest itself: after `make down` its status is for a moment still that of the guest before."""
    limit = time.monotonic() + limit_s
    last: KubevirtError | None = None
    while (left_s := limit - time.monotonic()) > 0:
        try:
            await waiting.until(
                *(session, VIRTUAL_MACHINE_INSTANCES, name, session.namespace),
                lambda vmi: waiting.condition(vmi, "AgentConnected") == "True",
                what="booted",
                timeout_s=left_s,
            )
        except UserError as error:
            if last is None or error.reason != "Timeout":
                raise
            break  # what the guest has answered says more
        last = await _refusal(session, name)
        if last is None:
            return
        await asyncio.sleep(AGAIN_S)
    raise UserError(
        f"the guest of {name} has not answered within {limit_s:g} s: {last}; see what it prints by"
        f" .venv/bin/virtctl console {name}",
        reason="Timeout",
    ) from last


async def _refusal(session: Session, name: str) -> KubevirtError | None:
    """What is said instead of the guest's answer; None if it answers."""
    guest = Target(kind=Kind.VMI, name=name, namespace=session.namespace)
    try:
        await subresources.get(session, guest, "guestosinfo")
    except KubevirtError as error:
        return error
    return None


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
