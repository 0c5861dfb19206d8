"""Starting programs: short ones with `run`, long-lived ones as a `Daemon`.

A daemon is a plain child process and belongs to no event loop, so a test session may start it in
one loop and stop it in another.
"""

import asyncio
import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from clusterup import errors, waiting

_STOP_LIMIT_S = 10.0
_SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def plain_environment(**more: str) -> dict[str, str]:
    """What a daemon sees: nothing of the caller's shell, above all no proxy settings, which would
    send traffic between the cluster's own parts elsewhere.
    """
    return {"PATH": _SYSTEM_PATH, "HOME": "/nonexistent", "LANG": "C.UTF-8", **more}


@dataclass(frozen=True)
class Outcome:
    code: int
    stdout: str
    stderr: str


async def run(
    *argv: str | Path,
    stdin: str | None = None,
    limit_s: float = 30.0,
    check: bool = True,
    env: Mapping[str, str] | None = None,
) -> Outcome:
    """Run a short program to its end. With `check`, a code other than 0 is raised as `Broken`."""
    words = [str(word) for word in argv]
    process = await asyncio.create_subprocess_exec(
        *words,
        stdin=subprocess.PIPE if stdin is not None else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=plain_environment() if env is None else env,
    )
    try:
        async with asyncio.timeout(limit_s):
            out, err = await process.communicate(None if stdin is None else stdin.encode())
    except TimeoutError:
        raise errors.Broken(f"`{' '.join(words)}` took longer than {limit_s:g} s") from None
    finally:
        # Also when cancelled: a program nobody waits for must not stay behind.
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    outcome = Outcome(
        process.returncode or 0, out.decode(errors="replace"), err.decode(errors="replace")
    )
    if check and outcome.code:
        said = (outcome.stderr or outcome.stdout).strip()
        raise errors.Broken(f"`{' '.join(words)}` ended with code {outcome.code}: {said}")
    return outcome


@dataclass
class Daemon:
    """A long-lived program whose life is bound to ours: when the thread that started it ends, even
    by `kill -9`, the kernel ends the daemon too.
    """

    name: str
    argv: Sequence[str]
    log: Path
    env: Mapping[str, str] = field(default_factory=plain_environment)
    _process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        if self.is_running():
            return
        with self.log.open("ab") as log:
            # setpriv asks the kernel for the signal and becomes the program. A preexec_fn would do
            # the same but forks a Python that may have threads.
            self._process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", "--", *self.argv],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=dict(self.env),
                # Ctrl-C is for us: we end the daemons in order.
                start_new_session=True,
            )

    def check(self) -> None:
        """Raise `Broken` when it has ended by itself."""
        if self._process is not None and (code := self._process.poll()) is not None:
            raise errors.Broken(f"{self.name} ended with code {code}", log=self.log)

    async def kill(self) -> None:
        await self.stop(signal.SIGKILL)

    async def stop(self, number: signal.Signals = signal.SIGTERM) -> None:
        """End it, by force when it does not go in time, and reap it."""
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(number)

        async def gone() -> bool:
            return process.poll() is not None

        try:
            with contextlib.suppress(errors.Broken):
                await waiting.until(gone, limit_s=_STOP_LIMIT_S, what=self.name, every_s=0.01)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()


def is_alive(pid: int) -> bool:
    """Whether a process of that id exists and is no zombie."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return text.rpartition(")")[2].split()[0] != "Z"


def effective_root() -> bool:
    return os.geteuid() == 0
