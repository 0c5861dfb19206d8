"""What a run found, and whether the targets are reached.

Of several rounds the best counts for rates, because whatever else the machine does can only lower
them, and the median for latencies and memory. A ratio is ours to Kubernetes'.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any

import msgspec

from bench.apiserver.contestants import KUBERNETES, OURS
from bench.apiserver.load import Creates, FanOut, Lists, Rate
from bench.apiserver.measuring import Idle
from bench.lines import Line

MB = 1_000_000


@dataclass(kw_only=True)
class Found:
    """Of one server."""

    starts: list[float] = field(default_factory=list)
    memory_bytes: dict[str, int] = field(default_factory=dict)
    idle: Idle | None = None
    creates: dict[int, list[Creates]] = field(default_factory=dict)
    """By the number of clients."""
    gets: list[Rate] = field(default_factory=list)
    lists: list[Lists] = field(default_factory=list)
    fan_outs: list[FanOut] = field(default_factory=list)
    alone: list[Creates] = field(default_factory=list)
    beside: list[Creates] = field(default_factory=list)

    def creates_per_s(self, clients: int) -> float:
        return max(each.creates.per_second for each in self.creates[clients])

    @property
    def gets_per_s(self) -> float:
        return max(each.per_second for each in self.gets)

    @property
    def list_s(self) -> float:
        return min(each.lists.median_s for each in self.lists)

    @property
    def events_per_s(self) -> float:
        return max(each.per_second for each in self.fan_outs)

    @property
    def start_s(self) -> float:
        return median(self.starts)

    @property
    def rss(self) -> int:
        return sum(self.memory_bytes.values())

    @property
    def idle_share(self) -> float:
        """Of a core."""
        return self.idle.cpu_seconds / self.idle.seconds if self.idle else 0.0

    @property
    def alone_p99_s(self) -> float:
        return median(each.creates.p99_s for each in self.alone)

    @property
    def beside_p99_s(self) -> float:
        return median(each.creates.p99_s for each in self.beside)


Result = dict[str, Found]


def lines(result: Result, clients: Sequence[int], objects: int, watchers: int) -> list[Line]:
    ours, theirs = result[OURS], result[KUBERNETES]
    return [
        _start(ours, theirs),
        _memory(ours, theirs),
        *_idle(ours, theirs),
        *(
            _rate(f"creates/s, {n} clients", ours.creates_per_s(n), theirs.creates_per_s(n), 1.0)
            for n in clients
        ),
        _rate("gets/s, 16 clients", ours.gets_per_s, theirs.gets_per_s, 0.5),
        _rate(f"lists/s of {objects} VMIs", 1 / ours.list_s, 1 / theirs.list_s, 0.5),
        _rate(f"events/s to {watchers} watchers", ours.events_per_s, theirs.events_per_s, 0.5),
        _beside(ours, theirs),
    ]


def _start(ours: Found, theirs: Found) -> Line:
    ratio = ours.start_s / theirs.start_s
    return Line(
        what="start to ready, all CRDs installed, s",
        ours=f"{ours.start_s:.2f}",
        theirs=f"{theirs.start_s:.2f}",
        ratio=ratio,
        target="at most 0.6 s and 0.2x",
        is_reached=ours.start_s <= 0.6 and ratio <= 0.2,
    )


def _memory(ours: Found, theirs: Found) -> Line:
    ratio = ours.rss / theirs.rss
    return Line(
        what="RSS, idle, all CRDs installed, MB",
        ours=f"{ours.rss / MB:.0f}",
        theirs=f"{theirs.rss / MB:.0f}",
        ratio=ratio,
        target="at most 80 MB and 0.25x",
        is_reached=ours.rss <= 80 * MB and ratio <= 0.25,
    )


def _idle(ours: Found, theirs: Found) -> list[Line]:
    if ours.idle is None or theirs.idle is None:
        return []
    return [
        Line(
            what=f"idle for {ours.idle.seconds:.0f} s, % of a core",
            ours=f"{100 * ours.idle_share:.2f}",
            theirs=f"{100 * theirs.idle_share:.2f}",
            ratio=ours.idle_share / theirs.idle_share if theirs.idle_share else None,
            target="at most 0.5 %",
            is_reached=ours.idle_share <= 0.005,
        ),
        Line(
            what="idle, bytes written",
            ours=f"{ours.idle.written_bytes}",
            theirs=f"{theirs.idle.written_bytes}",
            ratio=None,
            target="none",
            is_reached=ours.idle.written_bytes == 0 and ours.idle.revisions == 0,
        ),
    ]


def _rate(what: str, ours: float, theirs: float, least: float) -> Line:
    ratio = ours / theirs
    digits = 0 if ours > 10 and theirs > 10 else 2
    return Line(
        what=what,
        ours=f"{ours:.{digits}f}",
        theirs=f"{theirs:.{digits}f}",
        ratio=ratio,
        target=f"at least {least:g}x",
        is_reached=ratio >= least,
    )


def _beside(ours: Found, theirs: Found) -> Line:
    """The ratio is to our own p99 without anybody who lists."""
    return Line(
        what="p99 of a create beside lists, ms (alone)",
        ours=f"{1000 * ours.beside_p99_s:.0f} ({1000 * ours.alone_p99_s:.0f})",
        theirs=f"{1000 * theirs.beside_p99_s:.0f} ({1000 * theirs.alone_p99_s:.0f})",
        ratio=ours.beside_p99_s / ours.alone_p99_s,
        target="at most 3x its own alone",
        is_reached=ours.beside_p99_s <= 3 * ours.alone_p99_s,
    )


def as_json(result: Result) -> dict[str, Any]:
    return {name: msgspec.to_builtins(asdict(each), str_keys=True) for name, each in result.items()}
