"""The life of one guest, during which one of its companions dies again and again.

    born ── firmware ── kernel ── login prompt ── works ── shuts down ── over
         †    †    †    †    †                  †   †   †   †            †

After each death the companion must be back and of use. The guest must not notice: same QEMU, same boot, and
what it has synced to its disk is there, as the host reads it when all is over.
"""

import asyncio
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from bench.launcher.processes import DNSMASQ, LIBVIRTD, MANAGER, QEMU, processes_of
from tests.e2e.nouns.guests import Guest, Spec, disk, started
from tests.e2e.standalone.driver import Machine

from kubevirt.base.errors import KubevirtError
from kubevirt.base.files import Root
from kubevirt.rpc.calling import Caller
from kubevirt.rpc.cmd import Launcher

COMPANIONS = (MANAGER, LIBVIRTD, DNSMASQ)
BOOT_S = 6.0
"""About how long a guest takes to its login prompt; deaths during the boot are spread over it."""
BACK_LIMIT_S = 60.0
NUMBER = 16
"""Digits that the guest writes, again and again, each time one more."""

SPEC = Spec(
    disks=[disk("data", {"persistentVolumeClaim": {"claimName": "data"}}, serial="DATA")],
    interface={"masquerade": {}},
    instance={"terminationGracePeriodSeconds": 30},
)
WRITER = (
    "{{ ( n=0; while :; do n=$((n+1)); printf %0{digits}d $n | sudo dd of=/dev/{device} "
    "conv=notrunc,fsync 2>/dev/null && echo $n > /tmp/synced.new && "
    "mv /tmp/synced.new /tmp/synced; done ) >/dev/null 2>&1 & }}"
)


@dataclass(frozen=True)
class Death:
    """One that was tried."""

    moment: str
    age_s: float
    """Of the guest."""
    away_s: float
    """Until the companion was of use again."""
    killed: bool
    """Whether there was a companion to kill: of a guest that shuts down it may have gone before."""


@dataclass
class Life:
    """What became of a guest; whoever reads it may trust that the guest never noticed."""

    companion: str
    deaths: list[Death] = field(default_factory=list)
    synced: int = 0
    """The last number that the guest had synced when it was told to shut down."""
    ending: str = ""


def lived(machine: Machine, companion: str, times: int) -> Life:
    """One whole life with that many deaths in it, two fifths of them before the guest has booted."""
    life = Life(companion)
    while_booting = max(1, 2 * times // 5)
    with _a_disk(machine) as data, started(machine, SPEC, {"data": data}) as guest:
        guest.session.until_said("guest testvm runs at ")
        fate = _Fate(guest, companion, life)
        for _ in range(while_booting):
            fate.strike("booting")
            fate.let_live(BOOT_S / while_booting)
        guest.log_in()
        boot = guest.read("/proc/sys/kernel/random/boot_id")
        fate.check_use()
        guest.run(WRITER.format(digits=NUMBER, device=guest.disk("DATA")))
        for _ in range(times - while_booting - 1):
            before = _synced(guest)
            fate.strike("working")
            fate.check_use()
            _synced(guest, beyond=before)
            assert guest.read("/proc/sys/kernel/random/boot_id") == boot
        life.synced = _synced(guest)
        guest.session.type("sudo poweroff\n")
        guest.session.until("poweroff")
        fate.strike("shutting down", comes_back=False)
        assert guest.session.ended() == 0, guest.session.said
        life.ending = guest.session.said.splitlines()[-1].removeprefix("virt-launcher: ")
        assert life.synced <= int(data.read_bytes()[:NUMBER]), "what was synced is lost"
    return life


class _Fate:
    """Strikes one companion of one guest."""

    def __init__(self, guest: Guest, companion: str, life: Life) -> None:
        self._guest = guest
        self._companion = companion
        self._life = life
        self._outside = guest.session.process.pid
        self._born = time.monotonic()
        self._qemu = self._pid(QEMU)

    def strike(self, moment: str, *, comes_back: bool = True) -> None:
        """A guest that shuts down may be over before its companion is back, or was there at all."""
        if comes_back:
            _until(lambda: self._pid(self._companion), self._companion)
        killed = self._pid(self._companion)
        began = time.monotonic()
        if killed is not None:
            os.kill(killed, signal.SIGKILL)
        if comes_back:
            _until(lambda: self._pid(self._companion) not in (None, killed), self._companion)
            if self._companion != DNSMASQ:
                asyncio.run(self._is_asked())
            assert self._pid(QEMU) == self._qemu, "QEMU is another one"
        away_s = time.monotonic() - began
        self._life.deaths.append(Death(moment, began - self._born, away_s, killed is not None))

    def check_use(self) -> None:
        """What only a DHCP server can do, and only for a guest that can ask."""
        if self._companion == DNSMASQ:
            self._guest.run("sudo udhcpc -n -q -f -i eth0 >/dev/null")

    def let_live(self, seconds: float) -> None:
        time.sleep(seconds)

    def _pid(self, role: str) -> int | None:
        found = processes_of(self._outside).get(role)
        return found.pid if found else None

    async def _is_asked(self) -> None:
        """Through the manager, what only libvirt can answer."""
        with Root.open(self._guest.folder / "share/sockets") as sockets:
            async with asyncio.timeout(BACK_LIMIT_S):
                while True:
                    with suppress(KubevirtError, FileNotFoundError):
                        with sockets.connectable("launcher-sock") as address:
                            async with Caller(address, "the launcher") as caller:
                                await Launcher(caller).stats()
                        return
                    await asyncio.sleep(0.02)


def _synced(guest: Guest, beyond: int = 0) -> int:
    """What the guest says that it has brought to its disk; waits until that is more."""
    more = (
        f'until [ "$(cat /tmp/synced 2>/dev/null)" -gt {beyond} ] 2>/dev/null; do sleep 0.1; done'
    )
    return int(guest.run(f"{more}; cat /tmp/synced"))


@contextmanager
def _a_disk(machine: Machine) -> Iterator[Path]:
    data = machine.home / "data.img"
    data.write_bytes(bytes(1 << 20))
    try:
        yield data
    finally:
        data.unlink()


def _until(condition: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + BACK_LIMIT_S
    while not condition():
        assert time.monotonic() < deadline, f"{what} is not back after {BACK_LIMIT_S:g} s"
        time.sleep(0.005)
