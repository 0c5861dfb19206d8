"""What a run found, and whether the targets are reached."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import mean, median
from typing import Any

from bench.launcher.measuring import Crowd, Endings, Returns, Starts
from bench.launcher.processes import OF_A_GUEST, QEMU
from bench.launcher.stages import typical

MB = 1e6


@dataclass(kw_only=True)
class Result:
    starts: Starts
    returns: Returns
    endings: Endings
    conversions: Sequence[float]
    crowds: Sequence[Crowd]
    """The first is for the memory of one, the last for how many there can be."""


@dataclass(frozen=True)
class Target:
    what: str
    found: float
    most: float
    unit: str
    worst: float | None = None
    """The largest of all, where the target is about the middle one."""

    @property
    def is_reached(self) -> bool:
        return self.found <= self.most


def targets(result: Result) -> list[Target]:
    def middle(what: str, values: Sequence[float], most: float) -> Target:
        return Target(what, median(values), most, "s", max(values))

    converted = [1000 * each for each in result.conversions]
    few = result.crowds[0]
    beside = sum(weight for role, weight in weight_by_role(few).items() if role in OF_A_GUEST)
    return [
        middle("start, until QEMU runs", result.starts.seconds, 0.6),
        Target(f"memory beside QEMU, of {few.guests} guests each", beside / MB, 45.0, "MB"),
        middle("manager killed, until it knows its guest", result.returns.manager, 1.0),
        middle("libvirtd killed, until it is asked again", result.returns.libvirtd, 0.5),
        Target("conversion, VMI to XML", median(converted), 1.0, "ms", max(converted)),
        middle("QEMU off, until the launcher is gone", result.endings.launcher, 0.3),
    ]


def weight_by_role(crowd: Crowd) -> dict[str, float]:
    """Bytes that a guest has of each process, on average; the heaviest first."""
    roles = {each.role for weights in crowd.weights for each in weights}
    found = {
        role: sum(
            each.pss_bytes for weights in crowd.weights for each in weights if each.role == role
        )
        / crowd.guests
        for role in roles
    }
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def total_bytes(crowd: Crowd, *, of_qemu: bool) -> int:
    return sum(
        each.pss_bytes
        for weights in crowd.weights
        for each in weights
        if (each.role == QEMU) == of_qemu
    )


def as_json(result: Result, machine: dict[str, Any]) -> dict[str, Any]:
    """Everything, each start and each guest by itself."""
    return {
        "machine": machine,
        "targets": [{**asdict(each), "reached": each.is_reached} for each in targets(result)],
        "starts": asdict(result.starts),
        "typical_start": [asdict(each) for each in typical(result.starts.stages)],
        "returns": asdict(result.returns),
        "endings": asdict(result.endings),
        "conversion_mean": mean(result.conversions),
        "crowds": [asdict(each) for each in result.crowds],
    }
