"""A result for people: tables in plain text."""

from statistics import median

from bench.launcher.figures import (
    MB,
    Result,
    Target,
    targets,
    total_bytes,
    weight_by_role,
)
from bench.launcher.measuring import Crowd
from bench.launcher.processes import OF_A_GUEST, QEMU
from bench.launcher.stages import Stage, typical
from bench.table import Row, block

_BAR = 44


def render(result: Result) -> str:
    few, many = result.crowds[0], result.crowds[-1]
    return "\n".join(
        [
            *_start(result),
            "",
            *block(
                (f"memory of one guest, with {few.guests} running", "PSS MB", "is"),
                (
                    (role, f"{weight / MB:.1f}", _meaning(role))
                    for role, weight in weight_by_role(few).items()
                ),
            ),
            "",
            *block(
                (f"{many.guests} launchers", "found"),
                _crowd(many),
            ),
            "",
            *block(
                ("virt-launcher", "found", "at most", "worst", "target"),
                (_target(each) for each in targets(result)),
            ),
        ]
    )


def _start(result: Result) -> list[str]:
    """Stages as bars, one below the other: what runs side by side stands so."""
    stages = typical(result.starts.stages)
    end = max(stage.ended_s for stage in stages)
    title = f"one start, medians of {len(result.starts.seconds)}"
    width = max(len(title), *(len(_name(stage)) for stage in stages)) + 2
    lines = [f"{_name(s):<{width}}{_bar(s, end)}{1000 * s.seconds:>6.0f} ms" for s in stages]
    total = f"{1000 * median(result.starts.seconds):>6.0f} ms"
    return [title, "-" * len(lines[0]), *lines, f"{'until QEMU runs':<{width}}{'':<{_BAR}}{total}"]


def _name(stage: Stage) -> str:
    return f"  beside: {stage.name}" if stage.is_beside else stage.name


def _bar(stage: Stage, end: float) -> str:
    begin = round(stage.began_s / end * _BAR)
    mark = "░" if stage.is_beside else "█"
    length = max(round(stage.seconds / end * _BAR), 1 if stage.seconds > 0 else 0)
    return (" " * begin + mark * length)[:_BAR].ljust(_BAR)


def _meaning(role: str) -> str:
    if role in OF_A_GUEST:
        return "counted"
    return "the guest" if role == QEMU else "only without a cluster"


def _crowd(crowd: Crowd) -> list[Row]:
    return [
        ("that run", f"{crowd.guests}"),
        ("s until the last one runs", f"{crowd.seconds_to_run:.1f}"),
        ("s until the last one has booted", f"{crowd.seconds_to_boot:.1f}"),
        ("MB of all QEMUs", f"{total_bytes(crowd, of_qemu=True) / MB:.0f}"),
        ("MB of everything else", f"{total_bytes(crowd, of_qemu=False) / MB:.0f}"),
    ]


def _target(target: Target) -> Row:
    worst = "" if target.worst is None else f"{target.worst:.2f}"
    return (
        target.what,
        f"{target.found:.2f} {target.unit}",
        f"{target.most:g} {target.unit}",
        worst,
        "reached" if target.is_reached else "MISSED",
    )
