"""Starting programs: short ones with `run`, long-lived ones as a `Daemon`.

A daemon is a plain child process and belongs to no event loop, so a test session may start it in
one loop and stop it in another.
"""

import contextlib
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from clusterup import errors, waiting
from kubevirt.base import commands
from kubevirt.base.errors import KubevirtError

_RUN_LIMIT_S = 120.0
"""To end a hang: on a busy machine also a short program takes its time."""
_STOP_LIMIT_S = 10.0
_OUTPUT_LIMIT = 64 * 1024**2
"""A list of everything in a test cluster, as JSON, is some megabytes."""


def plain_environment(**more: str) -> dict[str, str]:
    """What a daemon sees: nothing of the caller's shell, above all no proxy settings, which would
    send traffic between the cluster's own parts elsewhere.
    """
    return {"PATH": commands.SEARCH_PATH, "HOME": "/nonexistent", "LANG": "C.UTF-8", **more}


@dataclass(frozen=True)
class Outcome:
    code: int
    stdout: str
    stderr: str


async def run(
    *argv: str | Path,
    stdin: str = "",
    limit_s: float = _RUN_LIMIT_S,
    check: bool = True,
    env: Mapping[str, str] | None = None,
) -> Outcome:
    """Run a short program to its end. With `check`, a code other than 0 is raised as `Broken`."""
    words = [str(word) for word in argv]
    try:
        done = await commands.run(
            *words,
            stdin=stdin.encode(),
            timeout_s=limit_s,
            output_limit=_OUTPUT_LIMIT,
            env=plain_environment() if env is None else env,
            check=False,
        )
    except KubevirtError as error:
        raise errors.Broken(f"`{' '.join(words)}` failed: {error}") from error
    outcome = Outcome(done.exit_code, done.text, done.stderr.decode(errors="replace"))
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
