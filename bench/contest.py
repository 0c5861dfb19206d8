"""Who competes, and how one run of a contender is measured.

The driver looks at each from outside; what it cannot see (when a cache was complete, how much processor
time that took) the contender says itself, see `protocol.py`.
"""

import sys
from dataclasses import dataclass, field
from pathlib import Path

from bench.process import Memory, started
from bench.server import History, Server
from clusterup import errors


@dataclass(frozen=True, kw_only=True)
class Contender:
    name: str
    argv: tuple[str, ...]
    is_drain: bool = False
    """Reads and decodes nothing: what it measures is the server."""


@dataclass(frozen=True, kw_only=True)
class ListRun:
    """From the start of a cold list to a complete cache."""

    seconds: float
    cpu_seconds: float
    objects: int
    before: Memory
    after: Memory
    counts: dict[str, int] = field(default_factory=dict)
    """What the contender counted on the way, such as lists and failures, if it does."""

    @property
    def bytes_per_object(self) -> float:
        return (self.after.anonymous - self.before.anonymous) / max(self.objects, 1)


@dataclass(frozen=True, kw_only=True)
class WatchRun:
    """From a complete cache of the past to the present."""

    seconds: float
    cpu_seconds: float
    events: int

    @property
    def events_per_second(self) -> float:
        return self.events / self.seconds


@dataclass(frozen=True, kw_only=True)
class QueueCase:
    workers: int
    keys: int

    @property
    def name(self) -> str:
        keys = "one key" if self.keys == 1 else f"{self.keys} keys"
        workers = "1 worker" if self.workers == 1 else f"{self.workers} workers"
        return f"{keys}, {workers}"


OURS = Contender(
    name="kubevirt-py, declared fields",
    argv=(sys.executable, "-m", "bench.contenders.ours", "--keep=subset"),
)
OURS_FULL = Contender(
    name="kubevirt-py, every field",
    argv=(sys.executable, "-m", "bench.contenders.ours", "--keep=full"),
)
OURS_METADATA = Contender(
    name="kubevirt-py, metadata only",
    argv=(sys.executable, "-m", "bench.contenders.ours", "--keep=metadata"),
)
KUBERNETES = Contender(
    name="kubernetes (Python), every field",
    argv=(sys.executable, "-m", "bench.contenders.kubernetes_package"),
)
QUEUE_CASES = tuple(
    QueueCase(workers=workers, keys=keys) for keys in (1, 10_000) for workers in (1, 8)
)


def client_go(program: Path, keep: str, name: str) -> Contender:
    return Contender(name=name, argv=(str(program), f"--keep={keep}"), is_drain=keep == "nothing")


async def cold_list(contender: Contender, server: Server) -> ListRun:
    argv = [*contender.argv, f"--kubeconfig={server.kubeconfig}"]
    async with started(contender.name, argv, server.folder) as process:
        await process.expect("ready")
        before = process.memory()
        process.proceed()
        synced = await process.expect("synced")
        await process.expect("settled")
        after = process.memory()
    if not contender.is_drain:
        _require(contender, "objects", synced["objects"], server.objects)
    return ListRun(
        seconds=synced["seconds"],
        cpu_seconds=synced["cpu_seconds"],
        objects=server.objects,
        before=before,
        after=after,
        counts=synced.get("counts", {}),
    )


async def catch_up(contender: Contender, server: Server, history: History) -> WatchRun:
    time = [f"--list-at={history.past}", f"--until={history.present}"]
    argv = [*contender.argv, f"--kubeconfig={server.kubeconfig}", *time]
    async with started(contender.name, argv, server.folder) as process:
        await process.expect("ready")
        process.proceed()
        await process.expect("synced")
        followed = await process.expect("followed")
    _require(contender, "events", followed["events"], history.events)
    return WatchRun(
        seconds=followed["seconds"],
        cpu_seconds=followed["cpu_seconds"],
        events=followed["events"],
    )


async def our_queue(case: QueueCase, handled: int, folder: Path) -> float:
    """Keys per second."""
    argv = [sys.executable, "-m", "bench.contenders.queue", f"--handle={handled}"]
    return await _queue("our queue", argv, case, handled, folder)


async def go_queue(program: Path, case: QueueCase, handled: int, folder: Path) -> float:
    argv = [str(program), f"--queue={handled}"]
    return await _queue("Go's queue", argv, case, handled, folder)


async def _queue(name: str, argv: list[str], case: QueueCase, handled: int, folder: Path) -> float:
    words = [*argv, f"--workers={case.workers}", f"--keys={case.keys}"]
    async with started(name, words, folder) as process:
        return handled / float((await process.expect("done"))["seconds"])


def _require(contender: Contender, what: str, found: int, expected: int) -> None:
    """A contender that saw less than the others is not faster but wrong."""
    if found != expected:
        raise errors.Broken(f"{contender.name} saw {found} {what} of {expected}")
