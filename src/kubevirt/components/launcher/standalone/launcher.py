"""A launcher in its sandbox, seen from outside: started, asked, told to end, waited for."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import IO, Final

from msgspec.structs import replace

from kubevirt.base import commands
from kubevirt.base.clock import Clock
from kubevirt.base.errors import Retry
from kubevirt.base.files import Root
from kubevirt.base.tasks import first_of
from kubevirt.components.launcher.standalone.changes import APPEARS, Watch
from kubevirt.components.launcher.standalone.sandbox import Sandbox, arguments

READY_S: Final = 30.0
_LAST_LINES: Final = 5


class LauncherFailed(Retry):
    """The launcher ended before its guest ran, or does not get ready."""


class Launcher:
    def __init__(
        self, process: commands.Process, pidfd: int, share: Path, log: Path, clock: Clock
    ) -> None:
        self._process = process
        self._pidfd = pidfd
        self._share = share
        self._log = log
        self._clock = clock

    @property
    def is_running(self) -> bool:
        return self._process.is_running

    async def ended(self) -> int:
        return await self._process.wait()

    def end(self) -> None:
        """Asks the guest to end; it has its grace period."""
        self._send(signal.SIGTERM)

    def kill(self) -> None:
        """Everything inside ends with its first process."""
        self._send(signal.SIGKILL)

    def _send(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._pidfd, number)

    async def sync(self, vmi: bytes) -> None:
        """Has the guest started; the launcher's own words if it refuses."""
        # A weighty import, which this way happens while the launcher gets ready.
        from kubevirt.rpc.calling import Caller  # noqa: PLC0415
        from kubevirt.rpc.cmd import Launcher as Commands  # noqa: PLC0415

        with Root.open(self._share / "sockets") as sockets:
            await first_of(self._ready(sockets), self._early_end())
            with sockets.connectable("launcher-sock") as address:
                async with Caller(address, "the launcher") as caller:
                    await first_of(Commands(caller).sync(vmi), self._early_end())

    async def _ready(self, sockets: Root) -> None:
        try:
            async with self._clock.timeout(READY_S):
                with Watch(self._share / "sockets", APPEARS) as folder:
                    while not sockets.exists("launcher-sock"):
                        await folder.changed()
        except TimeoutError:
            raise LauncherFailed(
                f"the launcher was not ready after {READY_S:g} s: {last_words(self._log)}"
            ) from None

    async def _early_end(self) -> None:
        code = await self._process.wait()
        raise LauncherFailed(f"the launcher ended with code {code}: {last_words(self._log)}")


def last_words(log: Path) -> str:
    """The end of a log, for a sentence."""
    try:
        lines = log.read_bytes()[-8192:].decode(errors="replace").splitlines()
    except FileNotFoundError:
        lines = []
    return "; ".join(map(_message, lines[-_LAST_LINES:])) or "it said nothing"


def _message(line: str) -> str:
    try:
        found = json.loads(line)
        return str(found.get("reason") or found["msg"])
    except (ValueError, KeyError, AttributeError, TypeError):
        return line


@asynccontextmanager
async def sandboxed(
    sandbox: Sandbox,
    command: Sequence[str],
    environment: Mapping[str, str],
    *,
    namespace: int,
    share: Path,
    log: Path,
    clock: Clock,
) -> AsyncIterator[Launcher]:
    """Runs the command in a sandbox in the network namespace, beside the body; ends it with the body."""
    reading, writing = os.pipe()
    # Open to the end: bubblewrap writes there once more, and dies if nobody could read it.
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
            pass_fds=(namespace, told.fileno()),
        )
        async with spawned as process:
            told.close()
            pidfd = os.pidfd_open(await _first_pid(status, process, log))
            try:
                yield Launcher(process, pidfd, share, log, clock)
            finally:
                with suppress(ProcessLookupError):
                    signal.pidfd_send_signal(pidfd, signal.SIGKILL)
                os.close(pidfd)


async def _first_pid(status: IO[bytes], process: commands.Process, log: Path) -> int:
    """Of the first process inside, by our count."""
    line = await asyncio.to_thread(status.readline)
    if not line:
        await process.wait()
        raise LauncherFailed(f"the sandbox does not start: {last_words(log)}")
    return int(json.loads(line)["child-pid"])
