"""What a run found, and whether the targets are reached. A ratio is ours to Kubernetes'."""

from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any

import msgspec

from bench.home.clusters import LIMITS_S
from bench.home.measuring import Idle
from bench.lines import Line

MB = 1_000_000


@dataclass(kw_only=True)
class Found:
    clusters: dict[str, list[float]] = field(default_factory=dict)
    """Starts of test clusters, by kind."""
    ups: list[float] = field(default_factory=list)
    whole_ups: list[float] = field(default_factory=list)
    """With KubeVirt's programs."""
    whole_rss: int = 0
    rss: dict[str, dict[str, int]] = field(default_factory=dict)
    """By home and program."""
    readiness: dict[str, list[float]] = field(default_factory=dict)
    crowds: dict[str, float] = field(default_factory=dict)
    sandbox_bytes: float = 0.0
    idle: Idle | None = None

    def total(self, who: str) -> int:
        return sum(self.rss[who].values())


def lines(found: Found, ours: str, theirs: str, crowd: int, stay: int) -> list[Line]:
    up = median(found.ups)
    rss = found.total(ours) / found.total(theirs)
    ready, their_ready = median(found.readiness[ours]), median(found.readiness[theirs])
    told = [
        Line(
            what="virtctl up to node Ready, home exists, s",
            ours=f"{up:.2f}",
            target="at most 1.2 s",
            is_reached=up <= 1.2,
        ),
        Line(
            what="RSS, idle, MB",
            ours=f"{found.total(ours) / MB:.0f}",
            theirs=f"{found.total(theirs) / MB:.0f}",
            ratio=rss,
            target="at most 110 MB and 0.25x",
            is_reached=found.total(ours) <= 110 * MB and rss <= 0.25,
        ),
        Line(
            what=f"pod create to Ready, p50 of {len(found.readiness[ours])}, s",
            ours=f"{ready:.3f}",
            theirs=f"{their_ready:.3f}",
            ratio=ready / their_ready,
            target="at most 0.25 s and 0.2x",
            is_reached=ready <= 0.25 and ready / their_ready <= 0.2,
        ),
        Line(
            what=f"{crowd} pods at once, all Running, s",
            ours=f"{found.crowds[ours]:.1f}",
            theirs=f"{found.crowds[theirs]:.1f}",
            ratio=found.crowds[ours] / found.crowds[theirs],
            target="at most 10 s",
            is_reached=found.crowds[ours] <= 10,
        ),
        Line(
            what=f"PSS of a sandbox, {stay} running, MB",
            ours=f"{found.sandbox_bytes / MB:.2f}",
            target="at most 2 MB",
            is_reached=found.sandbox_bytes <= 2 * MB,
        ),
    ]
    return [
        *told,
        *(_idle(found.idle, stay) if found.idle else ()),
        *_whole(found),
        *_clusters(found),
    ]


def _idle(idle: Idle, stay: int) -> list[Line]:
    share = idle.cpu_seconds / idle.seconds
    needless = ", ".join(f"{n} {what}" for what, n in idle.needless.items())
    return [
        Line(
            what=f"idle with {stay} pods for {idle.seconds:.0f} s, % of a core",
            ours=f"{100 * share:.2f}",
            target="at most 1 %",
            is_reached=share <= 0.01,
        ),
        Line(
            what="writes meanwhile, leases and nodes apart",
            ours=needless or "none",
            target="none",
            is_reached=not needless,
        ),
    ]


def _whole(found: Found) -> list[Line]:
    """What KubeVirt adds; Kubernetes has none."""
    return [
        Line(
            what="with KubeVirt: virtctl up to virt-api, s", ours=f"{median(found.whole_ups):.2f}"
        ),
        Line(what="with KubeVirt: RSS, idle, MB", ours=f"{found.whole_rss / MB:.0f}"),
    ]


def _clusters(found: Found) -> list[Line]:
    """Of the Kubernetes to test on; whoever works with it waits for them."""
    return [
        Line(
            what=f"cluster-up, built, {what}, s",
            ours="",
            theirs=f"{median(found.clusters[what]):.1f}",
            target=f"at most {limit_s:.0f} s",
            is_reached=median(found.clusters[what]) <= limit_s,
        )
        for what, limit_s in LIMITS_S.items()
    ]


def as_json(found: Found) -> Any:
    return msgspec.to_builtins(asdict(found), str_keys=True)
