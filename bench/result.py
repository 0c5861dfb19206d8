"""What a run found, and whether the targets are reached.

Of several rounds the fastest counts for times, because whatever else the machine does can only add
to them, and the median for memory. Seconds depend on the machine, ratios of contenders in one run
hardly do: so targets are ratios.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any

from bench.contest import KUBERNETES, OURS, Contender, ListRun, WatchRun
from bench.server import Server


@dataclass(kw_only=True)
class Result:
    contenders: Sequence[Contender]
    client_go: Contender
    """The one that the targets are measured against: typed, with the full object."""
    server_alone: Contender
    """The one that decodes nothing."""
    lists: dict[str, list[ListRun]] = field(default_factory=dict)
    watches: dict[str, list[WatchRun]] = field(default_factory=dict)
    queues: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    """Case to `ours` and `go`, in keys per second."""

    def list_seconds(self, who: Contender) -> float:
        return min(run.seconds for run in self.lists[who.name])

    def list_cpu_seconds(self, who: Contender) -> float:
        return min(run.cpu_seconds for run in self.lists[who.name])

    def bytes_per_object(self, who: Contender) -> float:
        return median(run.bytes_per_object for run in self.lists[who.name])

    def peak_bytes(self, who: Contender) -> float:
        return median(run.after.peak_rss for run in self.lists[who.name])

    def events_per_second(self, who: Contender) -> float:
        return max(run.events_per_second for run in self.watches[who.name])

    def cpu_seconds_per_event(self, who: Contender) -> float:
        return min(run.cpu_seconds / run.events for run in self.watches[who.name])

    def keys_per_second(self, case: str, who: str) -> float:
        return max(self.queues[case][who])


@dataclass(frozen=True)
class Target:
    what: str
    most: float
    found: float
    floor: float | None = None
    """What a reader gets that decodes nothing: no program can be below it."""

    @property
    def is_reached(self) -> bool:
        return self.found <= self.most

    @property
    def verdict(self) -> str:
        if self.is_reached:
            return "reached"
        if self.floor is not None and self.floor > self.most:
            return "MISSED, and the server alone takes longer"
        return "MISSED"


def targets(result: Result) -> list[Target]:
    def memory(what: str, most: float, peer: Contender) -> Target:
        found = result.bytes_per_object(OURS) / result.bytes_per_object(peer)
        return Target(f"memory per cached VMI, of {what}", most, found)

    def seconds(what: str, most: float, peer: Contender) -> Target:
        theirs = result.list_seconds(peer)
        found = result.list_seconds(OURS) / theirs
        floor = result.list_seconds(result.server_alone) / theirs
        return Target(f"list to synced, of {what}", most, found, floor)

    return [
        memory("client-go's full object", 0.5, result.client_go),
        memory("kubernetes'", 0.2, KUBERNETES),
        seconds("kubernetes' time", 0.3, KUBERNETES),
        seconds("client-go's time", 2.0, result.client_go),
    ]


def as_json(result: Result, server: Server, machine: dict[str, Any]) -> dict[str, Any]:
    """Everything, each round by itself."""
    return {
        "machine": machine,
        "server": {
            "objects": server.objects,
            "object_bytes": server.object_bytes,
        },
        "targets": [{**asdict(each), "reached": each.is_reached} for each in targets(result)],
        "lists": {
            name: [{**asdict(run), "bytes_per_object": run.bytes_per_object} for run in runs]
            for name, runs in result.lists.items()
        },
        "watches": {
            name: [{**asdict(run), "events_per_second": run.events_per_second} for run in runs]
            for name, runs in result.watches.items()
        },
        "queue_keys_per_second": result.queues,
    }
