"""A contender while it runs: what it says, and what the kernel says of it."""

import asyncio
import contextlib
import json
import os
import subprocess
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clusterup import errors

LIMIT_S = 90.0
"""For one thing that is waited for; the slowest contender needs a fifth of it."""


@dataclass(frozen=True, kw_only=True)
class Memory:
    """In bytes, as the kernel counts them."""

    anonymous: int
    """Heap and stacks: what belongs to the process alone and to no file."""
    rss: int
    pss: int
    peak_rss: int

    @classmethod
    def of(cls, pid: int) -> "Memory":
        sizes = _sizes(Path(f"/proc/{pid}/smaps_rollup"))
        return cls(
            anonymous=sizes["Anonymous"],
            rss=sizes["Rss"],
            pss=sizes["Pss"],
            peak_rss=_sizes(Path(f"/proc/{pid}/status"))["VmHWM"],
        )


def _sizes(path: Path) -> dict[str, int]:
    """The lines of the form `Name:   123 kB`."""
    found = {}
    for line in path.read_text().splitlines():
        name, _, value = line.partition(":")
        if value.endswith(" kB"):
            found[name] = int(value.removesuffix(" kB")) * 1024
    return found


class Process:
    def __init__(self, name: str, process: asyncio.subprocess.Process, log: Path) -> None:
        self._name = name
        self._process = process
        self._log = log

    async def expect(self, event: str) -> dict[str, Any]:
        """The next thing it says, which must be this event."""
        assert self._process.stdout is not None  # asked for below; mypy cannot know
        try:
            async with asyncio.timeout(LIMIT_S):
                line = await self._process.stdout.readline()
        except TimeoutError:
            raise errors.Broken(
                f"{self._name} did not say `{event}` within {LIMIT_S:g} s", log=self._log
            ) from None
        said: dict[str, Any] = json.loads(line) if line else {"event": "nothing: it ended"}
        if said["event"] != event:
            raise errors.Broken(f"{self._name} said {said['event']}, not {event}", log=self._log)
        return said

    def proceed(self) -> None:
        assert self._process.stdin is not None  # as above
        self._process.stdin.write(b"go\n")

    def memory(self) -> Memory:
        return Memory.of(self._process.pid)


@contextlib.asynccontextmanager
async def started(name: str, argv: Sequence[str], folder: Path) -> AsyncIterator[Process]:
    """Run it, and see to it that it is gone afterwards, whatever happens."""
    log = folder / "contender.log"
    with log.open("wb") as errors_of_it:
        process = await asyncio.create_subprocess_exec(
            # When this driver dies, even by `kill -9`, the kernel ends the contender too.
            *("setpriv", "--pdeathsig", "KILL", "--", *argv),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors_of_it,
            env=_environment(os.environ),
        )
    try:
        yield Process(name, process, log)
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
        await process.wait()


def _environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Without what would change how a contender behaves: proxies, allocators, garbage collectors."""
    kept = ("HOME", "LANG", "PATH", "VIRTUAL_ENV")
    # The product that lies beside this benchmark, not one that happens to be installed.
    root = Path(__file__).resolve().parent.parent
    paths = f"{root}{os.pathsep}{root / 'src'}"
    return {"PYTHONPATH": paths, **{name: environ[name] for name in kept if name in environ}}
