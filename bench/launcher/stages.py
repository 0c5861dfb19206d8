"""What a start consists of, told by what it leaves behind: lines of `--timings`, processes, files, a log.

The stages follow each other; two run beside them, and cost time only as far as they end later:

    Python ─ disks ─ sandbox ─┬─ manager ──┬─ disks ─ libvirtd ─ QEMU
                              ├─ network ──┤
                              └─ libvirtd ─┘
"""

import json
import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from statistics import median

from bench.launcher.processes import LIBVIRTD, MANAGER, QEMU, SANDBOX, Process

_ROW = re.compile(r"^virt-launcher: (\w+)\s+█.* (\d+) ms$")
_BEFORE_NETWORK = ("Python", "manifest", "disks", "folders", "sandbox")


@dataclass(frozen=True)
class Stage:
    name: str
    began_s: float
    """Since the user pressed return."""
    ended_s: float
    is_beside: bool = False

    @property
    def seconds(self) -> float:
        return self.ended_s - self.began_s


@dataclass(frozen=True)
class Traces:
    """Of one start, right after its guest runs. Times are the wall clock's."""

    began: float
    ran: float
    said: str
    processes: dict[str, Process]
    run: Path


def stages(traces: Traces) -> list[Stage]:
    def since(at: float) -> float:
        return at - traces.began

    def started(role: str) -> float:
        return since(traces.processes[role].started_at)

    rows = {name: int(ms) / 1000 for name, ms in map(_row, traces.said.splitlines()) if name}
    network_began = sum(rows.get(name, 0.0) for name in _BEFORE_NETWORK)
    network_ended = network_began + rows.get("network", 0.0)
    judged = since(_changed(traces.run / "lock"))
    daemon = since(_changed(traces.run / "libvirt/run/libvirt" / _socket(traces.run)))
    asked, prepared = map(since, _began(traces.run / "launcher.log"))
    return [
        Stage("Python: virt-launcher", 0.0, judged),
        Stage("disks: image, folders", judged, started(SANDBOX)),
        Stage("sandbox, monitor", started(SANDBOX), started(MANAGER)),
        Stage("Python: manager", started(MANAGER), asked),
        Stage("network", network_began, network_ended, is_beside=True),
        Stage("libvirtd gets ready", started(LIBVIRTD), daemon, is_beside=True),
        Stage("disks: overlay, ISO", asked, prepared),
        Stage("libvirtd: domain", prepared, started(QEMU)),
        Stage("QEMU", started(QEMU), since(traces.ran)),
    ]


def _began(log: Path) -> tuple[float, float]:
    """When the manager began with the disks, and with the domain."""
    lines = (line for line in log.read_text().splitlines() if "the guest was started" in line)
    said = json.loads(next(lines))
    ended = datetime.fromisoformat(said["timestamp"]).timestamp()
    prepared = ended - said["starting_s"]
    return prepared - said["preparing_s"], prepared


def typical(starts: list[list[Stage]]) -> list[Stage]:
    """Medians, stage by stage: of when each began and of how long it took."""
    return [
        Stage(same[0].name, begin, begin + median(each.seconds for each in same), same[0].is_beside)
        for same in zip(*starts, strict=True)
        for begin in [median(each.began_s for each in same)]
    ]


def _row(line: str) -> tuple[str, str]:
    found = _ROW.match(line)
    return (found[1], found[2]) if found else ("", "0")


def _changed(path: Path) -> float:
    """When it got its name or its contents."""
    return path.stat().st_ctime


def _socket(run: Path) -> str:
    names = ("virtqemud-sock", "libvirt-sock")
    return next(name for name in names if (run / "libvirt/run/libvirt" / name).exists())
