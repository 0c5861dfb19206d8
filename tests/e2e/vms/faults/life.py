"""The life of one machine, during which those who keep it die, and it must not notice.

    asked for ── pod made ── handed over ── runs ── firmware ── kernel ── prompt ── works ── paused ── shuts down ── over
        †           †            †           †         †           †         †         †        †           †

After each death whoever died must be back and of use. The guest must not notice: same pod, same QEMU, same boot, and what
it has synced to its disk is there, as the host reads it when all is over.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.faults.life import NUMBER, WRITER
from tests.e2e.nouns.guests import Guest
from tests.e2e.vms import companions
from tests.e2e.vms.companions import DNSMASQ, HOME, QEMU, VIRT_CONTROLLER, VIRT_HANDLER
from tests.e2e.vms.objects import Object, a_claim, a_disk, a_vm, of_claim
from tests.e2e.vms.place import Place

from kubevirt.api import scheme
from kubevirt.base.errors import KubevirtError
from kubevirt.kube.errors import InternalError

ASKED_FOR, POD_MADE, HANDED_OVER, RUNS = "asked for", "pod made", "handed over", "runs"
FIRMWARE, KERNEL, PROMPT = "firmware", "kernel", "prompt"
LOADER, UNPACKING, DRIVERS, FIRST_PROCESS = "loader", "unpacking", "drivers", "first process"
WORKS, PAUSED, SHUTS_DOWN = "works", "paused", "shuts down"
MOMENTS = (
    *(ASKED_FOR, POD_MADE, HANDED_OVER, RUNS),
    *(FIRMWARE, KERNEL, PROMPT, WORKS, PAUSED, SHUTS_DOWN),
)
FEW = (KERNEL, WORKS)
"""Those of `make test`."""
BEFORE_IT_RUNS = (ASKED_FOR, POD_MADE, HANDED_OVER)
SPENT_S = {
    FIRMWARE: 0.3,
    LOADER: 0.5,
    UNPACKING: 0.8,
    KERNEL: 1.2,
    DRIVERS: 1.6,
    FIRST_PROCESS: 2.0,
}
"""Seconds of a processor that QEMU has had by then, however busy the machine is; in order."""
PHASES = {
    POD_MADE: ("Scheduling", "Scheduled", "Running"),
    HANDED_OVER: ("Scheduled", "Running"),
    RUNS: ("Running",),
}
STATIONS = (ASKED_FOR, RUNS, WORKS, SHUTS_DOWN)
"""Where every life comes by."""
OF_THE_HOME = (HOME, *companions.PROGRAMS)
NAME, CLAIM = "testvm", "data"
BOOT_ID = "/proc/sys/kernel/random/boot_id"
SUBRESOURCES = "/apis/subresources.kubevirt.io/v1"
CLAIMS, VOLUMES = scheme.PERSISTENT_VOLUME_CLAIMS.raw, scheme.PERSISTENT_VOLUMES.raw
LIMIT_S = 240.0
"""To end a hang."""
LOOK_S = 0.05
STILL_S = 3.0
"""Without a change, after which a house is at rest."""
VMI = "VirtualMachineInstance"


@dataclass(frozen=True)
class Death:
    victim: str
    moment: str
    away_s: float
    """Until it was of use again."""
    was_there: bool = True
    """Or it had gone with its guest, which had shut down before."""


@dataclass(frozen=True)
class Identity:
    """Of one run of the guest."""

    instance: str
    pod: str
    qemu: int


class Life:
    """Of a machine with a disk of its own that it writes to, again and again, one number after the other."""

    def __init__(self, place: Place, strategy: str = "RerunOnFailure") -> None:
        self.place = place
        self.deaths: list[Death] = []
        self.synced = 0
        self._strategy = strategy
        self._identity: Identity | None = None
        self._boot = ""

    # Moments.

    async def reach(self, moment: str) -> None:
        if moment == ASKED_FOR:
            await self._ask_for_it()
        elif moment in PHASES:
            await self.place.until_phase(NAME, *PHASES[moment])
        elif moment in SPENT_S:
            await until(lambda: self._has_spent(SPENT_S[moment]), f"the guest is at its {moment}")
        elif moment == PROMPT:
            with self.place.console(NAME) as guest:
                guest.session.until("login: ")
        elif moment == WORKS:
            self._set_to_work()
        elif moment == PAUSED:
            await self._ask_until("pause", is_paused=True)
        elif moment == SHUTS_DOWN:
            with self.terminal() as guest:
                self.synced = synced(guest)
                guest.session.type("sudo poweroff\n")
                guest.session.until("poweroff")
        if moment == RUNS:
            self._identity = await self._who_it_is()

    async def _has_spent(self, wanted_s: float) -> bool:
        return companions.processor_s(await self.pid(QEMU)) >= wanted_s

    async def _ask_for_it(self) -> None:
        data = a_disk("data", of_claim(CLAIM), serial="DATA")
        grace = {"terminationGracePeriodSeconds": 30}
        vm = a_vm(NAME, runStrategy=self._strategy, volumes=[data], guest=grace)
        await self.place.create(a_claim(CLAIM, "16Mi"))
        await until(lambda: self._is_accepted(vm), "somebody judges machines")

    async def _is_accepted(self, vm: Object) -> bool:
        """A home that was just started on a busy machine does not wait for virt-api for ever."""
        try:
            await self.place.create(vm)
        except InternalError:
            return False
        return True

    def _set_to_work(self) -> None:
        with self.place.console(NAME) as guest:
            guest.log_in()
            self._boot = guest.read(BOOT_ID)
            guest.run(WRITER.format(digits=NUMBER, device=guest.disk("DATA")))
            self.synced = synced(guest)

    # Deaths.

    async def strike(self, victim: str, moment: str) -> None:
        """A guest that shuts down may be over before its companion is back, or was there at all."""
        began = time.monotonic()
        killed = await self._killed(victim, moment)
        if victim == HOME:
            said = await asyncio.to_thread(self.place.home.virtctl, "up", "--no-merge-kubeconfig")
            assert said.code == 0, said.err
        if victim in OF_THE_HOME or moment != SHUTS_DOWN:
            await until(lambda: self._is_another(victim, killed), f"{victim} is back")
        if moment not in (*BEFORE_IT_RUNS, SHUTS_DOWN):
            await self._check_use(victim)
        self.deaths.append(Death(victim, moment, time.monotonic() - began, bool(killed)))

    async def _killed(self, victim: str, moment: str) -> int:
        """The pid that it had; 0 of one that has gone with its guest, and of nobody else."""
        may_be_over = victim not in OF_THE_HOME and moment == SHUTS_DOWN
        found = 0

        async def is_there_or_over() -> bool:
            nonlocal found
            found = await self.pid(victim)
            return bool(found) or (may_be_over and await self._is_over())

        await until(is_there_or_over, f"{victim} is there")
        if found and not companions.kill(found):
            assert may_be_over, f"{victim} has ended by itself, {moment}"
            await until(self._is_over, f"the guest is over, as {victim} is")
            return 0
        return found

    async def _is_another(self, victim: str, killed: int) -> bool:
        return await self.pid(victim) not in {0, killed}

    async def _is_over(self) -> bool:
        return not await self.pid(QEMU)

    async def pid(self, role: str) -> int:
        """0 if it is not there."""
        if role in OF_THE_HOME:
            return companions.of_home(self.place.home).get(role, 0)
        if self._identity is not None:
            return companions.of_guest(self._identity.pod).get(role, 0)
        try:
            pod = await self.place.pod(NAME)
        except (AssertionError, KubevirtError):
            return 0
        return companions.of_guest(pod["metadata"]["uid"]).get(role, 0)

    # What must not have changed, and what must work.

    async def _check_use(self, victim: str) -> None:
        await self._ask_until("pause", is_paused=True)
        await self._ask_until("unpause", is_paused=False)
        if victim in {HOME, VIRT_CONTROLLER}:
            await self._check_controller()
        assert await self._who_it_is() == self._identity
        if self._boot:
            self._check_inside(victim)

    async def _ask_until(self, what: str, *, is_paused: bool) -> None:
        """Through API server, virt-api, virt-handler and the launcher; whoever is away is waited for."""
        path = f"{SUBRESOURCES}/namespaces/{self.place.namespace}/virtualmachineinstances/{NAME}/{what}"
        async with asyncio.timeout(LIMIT_S):
            while True:
                with suppress(KubevirtError):
                    await self.place.client.raw("PUT", path, {})
                with suppress(KubevirtError):
                    if has_condition(await self.place.vmi(NAME), "Paused") == is_paused:
                        return
                await asyncio.sleep(LOOK_S)

    async def _check_controller(self) -> None:
        name = f"another{len(self.deaths)}"
        await self.place.create(a_vm(name))
        await self.place.until_status(name, "Stopped")
        await self.place.delete(name)

    def _check_inside(self, victim: str) -> None:
        with self.terminal() as guest:
            assert guest.read(BOOT_ID) == self._boot, "the guest has booted again"
            self.synced = synced(guest, beyond=self.synced)
            if victim in {DNSMASQ, HOME, VIRT_HANDLER}:  # dnsmasq belongs to whoever started it
                guest.run("sudo udhcpc -n -q -f -i eth0 >/dev/null")

    async def _who_it_is(self) -> Identity:
        pod, vmi = await self.place.pod(NAME), await self.place.vmi(NAME)
        containers = pod["status"]["containerStatuses"]
        assert not any(each["restartCount"] for each in containers)
        uid = pod["metadata"]["uid"]
        qemu = companions.of_guest(uid).get(QEMU, 0)
        assert qemu, "there is no QEMU"
        return Identity(vmi["metadata"]["uid"], uid, qemu)

    @contextmanager
    def terminal(self) -> Iterator[Guest]:
        """`virtctl console` of a guest to which somebody has logged in before."""
        with self.place.console(NAME) as guest:
            guest.session.until("$ ")
            yield guest

    async def check_rest(self) -> None:
        """Nobody goes on writing, and nobody is started again and again."""
        async with asyncio.timeout(LIMIT_S):
            before = await self._versions()
            while True:
                await asyncio.sleep(STILL_S)
                if (after := await self._versions()) == before:
                    return
                before = after

    async def _versions(self) -> list[str]:
        found = [await self.place.vm(NAME), await self.place.vmi(NAME), await self.place.pod(NAME)]
        pids = companions.of_home(self.place.home)
        return [*(each["metadata"]["resourceVersion"] for each in found), str(sorted(pids.items()))]

    def forget(self) -> None:
        """The guest is gone, and another one comes."""
        self._identity, self._boot, self.synced = None, "", 0

    # Its end.

    async def end(self) -> None:
        """By itself, in peace, and it was the only one."""
        await self.place.until_gone(NAME, VMI)
        await self.place.until_status(NAME, "Stopped")
        told = [each["reason"] for each in await self.place.events(NAME)]
        assert told.count("SuccessfulHandOver") <= 1, told  # unless who tells was killed before
        assert await self.on_disk() >= self.synced, "what was synced is lost"
        await self.place.delete(NAME)
        await self.place.until_gone(NAME)

    async def on_disk(self) -> int:
        """The number that the host reads."""
        claim = await self.place.client.get(CLAIMS, CLAIM, self.place.namespace)
        volume = await self.place.client.get(VOLUMES, claim["spec"]["volumeName"])
        disk = Path(volume["spec"]["local"]["path"]) / "disk.img"
        with disk.open("rb") as file:
            return int(file.read(NUMBER))


async def lived(place: Place, victims: Sequence[str], moments: Collection[str]) -> list[Death]:
    """One whole life, at each of these moments of which all of them die, one after the other."""
    life = Life(place)
    for moment in MOMENTS:
        if moment in moments or moment in STATIONS:
            await life.reach(moment)
        if moment in moments:
            for victim in victims:
                await life.strike(victim, moment)
        if moment == WORKS:
            await life.check_rest()
    await life.end()
    return life.deaths


def synced(guest: Guest, beyond: int = 0) -> int:
    """What the guest says that it has brought to its disk; waits until that is more."""
    more = (
        f'until [ "$(cat /tmp/synced 2>/dev/null)" -gt {beyond} ] 2>/dev/null; do sleep 0.1; done'
    )
    return int(guest.run(f"{more}; cat /tmp/synced"))


def has_condition(found: Object, name: str) -> bool:
    conditions = found.get("status", {}).get("conditions", [])
    return any(each["type"] == name and each["status"] == "True" for each in conditions)


async def until(is_so: Callable[[], Awaitable[bool]], what: str) -> None:
    try:
        async with asyncio.timeout(LIMIT_S):
            while True:
                if await is_so():
                    return
                await asyncio.sleep(LOOK_S)
    except TimeoutError:
        raise AssertionError(f"within {LIMIT_S:g} s it is not so that {what}") from None
