"""Durability: a write is on disk before anyone is told, and survives a power cut at any moment.

A kill proves nothing of the kind, since the kernel keeps what a killed process has written. So the
store runs on a disk that notes every write and sync, and the tests put together what is left of it.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tests.component.apiserver.acks import Ack, lost_writes, read_acks
from tests.component.apiserver.conftest import Loads, soak
from tests.component.apiserver.power import Disk, Operation, read_trace

CUTS = soak("SOAK_POWER_CUTS", 12)
WAL = "store.db-wal"
FILES = ("store.db", WAL, "store.db-journal")
"""The last while a store is made: it becomes one with a WAL only then, and SQLite needs what it wrote before."""


async def trace_of(loads: Loads, *options: str) -> list[Operation]:
    async with loads.running(*options) as process:
        assert await process.wait() == 0, loads.output()
    return read_trace(loads.trace)


async def losses(
    trace: Sequence[Operation], folder: Path, seed: int, moments: Sequence[int] = ()
) -> list[Ack]:
    """What is lost by power cuts, at random moments unless they are given.

    Whoever opens what is left must find it sound.
    """
    chance = random.Random(seed)
    moments = moments or chance.sample(range(len(trace)), CUTS)
    lost: list[Ack] = []
    for number, (acks, files) in enumerate(_cuts(trace, moments, chance)):
        home = folder / str(number)
        home.mkdir()
        for name, content in files.items():
            (home / name).write_bytes(content)
        lost += await lost_writes(home / "store.db", acks)
    return lost


def _cuts(
    trace: Sequence[Operation], moments: Sequence[int], chance: random.Random
) -> Iterator[tuple[list[Ack], dict[str, bytes]]]:
    disk = Disk()
    said = b""
    for number, operation in enumerate(trace):
        if number in moments:
            files = disk.after_a_cut(chance)
            kept = {name: data for name, data in files.items() if name in FILES}
            yield read_acks(said), kept
        if operation.name == "acks":
            said += operation.data
        else:
            disk.take(operation)


async def test_the_wal_is_synced_before_each_acknowledgement(watched_loads: Loads) -> None:
    trace = await trace_of(watched_loads, "--clients", "1", "--writes", "60")
    disk, acks, syncs = Disk(), 0, 0
    for operation in trace:
        if (operation.kind, operation.name) == ("w", "acks"):
            acks += 1
            assert disk.files[WAL].unsafe == []
            assert syncs >= acks
        else:
            disk.take(operation)
            syncs += operation.kind == "e" and operation.name == WAL
    assert acks == 60


async def test_with_many_clients_a_sync_is_shared(watched_loads: Loads) -> None:
    trace = await trace_of(watched_loads, "--clients", "32", "--writes", "640")
    syncs = sum(operation.kind == "e" and operation.name == WAL for operation in trace)
    assert syncs < 320


async def test_a_new_folder_is_made_to_last_before_the_first_acknowledgement(
    watched_loads: Loads,
) -> None:
    loads = replace(watched_loads, place="new/store.db")
    trace = await trace_of(loads, "--clients", "1", "--writes", "1")
    events = [(operation.kind, operation.name) for operation in trace]
    assert events.index(("e", ".")) < events.index(("e", "new")) < events.index(("w", "acks"))


@pytest.mark.parametrize("options", [(), ("--compact",)], ids=["growing", "compacting"])
async def test_a_power_cut_loses_nothing_that_was_acknowledged(
    watched_loads: Loads, tmp_path: Path, options: Sequence[str]
) -> None:
    seed = random.randrange(1 << 32)  # pytest-randomly's, which its report begins with
    trace = await trace_of(watched_loads, "--writes", "400", "--seed", str(seed), *options)
    synced_database = [each for each in trace if (each.kind, each.name) == ("e", "store.db")]
    assert len(synced_database) > 5, "there were too few checkpoints to prove anything"
    assert await losses(trace, _subfolder(tmp_path), seed) == []


async def test_a_power_cut_right_after_the_first_writes_loses_nothing(
    watched_loads: Loads, tmp_path: Path
) -> None:
    """When the files are new, and their names may be lost."""
    trace = await trace_of(watched_loads, "--clients", "1", "--writes", "2")
    (last, *_) = (n for n, each in reversed(list(enumerate(trace))) if each.name == "acks")
    for seed in range(20):
        home = _subfolder(tmp_path / str(seed))
        assert await losses(trace[: last + 2], home, seed, moments=[last + 1]) == []


async def test_a_power_cut_while_a_store_is_made_leaves_one_that_opens(
    watched_loads: Loads, tmp_path: Path
) -> None:
    """Now and then a cut in those moments was taken for damage: the journal was not kept."""
    trace = await trace_of(watched_loads, "--clients", "1", "--writes", "2")
    first = next(n for n, each in enumerate(trace) if (each.kind, each.name) == ("w", "acks"))
    for seed in range(5):
        home = _subfolder(tmp_path / str(seed))
        assert await losses(trace, home, seed, moments=range(first)) == []


async def test_a_store_that_does_not_sync_is_found_out(
    watched_loads: Loads, tmp_path: Path
) -> None:
    """The test above can fail: the same load without syncs loses writes, or does not even open."""
    trace = await trace_of(watched_loads, "--writes", "400", "--forgetful")
    try:
        lost = await losses(trace, _subfolder(tmp_path), seed=1)
    except Exception:  # noqa: BLE001  # whatever it is: the store is broken
        return
    assert lost


def _subfolder(tmp_path: Path) -> Path:
    folder = tmp_path / "after"
    folder.mkdir(parents=True)
    return folder
