"""Where a machine may run, how it begins and how it ends."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.e2e.vms.objects import a_vm
from tests.e2e.vms.place import Place

PRIORITY = 1000


@pytest.fixture
def label(place: Place) -> Iterator[str]:
    """Of this test alone, and of no node when it has ended."""
    key = f"{place.namespace}.test/disk"
    yield key
    place.kubectl("label", "node", "--all", f"{key}-")


@pytest.fixture
def priority(place: Place) -> Iterator[str]:
    name = f"{place.namespace}-important"
    assert place.kubectl("create", "priorityclass", name, f"--value={PRIORITY}").code == 0
    yield name
    place.kubectl("delete", "priorityclass", name)


def expression(key: str) -> dict[str, Any]:
    term = {"matchExpressions": [{"key": key, "operator": "In", "values": ["fast"]}]}
    wanted = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    return {"nodeAffinity": wanted}


async def test_a_machine_waits_for_a_node_that_fits_then_begins_paused_and_goes_on(
    place: Place, label: str, priority: str
) -> None:
    guest: dict[str, Any] = {
        "nodeSelector": {label: "fast"},
        "affinity": expression(label),
        "tolerations": [{"key": "kept-for", "operator": "Exists", "effect": "NoSchedule"}],
        "priorityClassName": priority,
        "startStrategy": "Paused",
        # Nobody hears the button in a guest that is paused: it is switched off when its time is over.
        "terminationGracePeriodSeconds": 2,
    }
    await place.create(a_vm("choosy", guest=guest, runStrategy="Always"))
    vm = await place.until_status("choosy", "ErrorUnschedulable")
    scheduled = condition(vm, "PodScheduled")
    assert (scheduled["status"], scheduled["reason"]) == ("False", "Unschedulable")
    assert "node" in scheduled["message"]

    assert place.kubectl("label", "node", "--all", f"{label}=fast").code == 0
    vm = await place.until_status("choosy", "Paused")
    assert condition(vm, "Paused")["reason"] == "PausedByUser"
    assert condition(vm, "LiveMigratable")["reason"] == "LiveMigrationNotBuilt"
    spec = (await place.pod("choosy"))["spec"]
    assert spec["nodeSelector"][label] == "fast"
    assert spec["affinity"] == expression(label)
    assert guest["tolerations"][0] in spec["tolerations"]
    assert (spec["priorityClassName"], spec["priority"]) == (priority, PRIORITY)

    assert place.virtctl("unpause", "vm", "choosy", "--wait").code == 0
    await place.until_status("choosy", "Running")
    assert place.virtctl("pause", "vm", "choosy", "--wait").code == 0
    assert place.virtctl("stop", "choosy", "--wait").code == 0
    await place.until_event("choosy", "ShuttingDown")
    await place.until_event("choosy", "Stopped", "The VirtualMachineInstance crashed")


async def test_a_machine_larger_than_every_node_says_so_and_runs_when_it_has_become_smaller(
    place: Place,
) -> None:
    guest = {"domain": {"memory": {"guest": "4Ti"}, "resources": {}}, "startStrategy": "Paused"}
    await place.create(a_vm("giant", guest=guest, runStrategy="Always"))
    # A home is up a moment before its node has the labels of one that runs guests: that may be told first.
    await place.until("giant", is_unschedulable_for("Insufficient memory"), "said to be too large")

    smaller = {"spec": {"domain": {"memory": {"guest": "64Mi"}}}}
    await place.change("giant", {"spec": {"template": smaller}})
    assert place.virtctl("restart", "giant").code == 0
    await place.until_status("giant", "Paused")


def is_unschedulable_for(reason: str) -> Callable[[dict[str, Any]], bool]:
    def holds(vm: dict[str, Any]) -> bool:
        status = vm.get("status", {}).get("printableStatus")
        return status == "ErrorUnschedulable" and reason in condition(vm, "PodScheduled")["message"]

    return holds


def condition(found: dict[str, Any], kind: str) -> dict[str, Any]:
    return next(
        dict(each) for each in found["status"].get("conditions", ()) if each["type"] == kind
    )
