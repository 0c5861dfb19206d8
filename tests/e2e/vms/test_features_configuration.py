"""Settings of the whole installation act on the next machine, without anything being started again."""

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from tests.e2e.vms.objects import a_disk, a_vmi
from tests.e2e.vms.place import LIMIT_S, Place

from clusterup import waiting
from kubevirt.base.quantity import Quantity

MIB = 1 << 20
ON_NODE = {"hostDisk": {"path": "/var/data/disk.img", "type": "DiskOrCreate", "capacity": "8Mi"}}
OURS = {
    "cpuModel": "Nehalem",
    "architectureConfiguration": {"amd64": {"machineType": "pc-q35-7.1"}},
    "network": {"defaultNetworkInterface": "masquerade"},
    "developerConfiguration": {"memoryOvercommit": 200},
}
NO_MODEL = {"cpuModel": None}
"""Which QEMU might have to emulate."""


def plain(name: str) -> dict[str, Any]:
    """An instance that leaves open what can be."""
    domain = {"resources": {}, "memory": {"guest": "128Mi"}}
    return a_vmi(
        name, startStrategy="Paused", networks=[], domain=domain, devices={"interfaces": []}
    )


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


def compute(pod: dict[str, Any]) -> dict[str, Any]:
    return next(dict(each) for each in pod["spec"]["containers"] if each["name"] == "compute")


def requested(pod: dict[str, Any]) -> int:
    return Quantity.parse(compute(pod)["resources"]["requests"]["memory"]).value()


def is_talkative(pod: dict[str, Any]) -> bool:
    words = [*compute(pod).get("command", ()), *compute(pod).get("args", ())]
    return ("-v", "5") in pairwise(words)


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
    wanted = json.dumps(a_vmi("allowed", volumes=[a_disk("node", ON_NODE)]))
    said = place.kubectl("create", "--dry-run=server", "--filename=-", typed=wanted)
    assert said.code == 0, said.err

    configure(place, NO_MODEL)
    await until_filled(place, lambda domain: domain["cpu"]["model"] != "Nehalem")
    await place.create(plain("after"))
    after = await place.until_phase("after", "Running")
    assert after["status"]["machine"]["type"] == "pc-q35-7.1"
    old, new = await place.pod("before"), await place.pod("after")
    assert requested(old) - requested(new) == 64 * MIB
    assert (is_talkative(old), is_talkative(new)) == (False, True)
