"""What a run found, and whether the targets are reached.

Of several rounds the fastest counts for times, because whatever else the machine does can only add
to them, and the median for memory. Seconds depend on the machine, ratios of contenders in one run
hardly do: so targets are ratios.
"""

from collections.abc import Callable, Sequence
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

    @property
    def is_reached(self) -> bool:
        return self.found <= self.most


def targets(result: Result) -> list[Target]:
    def ratio(of: Callable[[Contender], float], to: Contender) -> float:
        return of(OURS) / of(to)

    memory, seconds, go = result.bytes_per_object, result.list_seconds, result.client_go
    return [
        Target("memory per cached VMI, of client-go's full object", 0.5, ratio(memory, go)),
        Target("memory per cached VMI, of kubernetes'", 0.2, ratio(memory, KUBERNETES)),
        Target("list to synced, of kubernetes' time", 0.3, ratio(seconds, KUBERNETES)),
        Target("list to synced, of client-go's time", 2.0, ratio(seconds, go)),
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
