"""A program as a process: what it says, how it ends, and who sees to its end when nobody else does."""

import asyncio
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kubevirt.base.clock import SystemClock
from kubevirt.base.errors import CommandFailed
from kubevirt.embedded.home import Home
from kubevirt.embedded.programs import child, sighted

LIMIT_S = 60.0


async def ended(words: list[str], log: Path) -> None:
    command = child.Command(words=words, log=log)
    async with asyncio.timeout(LIMIT_S), child.running(command, SystemClock()) as process:
        await process.ended()


async def test_what_it_says_is_in_its_log_and_its_last_words_are_told(tmp_path: Path) -> None:
    script = "echo first; echo this port is taken >&2; exit 3"
    with pytest.raises(CommandFailed, match="ended with exit code 3: this port is taken"):
        await ended(["sh", "-c", script], tmp_path / "log")
    await ended(["sh", "-c", "printf second"], tmp_path / "log")
    assert (tmp_path / "log").read_text() == "first\nthis port is taken\nsecond\n"


async def test_one_that_was_killed_had_no_words_about_it(tmp_path: Path) -> None:
    with pytest.raises(CommandFailed, match=r"was ended by signal 9 \(Killed\)$"):
        await ended(["sh", "-c", "echo all is well; kill -9 $$"], tmp_path / "log")


_PARENT = """
import asyncio, sys
from pathlib import Path
from kubevirt.base.clock import SystemClock
from kubevirt.embedded.programs import child

async def live():
    command = child.Command(words=["sh", "-c", "echo up; exec sleep 600"], log=Path(sys.argv[1]))
    async with child.running(command, SystemClock()) as process:
        while not Path(sys.argv[1]).stat().st_size:
            await asyncio.sleep(0.01)
        print(process.pid, flush=True)
        await process.ended()

asyncio.run(live())
"""


def test_it_ends_with_the_process_that_started_it(tmp_path: Path) -> None:
    """Once it is the program itself. One that has not become it yet is found by the next who looks."""
    words = [sys.executable, "-c", _PARENT, str(tmp_path / "log")]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pidfd = os.pidfd_open(int(parent.stdout.readline()))
        parent.send_signal(signal.SIGKILL)
    try:
        has_ended = bool(select.select([pidfd], [], [], LIMIT_S)[0])
        if not has_ended:
            signal.pidfd_send_signal(pidfd, signal.SIGKILL)
        assert has_ended
    finally:
        os.close(pidfd)


@contextmanager
def a_process(*words: str) -> Iterator[subprocess.Popen[bytes]]:
    """Which does nothing, with these words behind its own."""
    sleeping = [sys.executable, "-c", "import time; time.sleep(600)"]
    with subprocess.Popen([*sleeping, *words]) as process:
        try:
            yield process
        finally:
            process.kill()


def test_one_that_outlived_its_home_is_seen_and_ended(tmp_path: Path) -> None:
    home = Home(tmp_path)
    file = str(home.programs / "virt-api.kubeconfig")
    with (
        a_process("/somewhere/virt-api", "--kubeconfig", file) as own,
        a_process("/somewhere/kubectl", "--kubeconfig", file) as users,
    ):
        assert [(each.name, each.pid) for each in sighted.look(home)] == [("virt-api", own.pid)]
        link = tmp_path / "by-another-name"
        link.symlink_to(tmp_path)
        sighted.end_all(Home(link))
        assert own.wait(LIMIT_S) == -signal.SIGKILL
        assert users.poll() is None
        assert sighted.look(home) == []
