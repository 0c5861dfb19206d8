"""What a run found, and whether the targets are reached."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from bench.launcher.stages import typical
from bench.lines import Line
from bench.table import block
from bench.vms.crowd import Crowd
from bench.vms.measuring import Costs, Starts

MB = 1e6
_BAR = 40


@dataclass(kw_only=True)
class Found:
    starts: Starts
    at_once: float
    at_once_number: int
    offs: list[float]
    costs: Costs
    crowd: Crowd
    idle_s: float


def lines(found: Found) -> list[Line]:
    start, off = median(found.starts.seconds), median(found.offs)
    return [
        _at_most(
            f"instance created to Running, p50 of {len(found.starts.seconds)}, s",
            start,
            1.3,
            more=", aim 0.8",
        ),
        _at_most(f"{found.at_once_number} at once, last Running, s", found.at_once, 15.0),
        _at_most(f"guest off to machine Stopped, p50 of {len(found.offs)}, s", off, 0.5),
        _at_most(
            f"memory beside QEMU, {found.crowd.weighed} running, MB",
            found.crowd.beside_qemu / MB,
            50.0,
        ),
        _at_most("writes of an instance's life", sum(found.costs.instance.values()), 9),
        _at_most("writes of a machine's life", sum(found.costs.machine.values()), 15),
        Line(
            what=f"writes in {found.idle_s:.0f} s of rest, leases and nodes apart",
            ours=_listed(found.costs.idle) or "none",
            target="none",
            is_reached=not found.costs.idle,
        ),
        Line(
            what="booted guests of 48 MiB held at once, all answering",
            ours=f"{found.crowd.guests}",
            target="aim 50",
            is_reached=found.crowd.guests >= 50,
        ),
    ]


def _at_most(what: str, found: float, most: float, more: str = "") -> Line:
    shown = f"{found}" if isinstance(found, int) else f"{found:.2f}"
    return Line(what=what, ours=shown, target=f"at most {most:g}{more}", is_reached=found <= most)


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{number} {what}" for what, number in counts.items())


def stacked(starts: Starts) -> list[str]:
    """Stages below each other, each where it lies in time."""
    found = typical(starts.stages)
    end = max(stage.ended_s for stage in found)
    title = f"from create to Running, medians of {len(starts.seconds)}"
    width = max(len(title), *(len(stage.name) for stage in found)) + 2
    rows = [
        f"{stage.name:<{width}}{_bar(stage.began_s / end, stage.seconds / end)}{1000 * stage.seconds:>6.0f} ms"
        for stage in found
    ]
    return [title, "-" * len(rows[0]), *rows]


def _bar(begin: float, length: float) -> str:
    return (" " * round(begin * _BAR) + "█" * max(round(length * _BAR), 1))[:_BAR].ljust(_BAR)


def processors(starts: Starts) -> list[str]:
    roles = {role for each in starts.cpu_s for role in each}
    middle = {role: median(each.get(role, 0.0) for each in starts.cpu_s) for role in roles}
    rows = sorted(middle.items(), key=lambda item: -item[1])
    total = sum(middle.values())
    return block(
        ("processor time until Running, medians", "ms"),
        [*((role, f"{1000 * spent:.0f}") for role, spent in rows), ("all", f"{1000 * total:.0f}")],
    )


def writers(costs: Costs) -> list[str]:
    names = dict.fromkeys([*costs.instance, *costs.machine])
    rows = [
        (name, f"{costs.instance.get(name, 0)}", f"{costs.machine.get(name, 0)}") for name in names
    ]
    return block(("writes of a life", "instance", "machine"), rows)


def memory(crowd: Crowd) -> Sequence[str]:
    rows = sorted(crowd.memory.items(), key=lambda item: -item[1])
    return block(
        (f"memory of one guest, with {crowd.weighed} running", "PSS MB"),
        ((role, f"{weight / MB:.1f}") for role, weight in rows),
    )


def as_json(found: Found) -> Any:
    return {
        **asdict(found),
        "typical_start": [asdict(each) for each in typical(found.starts.stages)],
    }
