"""How long the guest takes to its login prompt: `PYTHONPATH=guest:. .venv/bin/python -m tests.guest.boot_time`.

Seconds from QEMU's start to the prompt on the serial line, from disk, emulated, with 2 processors and
the mission's 64 MB; the median of ten. A figure counts only from a machine that is otherwise idle.
"""

import asyncio
import os
import statistics
import sys
import tempfile
from pathlib import Path

from tests.guest.machine import Machine, disk

from guestimage import guests, image, progress

TIMES = 10
MEMORY = "64M"


async def boot_once(path: Path, form: str) -> float:
    with tempfile.TemporaryDirectory(prefix="guest-") as folder:
        root = disk(path, form=form)
        async with Machine.start(Path(folder), *root, memory=MEMORY, processors="2") as machine:
            return await machine.booted_after()


async def main(times: int) -> None:
    images = image.ready(os.environ, progress.Progress())
    for guest in (guests.CIRROS, guests.CIRROS_WITHOUT_AGENT):
        for form, path in (("raw", images.raw(guest)), ("qcow2", images.qcow2(guest))):
            took = [await boot_once(path, form) for _ in range(times)]
            sys.stdout.write(
                f"{guest.name:<22}{form:<7}median {statistics.median(took):.2f} s, "
                f"{min(took):.2f} to {max(took):.2f} s, {times} boots\n"
            )


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else TIMES))
