"""What becomes of a machine when its guest ends, by its run strategy: of its own accord, by a panic, by the death of its QEMU.

All of them run at once, since most of the time they boot. What a guest does to itself is in its user-data, so that nobody
has to log in; whoever is started again does it again, until the test has seen enough.
"""

import asyncio
from typing import Any

from tests.e2e.vms import companions
from tests.e2e.vms.objects import a_disk, a_vm
from tests.e2e.vms.place import Object, Place

from kubevirt.kube.errors import NotFound

VMI = "VirtualMachineInstance"
SHUT_DOWN = "The VirtualMachineInstance was shut down."
CRASHED = "The VirtualMachineInstance crashed."
POWER_OFF, PANIC = "poweroff", "echo c > /proc/sysrq-trigger"


def doomed(name: str, strategy: str, deed: str) -> Object:
    """It does that to itself as soon as it has booted."""
    script = {"cloudInitNoCloud": {"userData": f"#!/bin/sh\n{deed}\n"}}
    devices = {"panicDevices": [{"model": "isa"}]} if deed == PANIC else {}
    guest = {"devices": devices, "terminationGracePeriodSeconds": 30}
    return a_vm(name, runStrategy=strategy, guest=guest, volumes=[a_disk("seed", script)])


def held(name: str, strategy: str) -> Object:
    """It is there and does nothing, so it costs nothing."""
    return a_vm(name, runStrategy=strategy, guest={"startStrategy": "Paused"})


async def test_a_machine_follows_its_strategy_when_its_guest_ends(place: Place) -> None:
    stories = (
        _always_starts_again,
        _manual_stays_until_it_is_asked,
        _rerun_on_failure_stays_off,
        _once_stays_and_can_be_looked_at,
        _halted_never_starts,
        _rerun_on_failure_starts_again_after_a_panic,
        _always_starts_again_after_a_crash,
        _manual_stays_after_a_crash_and_tells_why,
    )
    async with asyncio.TaskGroup() as tasks:
        for story in stories:
            tasks.create_task(story(place))


async def _always_starts_again(place: Place) -> None:
    await place.create(doomed("always", "Always", POWER_OFF))
    first = await place.until_phase("always", "Running")
    second = await _until_another(place, "always", first)
    await place.until_event("always", "Stopped", SHUT_DOWN)
    await place.until_event("always", "SuccessfulDelete", "Stopped the virtual machine by deleting")
    assert "startFailure" not in (await place.vm("always"))["status"], "it has run: no back-off"
    assert second["status"]["phase"] == "Running"
    await place.delete("always")


async def _manual_stays_until_it_is_asked(place: Place) -> None:
    await place.create(doomed("manual", "Manual", POWER_OFF))
    await place.until_status("manual", "Stopped")
    assert await _has_no_instance(place, "manual")
    await asyncio.to_thread(place.virtctl, "start", "manual")
    first = await place.until_phase("manual", "Succeeded")
    await place.until_event("manual", "Stopped", SHUT_DOWN)
    vm = await place.until_status("manual", "Stopped")
    assert vm["status"]["created"]
    await asyncio.to_thread(place.virtctl, "start", "manual")
    await _until_another(place, "manual", first)
    await place.delete("manual")


async def _rerun_on_failure_stays_off(place: Place) -> None:
    await place.create(doomed("rerun", "RerunOnFailure", POWER_OFF))
    await place.until_phase("rerun", "Running")
    await place.until_event("rerun", "Stopped", SHUT_DOWN)
    await place.until_gone("rerun", VMI)
    vm = await place.until(
        "rerun",
        lambda vm: vm["status"]["printableStatus"] == "Stopped" and not vm["status"].get("created"),
        "stopped, with nothing left of the guest",
    )
    assert not vm["status"].get("stateChangeRequests")
    told = [each["reason"] for each in await place.events("rerun")]
    assert told.count("Started") == 1


async def _once_stays_and_can_be_looked_at(place: Place) -> None:
    await place.create(doomed("once", "Once", POWER_OFF))
    ended = await place.until_phase("once", "Succeeded")
    vm = await place.until_status("once", "Stopped")
    assert vm["status"]["created"]
    said = await asyncio.to_thread(place.virtctl, "start", "once")
    assert said.code
    assert "Once does not support manual start requests" in said.err
    assert (await place.vmi("once"))["metadata"]["uid"] == ended["metadata"]["uid"]


async def _halted_never_starts(place: Place) -> None:
    await place.create(held("halted", "Halted"))
    await place.until_status("halted", "Stopped")
    assert await _has_no_instance(place, "halted")


async def _rerun_on_failure_starts_again_after_a_panic(place: Place) -> None:
    await place.create(doomed("panic", "RerunOnFailure", PANIC))
    failed = await place.until_phase("panic", "Failed")
    assert _trouble(failed) == ("False", "GuestPanicked", "the guest's kernel panicked")
    event = await place.until_event("panic", "Stopped", CRASHED)
    assert "The guest's kernel panicked." in event["message"]
    again = await _until_another(place, "panic", failed)
    assert again["status"]["phase"] == "Running"
    await place.delete("panic")


async def _always_starts_again_after_a_crash(place: Place) -> None:
    await place.create(held("crash", "Always"))
    first = await place.until_phase("crash", "Running")
    await _kill_qemu(place, "crash")
    second = await _until_another(place, "crash", first)
    event = await place.until_event("crash", "Stopped", CRASHED)
    assert "QEMU was ended by SIGKILL" in event["message"]
    assert event["type"] == "Warning"
    assert second["status"]["phase"] == "Running"
    assert "startFailure" not in (await place.vm("crash"))["status"], "it has run: no back-off"


async def _manual_stays_after_a_crash_and_tells_why(place: Place) -> None:
    await place.create(held("wreck", "Manual"))
    await place.until_status("wreck", "Stopped")
    await asyncio.to_thread(place.virtctl, "start", "wreck")
    await place.until_phase("wreck", "Running")
    await _kill_qemu(place, "wreck")
    failed = await place.until_phase("wreck", "Failed")
    status, reason, message = _trouble(failed)
    assert (status, reason) == ("False", "GuestCrashed")
    assert message.startswith("the guest crashed: QEMU was ended by SIGKILL")
    vm = await place.until(
        "wreck",
        lambda vm: vm["status"]["printableStatus"] == "Stopped" and _trouble(vm)[1] == reason,
        "stopped, and told why",
    )
    assert vm["status"]["created"]


async def _kill_qemu(place: Place, name: str) -> None:
    pod = (await place.pod(name))["metadata"]["uid"]
    companions.kill(companions.of_guest(pod)[companions.QEMU])


async def _until_another(place: Place, name: str, before: Object) -> Object:
    """The next instance of the machine, when it runs or has done so."""
    uid = before["metadata"]["uid"]

    def is_another(vmi: Object) -> bool:
        is_new: bool = vmi["metadata"]["uid"] != uid
        return is_new and vmi.get("status", {}).get("phase") == "Running"

    return await place.until(name, is_another, "another one that runs", kind=VMI)


async def _has_no_instance(place: Place, name: str) -> bool:
    try:
        await place.vmi(name)
    except NotFound:
        return True
    return False


def _trouble(found: Object) -> tuple[str, str, str]:
    """The condition Synchronized: status, reason, message."""
    conditions: list[dict[str, Any]] = found["status"].get("conditions", [])
    told = next((each for each in conditions if each["type"] == "Synchronized"), {})
    return told.get("status", ""), told.get("reason", ""), told.get("message", "")
