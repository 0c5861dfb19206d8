"""Containers to try things on: a shell that waits, and whatever else a test asks for."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import msgspec

from kubevirt.embedded.runtime.attempt import Attempt
from kubevirt.embedded.runtime.container import Container
from kubevirt.embedded.runtime.keeper import Keeper

LIMIT_S = 60.0
PATH = {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin"}


def shell(script: str, **more: object) -> Container:
    plain = Container(command=["sh", "-c", script], environment=PATH)
    return msgspec.structs.replace(plain, **more)


async def started(folder: Path, keeper: Keeper, container: Container) -> Attempt:
    """Returns when its command runs, not only its sandbox."""
    attempt = Attempt(folder)
    await attempt.start(container, keeper)
    await until(lambda: first_process(attempt) not in (None, b"keeper", b"bwrap"))
    return attempt


def first_process(attempt: Attempt) -> bytes | None:
    """By its name."""
    with attempt.pinned() as pidfd:
        if pidfd is None:
            return None
        fields = Path(f"/proc/self/fdinfo/{pidfd}").read_text().split()
        try:
            name = Path(f"/proc/{fields[fields.index('Pid:') + 1]}/cmdline").read_bytes()
        except OSError:
            return None
    return b"keeper" if b"\0enter\0" in name else name.partition(b"\0")[0]


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(LIMIT_S):
        while not holds():  # noqa: ASYNC110  # what is waited for is in files
            await asyncio.sleep(0.01)


def processes(mark: str) -> set[int]:
    """Those of this machine that have a word with `mark` in their command line."""
    found = set()
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if mark.encode() in place.read_bytes():
                found.add(int(place.parent.name))
        except OSError:
            continue
    return found
