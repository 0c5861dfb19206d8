"""The processes of one run: which there are, what each is for, and how much memory it holds.

Memory is PSS, the proportional set size: a page that ten processes share counts a tenth for each. So the sum
over all processes is what the machine really spends.
"""

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

OUTSIDE, SANDBOX, MONITOR = "virt-launcher --standalone", "bwrap", "monitor"
MANAGER, LIBVIRTD, DNSMASQ, QEMU = "manager", "libvirtd", "dnsmasq", "QEMU"

OF_A_GUEST = (MONITOR, MANAGER, LIBVIRTD, DNSMASQ)
"""What every guest has beside its QEMU, in a pod too."""

KEEPER = "kubevirt.components.launcher.standalone.keeper"
"""What `virt-launcher --standalone` becomes when its guest runs."""

_TICK_S = 1 / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Process:
    pid: int
    role: str
    pss_bytes: int = 0

    @property
    def started_at(self) -> float:
        """By the wall clock, to a hundredth of a second."""
        ticks = int(_stat(self.pid)[19])
        return time.time() - time.clock_gettime(time.CLOCK_BOOTTIME) + ticks * _TICK_S


def processes_of(outside: int) -> dict[str, Process]:
    """The process and its offspring, by role; a helper that happens to run goes by its own name."""
    return by_role(_family(outside))


def by_role(pids: Iterable[int]) -> dict[str, Process]:
    return {each.role: each for each in map(_seen, pids) if each}


def weighed(outside: int) -> list[Process]:
    """The same with their memory. One that ends meanwhile weighs nothing."""
    found = processes_of(outside).values()
    return [Process(each.pid, each.role, pss_bytes(each.pid)) for each in found]


def pss_bytes(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:")), 0)


def _family(pid: int) -> Iterator[int]:
    yield pid
    for child in _children(pid):
        yield from _family(child)


def _children(pid: int) -> Iterator[int]:
    """Of all its threads. It or any of them may end while one looks, and then has none."""
    with suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with suppress(OSError):
                yield from map(int, (thread / "children").read_text().split())


def _seen(pid: int) -> Process | None:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
        name = Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return None
    return Process(pid, _role(name, words))


def _role(name: str, words: list[str]) -> str:
    """By its command line. The sandbox and the monitor name all their children there."""
    if name == SANDBOX:
        return SANDBOX
    if any(word.endswith("/monitor.py") for word in words):
        return MONITOR
    if "kubevirt.components.launcher.manager" in words:
        return MANAGER
    if KEEPER in words or any(word.endswith("/virt-launcher") for word in words):
        return OUTSIDE
    if name.startswith("qemu-system"):
        return QEMU
    return LIBVIRTD if name == "virtqemud" else name


def _stat(pid: int) -> list[str]:
    """Fields of /proc/PID/stat behind the name; so the start time is number 19."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
