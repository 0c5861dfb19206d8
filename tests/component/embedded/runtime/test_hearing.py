"""Whether the first process of a container hears what it is asked, and asking it so that it does."""

import asyncio
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from kubevirt.base.clock import SystemClock
from kubevirt.embedded.runtime import hearing
from kubevirt.embedded.runtime.attempt import Attempt
from kubevirt.embedded.runtime.container import Container
from kubevirt.embedded.runtime.hearing import Hearing
from kubevirt.embedded.runtime.keeper import Keeper

LIMIT_S = 60.0
PATH = {"PATH": "/usr/bin:/bin"}
KEEPS_IT = """\
import signal as s, sys
s.pthread_sigmask(s.SIG_BLOCK, [15])
print('here', flush=True)
s.sigwait([15])
raise SystemExit(6 if s.sigtimedwait([15], 2) else 5)
"""

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="sandboxes of pods are made by root")


def shell(script: str) -> Container:
    return Container(command=["sh", "-c", script], environment=PATH, has_input=True)


def python(script: str) -> Container:
    return Container(command=["python3", "-S", "-c", script], environment=PATH)


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(LIMIT_S):
        while not holds():  # noqa: ASYNC110  # what is waited for is in files
            await asyncio.sleep(0.01)


async def until_it_says(attempt: Attempt, word: str) -> None:
    path = attempt.folder / "log"
    await until(lambda: path.exists() and f"stdout F {word}\n" in path.read_text())


async def asked(attempt: Attempt) -> int:
    """How it ended."""
    async with asyncio.timeout(LIMIT_S):
        await hearing.ask(attempt, signal.SIGTERM, SystemClock())
        return (await attempt.ended()).code


def state(attempt: Attempt) -> str:
    lines = Path(f"/proc/{attempt.first_process}/status").read_text().splitlines()
    return next(line.split()[1] for line in lines if line.startswith("State:"))


async def test_a_first_process_hears_a_signal_from_when_it_has_made_provision(
    attempts: Path, keeper: Keeper
) -> None:
    attempt = Attempt(attempts / "0")
    assert hearing.of(attempt, signal.SIGTERM) is Hearing.NO
    await attempt.start(shell("echo deaf; read go; trap : TERM; echo here; read go"), keeper)
    await until_it_says(attempt, "deaf")
    assert hearing.of(attempt, signal.SIGTERM) is Hearing.NO
    (attempt.folder / "input").write_bytes(b"go\n")
    await until_it_says(attempt, "here")
    assert hearing.of(attempt, signal.SIGTERM) is Hearing.YES
    assert hearing.of(attempt, signal.SIGUSR2) is Hearing.NO


async def test_a_first_process_that_sleeps_until_a_signal_comes_may_hear_it(
    attempts: Path, keeper: Keeper
) -> None:
    """The kernel shows what it sleeps for as if it were not blocked: a launcher was never asked to end."""
    attempt = Attempt(attempts / "0")
    await attempt.start(python(KEEPS_IT), keeper)
    await until_it_says(attempt, "here")
    await until(lambda: state(attempt) == "S")
    assert hearing.of(attempt, signal.SIGTERM) is Hearing.PERHAPS


async def test_a_shell_that_starts_commands_is_never_taken_for_one_that_listens(
    attempts: Path, keeper: Keeper
) -> None:
    """For that moment it keeps all signals for later, and forgets them: it was taken for asked, and killed in the end."""
    attempt = Attempt(attempts / "0")
    await attempt.start(shell("echo here; while :; do /bin/true; done"), keeper)
    await until_it_says(attempt, "here")
    in_a_row = longest = 0
    for _ in range(2000):
        is_deaf = hearing.of(attempt, signal.SIGTERM) is Hearing.NO
        in_a_row = 0 if is_deaf else in_a_row + 1
        longest = max(longest, in_a_row)
    assert longest < 3


async def test_who_begins_to_listen_late_is_asked_then(attempts: Path, keeper: Keeper) -> None:
    attempt = Attempt(attempts / "0")
    script = "echo here; while ! test -e /tmp/go; do read go && touch /tmp/go; done; trap 'exit 5' TERM; while :; do sleep 0.05; done"
    await attempt.start(shell(script), keeper)
    await until_it_says(attempt, "here")

    async with asyncio.TaskGroup() as tasks:
        asking = tasks.create_task(asked(attempt))
        await asyncio.sleep(0.2)  # it may have been asked in vain: either way has to do
        assert not asking.done()
        (attempt.folder / "input").write_bytes(b"go\n")

    assert asking.result() == 5


async def test_who_waits_for_signals_without_a_handler_is_asked_once(
    attempts: Path, keeper: Keeper
) -> None:
    attempt = Attempt(attempts / "0")
    await attempt.start(python(KEEPS_IT), keeper)
    await until_it_says(attempt, "here")

    assert await asked(attempt) == 5


async def test_who_is_asked_before_it_waits_for_signals_is_asked_again(
    attempts: Path, keeper: Keeper
) -> None:
    attempt = Attempt(attempts / "0")
    await attempt.start(python(KEEPS_IT), keeper)

    assert await asked(attempt) in {5, 6}  # asked while it is about to listen, it may hear it twice


async def test_asking_who_does_not_want_to_hear_comes_to_an_end(
    attempts: Path, keeper: Keeper
) -> None:
    attempt = Attempt(attempts / "0")
    await attempt.start(shell("trap '' TERM; echo here; read go"), keeper)
    await until_it_says(attempt, "here")

    async with asyncio.timeout(LIMIT_S):
        await hearing.ask(attempt, signal.SIGTERM, SystemClock())

    assert attempt.is_running
