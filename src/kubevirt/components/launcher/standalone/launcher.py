"""A launcher in its sandbox, seen from outside: started, commissioned, waited for."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, closing, contextmanager, suppress
from pathlib import Path
from typing import IO, Final, NoReturn

from msgspec.structs import replace

from kubevirt.base import commands
from kubevirt.base.clock import Clock
from kubevirt.base.errors import Retry
from kubevirt.base.tasks import first_of
from kubevirt.components.launcher.commission import Commission
from kubevirt.components.launcher.standalone.folders import LAUNCHER
from kubevirt.components.launcher.standalone.sandbox import Sandbox, arguments
from kubevirt.host import runtime_default, seccomp

START_S: Final = 90.0
"""For a guest to run; an image that takes its time is looked at for up to a minute."""
_LAST_LINES: Final = 3


class LauncherFailed(Retry):
    """The launcher ended before its guest ran, or does not get ready."""


class Launcher:
    def __init__(
        self,
        process: commands.Process,
        first_pid: int,
        kept: Sequence[int],
        share: Path,
        log: Path,
        clock: Clock,
    ) -> None:
        self.pids = (process.pid, first_pid)
        """Of the sandbox itself and of the first process in it; whoever follows is their child."""
        self.pidfd = os.pidfd_open(first_pid)
        """Of the latter: signals reach it and nobody else."""
        self.kept = (self.pidfd, *kept)
        """Descriptors that must stay open as long as it runs."""
        self._process = process
        self._share = share
        self._log = log
        self._clock = clock

    def close(self) -> None:
        """Nothing inside lives longer than this."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)
        os.close(self.pidfd)

    async def started(self, instance: bytes) -> str:
        """The guest runs. Returns what its owner should know about that, a line for each."""
        return await first_of(self._commissioned(instance), self._early_end())

    async def _commissioned(self, instance: bytes) -> str:
        try:
            async with self._clock.timeout(START_S):
                return await Commission(self._share).given(instance, reader=LAUNCHER)
        except TimeoutError:
            raise LauncherFailed(
                f"the guest did not run after {START_S:g} s: {last_words(self._log)}"
            ) from None

    async def _early_end(self) -> NoReturn:
        code = await self._process.wait()
        raise LauncherFailed(f"the launcher ended with code {code}: {last_words(self._log)}")


def last_words(log: Path) -> str:
    """The end of a log, for a sentence: what our own programs said, else what others did."""
    try:
        lines = log.read_bytes()[-16384:].decode(errors="replace").splitlines()
    except FileNotFoundError:
        lines = []
    ours = [words for line in lines if (words := _message(line))]
    return "; ".join((ours or lines)[-_LAST_LINES:]) or "it said nothing"


def _message(line: str) -> str:
    try:
        found = json.loads(line)
        return str(found.get("reason") or found["msg"])
    except (ValueError, KeyError, AttributeError, TypeError):
        return ""


@asynccontextmanager
async def sandboxed(
    sandbox: Sandbox,
    command: Sequence[str],
    environment: Mapping[str, str],
    *,
    inherited: Sequence[int],
    kept: Sequence[int] = (),
    take_in: Callable[[int], None],
    share: Path,
    log: Path,
    clock: Clock,
) -> AsyncIterator[Launcher]:
    """Runs the command in a sandbox beside the body; ends it with the body. `inherited` are descriptors:
    first the network namespace, then what the command itself wants. `kept` are our ends of them. `take_in` puts
    a process under limits; the command waits for that, as its children have those that it has.
    """
    namespace = inherited[0]
    with (
        _pipe() as (status, told),
        _pipe() as (gate, key),
        allowed_calls() as calls,
        log.open("wb") as output,
    ):
        held = replace(
            sandbox, status_fd=told.fileno(), gate_fd=gate.fileno(), calls_fd=calls.fileno()
        )
        spawned = commands.spawn(
            "nsenter",
            *(f"--net=/proc/self/fd/{namespace}", "--"),
            *arguments(held, command, environment),
            output=output,
            grace_s=0.1,
            pass_fds=(*inherited, told.fileno(), gate.fileno(), calls.fileno()),
        )
        async with spawned as process:
            told.close()
            pid = await _first_pid(status, process, log)
            # bubblewrap writes there once more, and would die if nobody could read it.
            open_ends = (status.fileno(), *kept)
            with closing(Launcher(process, pid, open_ends, share, log, clock)) as launcher:
                for each in launcher.pids:
                    take_in(each)
                key.close()
                yield launcher


@contextmanager
def allowed_calls() -> Iterator[IO[bytes]]:
    """The filter that a launcher has in a pod, where nobody asks for another."""
    with os.fdopen(os.memfd_create("seccomp", os.MFD_CLOEXEC), "wb+", buffering=0) as file:
        file.write(seccomp.compiled(runtime_default.profile(())))
        file.seek(0)
        yield file


@contextmanager
def _pipe() -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as reader, os.fdopen(writing, "wb") as writer:
        yield reader, writer


async def _first_pid(status: IO[bytes], process: commands.Process, log: Path) -> int:
    """Of the first process inside, by our count."""
    line = await asyncio.to_thread(status.readline)
    if not line:
        await process.wait()
        raise LauncherFailed(f"the sandbox does not start: {last_words(log)}")
    return int(json.loads(line)["child-pid"])
