"""Boots each guest again and again, from QEMU's start to the prompt on the serial line, and says what it found.

From disk, emulated, with the mission's 64 MB. A figure counts only from a machine that is otherwise idle.
"""

import argparse
import asyncio
import os
import statistics
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.guest.machine import Machine, disk

from bench import lines, machine
from bench.lines import Line
from bench.run import INTERRUPTED
from guestimage import guests, image, progress

BOOTS = 10
MEMORY = "64M"
PROCESSORS = ("1", "2")
_SECONDS = 4.0
_MEGABYTES = 12.0


@dataclass(frozen=True)
class Disk:
    name: str
    path: Path
    form: str
    """As QEMU calls it."""

    @property
    def megabytes(self) -> float:
        return self.path.stat().st_size / 1e6


@dataclass(frozen=True)
class Found:
    """About one disk and one number of processors."""

    name: str
    took_s: list[float]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.guest", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one boot of each: a smoke test")
    asked = parser.parse_args()
    try:
        print(asyncio.run(measure(1 if asked.quick else BOOTS)))
    except (KeyboardInterrupt, asyncio.CancelledError):
        return INTERRUPTED
    return 0


async def measure(boots: int) -> str:
    """The table; every single boot is in a file."""
    disks = ready_disks()
    found = [
        Found(
            f"{each.name}, {processors} vCPU",
            [await boot(each, processors) for _ in range(boots)],
        )
        for each in disks
        for processors in PROCESSORS
    ]
    told = list(lines_of(found, max(each.megabytes for each in disks if each.form == "qcow2")))
    kept = lines.keep("guest", told, [vars(each) for each in found], machine.facts())
    return f"{lines.table('guest', '', told)}\n\n{kept}"


def ready_disks() -> list[Disk]:
    images = image.ready(os.environ, progress.Progress())
    return [
        each
        for guest in (guests.CIRROS, guests.CIRROS_WITHOUT_AGENT)
        for each in (
            Disk(f"{guest.name}, compressed", images.qcow2(guest), "qcow2"),
            Disk(f"{guest.name}, raw", images.raw(guest), "raw"),
        )
    ]


async def boot(one: Disk, processors: str) -> float:
    with tempfile.TemporaryDirectory(prefix="guest-") as folder:
        root = disk(one.path, form=one.form)
        async with Machine.start(
            Path(folder), *root, memory=MEMORY, processors=processors
        ) as running:
            return await running.booted_after()


def lines_of(found: list[Found], largest: float) -> Iterator[Line]:
    for each in found:
        median = statistics.median(each.took_s)
        yield Line(
            what=f"login of {each.name}, s",
            ours=f"{median:.2f} ({min(each.took_s):.2f} to {max(each.took_s):.2f})",
            target=f"at most {_SECONDS:g} s",
            is_reached=median <= _SECONDS,
        )
    yield Line(
        what="largest image, compressed, MB",
        ours=f"{largest:.1f}",
        target=f"at most {_MEGABYTES:g} MB",
        is_reached=largest <= _MEGABYTES,
    )
