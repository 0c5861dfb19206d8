"""Reboots that somebody waits for: `virtctl` comes back when another system runs in the guest, and not before."""

import asyncio
import json

from tests.e2e.vms.objects import a_vm
from tests.e2e.vms.place import Object, Place

BOOT_ID = "cat /proc/sys/kernel/random/boot_id"


async def test_who_waits_for_a_reboot_meets_another_system(place: Place) -> None:
    await place.create(a_vm("rebooted", runStrategy="Always"))
    await place.until("rebooted", has_agent, "heard of by its agent")
    boots = [boot_id(place)]
    for verb in ("reset", "soft-reboot"):
        said = await asyncio.to_thread(
            place.virtctl, verb, "rebooted", "--wait", "--timeout=180s", "-o", "json"
        )
        assert said.code == 0, said.err
        assert json.loads(said.out)["status"] == "Running"
        boots.append(boot_id(place))
    assert len(set(boots)) == len(boots)
    await place.until_event("rebooted", "Reset")
    await place.until_event("rebooted", "SoftRebooted")
    await place.delete("rebooted")
    await place.until_gone("rebooted")


def has_agent(vm: Object) -> bool:
    conditions = vm.get("status", {}).get("conditions", ())
    return any(each["type"] == "AgentConnected" for each in conditions)


def boot_id(place: Place) -> str:
    with place.console("rebooted") as guest:
        guest.log_in()
        return guest.run(BOOT_ID).strip()
