"""Settings of the whole installation act on the next machine, without anything being started again."""

import asyncio
import json
import os
from collections.abc import Callable
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.vms.objects import a_disk, a_vmi
from tests.e2e.vms.place import LIMIT_S, Place

from clusterup import waiting
from kubevirt.base.quantity import Quantity
from kubevirt.embedded.home import Home
from kubevirt.embedded.programs import sighted
from kubevirt.virt.pod.config import KVM

MIB = 1 << 20
LAUNCHER = 107
MARK = "written by a guest"
OURS = {
    "cpuModel": "Nehalem",
    "architectureConfiguration": {"amd64": {"machineType": "pc-q35-7.1"}},
    "network": {"defaultNetworkInterface": "masquerade"},
    "developerConfiguration": {"memoryOvercommit": 200},
}
NO_MODEL = {"cpuModel": None}
"""Which QEMU might have to emulate."""


def plain(name: str, **more: Any) -> dict[str, Any]:
    """An instance that leaves open what can be."""
    domain = {"resources": {}, "memory": {"guest": "128Mi"}}
    guest = {"startStrategy": "Paused", "domain": domain, "devices": {"interfaces": []}, **more}
    return a_vmi(name, networks=[], **guest)


def configure(place: Place, configuration: dict[str, Any]) -> None:
    patch(place, "merge", {"spec": {"configuration": configuration}})


def open_gate(place: Place, name: str) -> None:
    """As KubeVirt's documents have it: a list of one's own, which closes no gate that is open by default."""
    configure(place, {"developerConfiguration": {"featureGates": [name]}})


def patch(place: Place, kind: str, change: Any) -> None:
    words = ("patch", "kubevirt", "kubevirt", "--namespace=kubevirt", f"--type={kind}", "--patch")
    said = place.kubectl(*words, json.dumps(change))
    assert said.code == 0, said.err


async def until_filled(place: Place, is_so: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """What would become of an instance's domain, when virt-api has heard of the settings."""
    words = ("create", "--dry-run=server", "--output=json", "--filename=-")
    found: dict[str, Any] = {}

    async def has_heard() -> bool:
        said = place.kubectl(*words, typed=json.dumps(plain("tried")))
        assert said.code == 0, said.err
        found.update(json.loads(said.out)["spec"]["domain"])
        return is_so(found)

    await waiting.until(has_heard, limit_s=LIMIT_S, what="the settings are heard of")
    return found


def on_the_node(file: Path) -> dict[str, Any]:
    file.parent.mkdir()
    os.chown(file.parent, LAUNCHER, LAUNCHER)  # who makes the disk
    disk = {"path": str(file), "type": "DiskOrCreate", "capacity": "8Mi"}
    return a_disk("node", {"hostDisk": disk}, serial="NODE")


def written_by(place: Place, name: str) -> None:
    with place.console(name) as guest:
        guest.log_in()
        disk = guest.disk("NODE")
        guest.run(f"echo {MARK} | sudo dd of=/dev/{disk} conv=notrunc 2>/dev/null; sync")


def compute(pod: dict[str, Any]) -> dict[str, Any]:
    return next(dict(each) for each in pod["spec"]["containers"] if each["name"] == "compute")


def requested(pod: dict[str, Any]) -> int:
    return Quantity.parse(compute(pod)["resources"]["requests"]["memory"]).value()


def is_talkative(pod: dict[str, Any]) -> bool:
    words = [*compute(pod).get("command", ()), *compute(pod).get("args", ())]
    return ("-v", "5") in pairwise(words)


def asked_for(pod: dict[str, Any]) -> tuple[bool, bool]:
    """Hardware's acceleration, and emulation."""
    container = compute(pod)
    words = [*container.get("command", ()), *container.get("args", ())]
    return KVM in container["resources"]["requests"], "--use-emulation" in words


def emulated(place: Place) -> bool:
    words = ("get", "kubevirt", "kubevirt", "--namespace=kubevirt", "--output=json")
    spec = json.loads(place.kubectl(*words).out)["spec"]
    return bool(spec["configuration"].get("developerConfiguration", {}).get("useEmulation"))


async def until_pods_ask_for(place: Place, *, hardware: bool) -> None:
    """Those of new instances: virt-controller hears of a setting a moment after it is made."""
    number = count()

    async def has_heard() -> bool:
        name = f"tried-{next(number)}"
        await place.create(plain(name))
        await place.until_phase(name, "Scheduling", "Scheduled", "Running")
        found = asked_for(await place.pod(name))
        await place.delete(name, "VirtualMachineInstance")
        return found == (hardware, not hardware)

    await waiting.until(has_heard, limit_s=LIMIT_S, what=f"pods ask for hardware: {hardware}")


async def until_talkative(place: Place, program: str, level: int) -> None:
    """A program says so as soon as its log has the room; all programs of one process have one log."""
    said = place.virtctl("adm", "log-verbosity", f"--{program}={level}")
    assert (said.code, said.out) == (0, f"{program} = {level}\n"), said.err
    home = Home(place.home.path)
    own = sighted.log_file(home, f"{program}-node01" if program == "virt-handler" else program)
    log = own if own.exists() else home.log

    async def is_said() -> bool:
        lines = [json.loads(line) for line in log.read_text().splitlines() if line[:1] == "{"]
        return any(each["msg"] == "verbosity" and each.get("now") == level for each in lines)

    await waiting.until(is_said, limit_s=LIMIT_S, what=f"{program} says more, in {log}")


@pytest.mark.timeout(900)
async def test_what_an_administrator_sets_holds_for_the_next_machine(own_place: Place) -> None:
    place = own_place
    await place.create(plain("before"))
    before = await place.until_phase("before", "Running")
    assert "bridge" in before["spec"]["domain"]["devices"]["interfaces"][0]

    open_gate(place, "HostDisk")
    configure(place, OURS)
    said = place.virtctl("adm", "log-verbosity", "--virt-launcher=5")
    assert (said.code, said.out) == (0, "virt-launcher = 5\n"), said.err
    domain = await until_filled(place, lambda domain: domain["machine"]["type"] == "pc-q35-7.1")
    assert domain["cpu"]["model"] == "Nehalem"
    assert "masquerade" in domain["devices"]["interfaces"][0]

    configure(place, NO_MODEL)
    await until_filled(place, lambda domain: domain["cpu"]["model"] != "Nehalem")
    file = place.home.folder / "on-the-node/disk.img"
    await place.create(plain("after", startStrategy=None, volumes=[on_the_node(file)]))
    after = await place.until_phase("after", "Running")
    await asyncio.to_thread(written_by, place, "after")
    assert file.read_bytes().startswith(MARK.encode())
    assert after["status"]["machine"]["type"] == "pc-q35-7.1"
    old, new = await place.pod("before"), await place.pod("after")
    assert requested(old) - requested(new) == 64 * MIB
    assert (is_talkative(old), is_talkative(new)) == (False, True)

    # The levels rise, as the most that is asked for is said where there is one log.
    for level, program in enumerate(("virt-controller", "virt-api", "virt-handler"), start=3):
        await until_talkative(place, program, level)
    was_emulated = emulated(place)
    for is_emulated in (not was_emulated, was_emulated):
        configure(place, {"developerConfiguration": {"useEmulation": is_emulated}})
        await until_pods_ask_for(place, hardware=not is_emulated)
