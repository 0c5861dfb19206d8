"""What a run found, and whether the targets are reached."""

from dataclasses import asdict, dataclass
from typing import Any

from bench.lines import Line

KB = 1000


@dataclass(kw_only=True)
class Found:
    server: str
    machines: int
    to_running_s: float
    """From the first create until the last machine is ready."""
    to_gone_s: float
    cpu_s: float
    """Of virt-controller, for all lives."""
    memory_bytes: int
    """What all machines, running, have added to its memory."""
    writes: int
    looks: int
    bugs: int

    @property
    def rate(self) -> float:
        return self.machines / self.to_running_s


def lines(found: Found) -> list[Line]:
    number = found.machines
    each_bytes = found.memory_bytes / number
    cpu_ms = 1000 * found.cpu_s / number
    return [
        Line(
            what=f"{number} machines to Running, machines/s",
            ours=f"{found.rate:.1f}",
            target="at least 15, aim 22",
            is_reached=found.rate >= 15,
        ),
        Line(
            what="CPU of a machine's life, ms",
            ours=f"{cpu_ms:.1f}",
            target="at most 45",
            is_reached=cpu_ms <= 45,
        ),
        Line(
            what="memory of a running machine, kB",
            ours=f"{each_bytes / KB:.1f}",
            target="at most 40",
            is_reached=each_bytes <= 40 * KB,
        ),
        Line(
            what="writes of a life",
            ours=f"{found.writes / number:.1f}",
            target="at most 12, where it goes quickly",
            is_reached=found.writes <= 12 * number,
        ),
        Line(
            what="looks of a life",
            ours=f"{found.looks / number:.1f}",
            target="at most 20",
            is_reached=found.looks <= 20 * number,
        ),
    ]


def as_json(found: Found) -> dict[str, Any]:
    return asdict(found)
