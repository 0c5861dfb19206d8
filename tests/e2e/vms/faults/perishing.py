"""A machine that is to run always, and whose guest is killed again and again: by the death of its QEMU, or of its pod's first
process, with which all others of the pod go.

Each time the next instance must come up by itself, one only, with the cause of the death in the condition of the one that
died and in its event. What the guest had synced is on its disk.
"""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.e2e.vms import companions
from tests.e2e.vms.companions import MONITOR, QEMU
from tests.e2e.vms.faults.life import (
    BEFORE_IT_RUNS,
    LIMIT_S,
    MOMENTS,
    NAME,
    VMI,
    WORKS,
    Death,
    Life,
    until,
)
from tests.e2e.vms.objects import Object
from tests.e2e.vms.place import RETRY_S, Place

CAUSES = {
    QEMU: ("GuestCrashed", "QEMU was ended by SIGKILL"),
    MONITOR: ("LauncherLost", "container compute was killed with SIGKILL"),
}
"""Reason of the condition, and what condition and event say."""


@dataclass
class Witness:
    """Looks at one instance until it has failed."""

    place: Place
    uid: str
    is_there: asyncio.Event = field(default_factory=asyncio.Event)

    async def testimony(self) -> Object:
        def has_failed(vmi: Object) -> bool:
            self.is_there.set()
            is_it: bool = vmi["metadata"]["uid"] == self.uid
            return is_it and vmi.get("status", {}).get("phase") == "Failed"

        return await self.place.until(NAME, has_failed, "failed", kind=VMI)


async def perished(place: Place, deaths: Sequence[tuple[str, str]]) -> list[Death]:
    """Victims and moments, from when it runs to when it is paused: a guest for each, and one that is left in peace."""
    life = Life(place, strategy="Always")
    await life.reach(MOMENTS[0])
    for victim, moment in deaths:
        await _reach(life, moment)
        await _kill(life, victim, moment)
    await _reach(life, WORKS)
    await life.check_rest()
    await place.delete(NAME)
    await place.until_gone(NAME)
    return life.deaths


async def _reach(life: Life, moment: str) -> None:
    """The moment in the life of this guest; those that lead to it come before."""
    for each in MOMENTS[1 : MOMENTS.index(moment) + 1]:
        is_on_the_way = each in BEFORE_IT_RUNS or each == "runs"
        is_needed = each == WORKS and MOMENTS.index(moment) > MOMENTS.index(WORKS)
        if each == moment or is_on_the_way or is_needed:
            await life.reach(each)


async def _kill(life: Life, victim: str, moment: str) -> None:
    place, began = life.place, time.monotonic()
    before = await place.vmi(NAME)
    uid = before["metadata"]["uid"]
    witness = Witness(place, uid)
    async with asyncio.TaskGroup() as tasks:
        seen = tasks.create_task(witness.testimony())
        async with asyncio.timeout(LIMIT_S):
            await witness.is_there.wait()
        await until(lambda: _is_there(life, victim), f"{victim} is there")
        companions.kill(await life.pid(victim))
    _check_condition(seen.result(), victim)
    await _check_event(place, uid, victim)
    await place.until(NAME, lambda vmi: vmi["metadata"]["uid"] != uid, "another one", kind=VMI)
    await place.until_phase(NAME, "Running")
    pod = await place.pod(NAME)
    assert not any(each["restartCount"] for each in pod["status"]["containerStatuses"])
    life.deaths.append(Death(victim, moment, time.monotonic() - began))
    if life.synced:
        assert await life.on_disk() >= life.synced, "what was synced is lost"
    life.forget()


async def _is_there(life: Life, victim: str) -> bool:
    return bool(await life.pid(victim))


def _check_condition(failed: Object, victim: str) -> None:
    reason, words = CAUSES[victim]
    conditions = failed["status"]["conditions"]
    told = next(each for each in conditions if each["type"] == "Synchronized")
    assert (told["status"], told["reason"]) == ("False", reason)
    assert words in told["message"]


async def _check_event(place: Place, uid: str, victim: str) -> None:
    words = CAUSES[victim][1]
    async with asyncio.timeout(LIMIT_S):
        while True:
            told = [
                each.get("message", "")
                for each in await place.events(NAME)
                if each["reason"] == "Stopped" and each["involvedObject"]["uid"] == uid
            ]
            if any(words in each for each in told):
                return
            await asyncio.sleep(RETRY_S)
