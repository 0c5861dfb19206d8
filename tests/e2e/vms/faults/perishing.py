"""Machines whose guests are killed: by the death of QEMU, or of the pod's first process, with which all others of the pod go.

One that is to run always is killed again and again. Each time the next instance must come up by itself, one only, with the
cause of the death in the condition of the one that died and in its event. What the guest had synced is on its disk. Of other
strategies, one death each shows what they make of it.
"""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.e2e.vms import companions
from tests.e2e.vms.companions import MONITOR, QEMU
from tests.e2e.vms.faults.life import (
    ASKED_FOR,
    BEFORE_IT_RUNS,
    LIMIT_S,
    NAME,
    PAUSED,
    PROMPT,
    RUNS,
    SPENT_S,
    VMI,
    WORKS,
    Death,
    Life,
    until,
)
from tests.e2e.vms.objects import Object, a_vm
from tests.e2e.vms.place import RETRY_S, Place

CAUSES = {
    QEMU: ("GuestCrashed", "QEMU was ended by SIGKILL"),
    MONITOR: ("LauncherLost", "container compute was killed with SIGKILL"),
}
"""Reason of the condition, and what condition and event say."""
MOMENTS = (RUNS, *SPENT_S, PROMPT, WORKS, PAUSED)
"""Of a guest that is there and does not go by itself."""


@dataclass
class Witness:
    """Looks at one instance until it has failed."""

    place: Place
    name: str
    uid: str
    is_there: asyncio.Event = field(default_factory=asyncio.Event)

    async def testimony(self) -> Object:
        def has_failed(vmi: Object) -> bool:
            self.is_there.set()
            is_it: bool = vmi["metadata"]["uid"] == self.uid
            return is_it and vmi.get("status", {}).get("phase") == "Failed"

        return await self.place.until(self.name, has_failed, "failed", kind=VMI)


async def perished(place: Place, deaths: Sequence[tuple[str, str]]) -> list[Death]:
    """Victims and moments: a guest for each, and one that is left in peace."""
    life = Life(place, strategy="Always")
    await life.reach(ASKED_FOR)
    for victim, moment in deaths:
        await _reach(life, moment)
        await _kill(life, victim, moment)
    await _reach(life, WORKS)
    await life.check_rest()
    await place.delete(NAME)
    await place.until_gone(NAME)
    return life.deaths


async def followed(place: Place, strategy: str, victim: str) -> None:
    """A machine whose guest stands still, so it costs little, and is killed once."""
    name = f"{strategy}-{victim.rsplit(maxsplit=1)[-1]}".lower()
    await place.create(a_vm(name, runStrategy=strategy, guest={"startStrategy": "Paused"}))
    if strategy == "Manual":
        await place.until_status(name, "Stopped")
        said = await asyncio.to_thread(place.virtctl, "start", name)
        assert said.code == 0, said.err
    await place.until_status(name, "Paused")
    uid = (await place.vmi(name))["metadata"]["uid"]
    pod = (await place.pod(name))["metadata"]["uid"]
    await _killed(place, name, victim, companions.of_guest(pod)[victim])
    if strategy == "RerunOnFailure":
        await _until_another(place, name, uid)
        return
    vm = await place.until(name, _has_stayed, "stopped, with its guest to look at")
    assert vm["status"]["created"]
    assert (await place.vmi(name))["metadata"]["uid"] == uid


def _has_stayed(vm: Object) -> bool:
    status = vm.get("status", {})
    told = {each["type"]: each.get("reason") for each in status.get("conditions", ())}
    is_told = told.get("Synchronized") in {reason for reason, _ in CAUSES.values()}
    return is_told and status.get("printableStatus") == "Stopped"


async def _reach(life: Life, moment: str) -> None:
    """The moment in the life of this guest; those that lead to it come before."""
    for each in (*BEFORE_IT_RUNS, RUNS, *([WORKS] if moment == PAUSED else [])):
        if each not in {ASKED_FOR, moment}:
            await life.reach(each)
    await life.reach(moment)


async def _kill(life: Life, victim: str, moment: str) -> None:
    place, began = life.place, time.monotonic()
    uid = (await place.vmi(NAME))["metadata"]["uid"]
    await until(lambda: _is_there(life, victim), f"{victim} is there")
    await _killed(place, NAME, victim, await life.pid(victim))
    await _until_another(place, NAME, uid)
    life.deaths.append(Death(victim, moment, time.monotonic() - began))
    if life.synced:
        assert await life.on_disk() >= life.synced, "what was synced is lost"
    life.forget()


async def _killed(place: Place, name: str, victim: str, pid: int) -> None:
    """With the cause told; looked for from before on, as who comes next takes its place."""
    uid = (await place.vmi(name))["metadata"]["uid"]
    witness = Witness(place, name, uid)
    async with asyncio.TaskGroup() as tasks:
        seen = tasks.create_task(witness.testimony())
        async with asyncio.timeout(LIMIT_S):
            await witness.is_there.wait()
        assert companions.kill(pid), f"{victim} has ended by itself"
    _check_condition(seen.result(), victim)
    await _check_event(place, name, uid, victim)


async def _until_another(place: Place, name: str, uid: str) -> None:
    await place.until(name, lambda vmi: vmi["metadata"]["uid"] != uid, "another one", kind=VMI)
    await place.until_phase(name, "Running")
    pod = await place.pod(name)
    assert not any(each["restartCount"] for each in pod["status"]["containerStatuses"])


async def _is_there(life: Life, victim: str) -> bool:
    return bool(await life.pid(victim))


def _check_condition(failed: Object, victim: str) -> None:
    reason, words = CAUSES[victim]
    conditions = failed["status"]["conditions"]
    told = next(each for each in conditions if each["type"] == "Synchronized")
    assert (told["status"], told["reason"]) == ("False", reason)
    assert words in told["message"]


async def _check_event(place: Place, name: str, uid: str, victim: str) -> None:
    words = CAUSES[victim][1]
    async with asyncio.timeout(LIMIT_S):
        while True:
            told = [
                each.get("message", "")
                for each in await place.events(name)
                if each["reason"] == "Stopped" and each["involvedObject"]["uid"] == uid
            ]
            if any(words in each for each in told):
                return
            await asyncio.sleep(RETRY_S)
