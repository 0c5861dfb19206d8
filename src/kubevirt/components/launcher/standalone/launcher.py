"""A launcher in its sandbox, seen from outside: started, asked, told to end, waited for."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, NoReturn, TypeVar

from msgspec.structs import replace

from kubevirt.base import commands
from kubevirt.base.clock import Clock
from kubevirt.base.errors import Retry
from kubevirt.base.files import Root
from kubevirt.base.tasks import first_of
from kubevirt.components.launcher.standalone.changes import Watch
from kubevirt.components.launcher.standalone.inotify import APPEARS
from kubevirt.components.launcher.standalone.sandbox import Sandbox, arguments

if TYPE_CHECKING:
    from kubevirt.rpc.cmd import Launcher as Commands

T = TypeVar("T")

READY_S: Final = 30.0
SOCKET: Final = "launcher-sock"
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

    @asynccontextmanager
    async def answering(self) -> AsyncIterator["Commands"]:
        """Its commands, as soon as it takes them."""
        # A weighty import, which this way happens while the launcher gets ready.
        from kubevirt.rpc.calling import Caller  # noqa: PLC0415
        from kubevirt.rpc.cmd import Launcher as Its  # noqa: PLC0415

        with Root.open(self._share / "sockets") as sockets:
            await self.or_its_end(self._ready(sockets))
            with sockets.connectable(SOCKET) as address:
                async with Caller(address, "the launcher") as caller:
                    yield Its(caller)

    async def or_its_end(self, work: Coroutine[object, object, T]) -> T:
        """Waits for the work, but not longer than the launcher lives."""
        return await first_of(work, self._early_end())

    async def _ready(self, sockets: Root) -> None:
        try:
            async with self._clock.timeout(READY_S):
                with Watch(self._share / "sockets", APPEARS) as folder:
                    while not sockets.exists(SOCKET):
                        await folder.changed()
        except TimeoutError:
            raise LauncherFailed(
                f"the launcher was not ready after {READY_S:g} s: {last_words(self._log)}"
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
    share: Path,
    log: Path,
    clock: Clock,
) -> AsyncIterator[Launcher]:
    """Runs the command in a sandbox beside the body; ends it with the body. `inherited` are descriptors:
    first the network namespace, then what the command itself wants. `kept` are our ends of them.
    """
    namespace = inherited[0]
    reading, writing = os.pipe()
    with (
        os.fdopen(reading, "rb") as status,
        os.fdopen(writing, "wb") as told,
        log.open("wb") as output,
    ):
        spawned = commands.spawn(
            "nsenter",
            *(f"--net=/proc/self/fd/{namespace}", "--"),
            *arguments(replace(sandbox, status_fd=told.fileno()), command, environment),
            output=output,
            grace_s=0.1,
            pass_fds=(*inherited, told.fileno()),
        )
        async with spawned as process:
            told.close()
            pid = await _first_pid(status, process, log)
            # bubblewrap writes there once more, and would die if nobody could read it.
            open_ends = (status.fileno(), *kept)
            with closing(Launcher(process, pid, open_ends, share, log, clock)) as launcher:
                yield launcher


async def _first_pid(status: IO[bytes], process: commands.Process, log: Path) -> int:
    """Of the first process inside, by our count."""
    line = await asyncio.to_thread(status.readline)
    if not line:
        await process.wait()
        raise LauncherFailed(f"the sandbox does not start: {last_words(log)}")
    return int(json.loads(line)["child-pid"])
