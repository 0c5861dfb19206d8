"""Logs of attempts, read at rest and as they grow."""

import asyncio
import json
import os
import signal
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest
from tests.component.embedded.endpoint.running import LIMIT_S, shell, until

from kubevirt.embedded.runtime.attempt import Attempt
from kubevirt.embedded.runtime.container import Mount
from kubevirt.embedded.runtime.growth import Growth
from kubevirt.embedded.runtime.keeper import Keeper
from kubevirt.embedded.runtime.log_lines import Wanted
from kubevirt.embedded.runtime.logs import copy

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="sandboxes of pods are made by root")


class Reader:
    """Takes what it is given, and waits where it is told to."""

    def __init__(self) -> None:
        self.text = b""
        self.may_go_on = asyncio.Event()
        self.may_go_on.set()

    async def put(self, chunk: bytes) -> None:
        self.text += chunk
        await self.may_go_on.wait()


async def shown(attempt: Attempt, **wanted: object) -> bytes:
    reader = Reader()
    async with asyncio.timeout(LIMIT_S):
        await copy(attempt, msgspec.structs.replace(Wanted(), **wanted), reader.put, Growth())
    return reader.text


async def ran(attempt: Attempt, keeper: Keeper, script: str, **more: object) -> None:
    await attempt.start(shell(script, **more), keeper)
    async with asyncio.timeout(LIMIT_S):
        await attempt.ended()


def numbers(first: int, last: int) -> bytes:
    return b"".join(b"%d\n" % number for number in range(first, last + 1))


async def test_a_log_is_read_over_all_its_files(attempts: Path, keeper: Keeper) -> None:
    attempt = Attempt(attempts / "0")
    await ran(attempt, keeper, "seq 1000", log_bytes=16384, log_files=5)

    assert (attempt.folder / "log.2").exists()
    assert await shown(attempt) == numbers(1, 1000)


@pytest.mark.parametrize("count", [0, 1, 7, 400, 999, 1000, 5000])
async def test_the_last_lines_may_be_in_several_files(
    attempts: Path, keeper: Keeper, count: int
) -> None:
    attempt = Attempt(attempts / "0")
    await ran(attempt, keeper, "seq 1000", log_bytes=16384, log_files=5)

    assert await shown(attempt, tail=count) == numbers(max(1, 1001 - count), 1000)


async def test_a_line_in_pieces_is_one_line(attempts: Path, keeper: Keeper) -> None:
    attempt = Attempt(attempts / "0")
    script = "echo begin; head -c 200000 /dev/zero | tr '\\0' x; echo; echo end"
    await ran(attempt, keeper, script)

    assert await shown(attempt, tail=2) == b"x" * 200_000 + b"\nend\n"
    assert await shown(attempt, tail=1) == b"end\n"


async def test_streams_times_limits_and_beginnings(attempts: Path, keeper: Keeper) -> None:
    attempt = Attempt(attempts / "0")
    await ran(attempt, keeper, "echo one; echo two >&2; sleep 0.5; echo three")
    now = datetime.now(UTC)

    assert await shown(attempt, stream="stderr") == b"two\n"
    assert await shown(attempt, limit=3, stream="stdout") == b"one"
    assert await shown(attempt, since=now) == b""
    last = await shown(attempt, tail=1, has_times=True)
    at = datetime.fromisoformat(last[:26].decode()).replace(tzinfo=UTC)
    assert await shown(attempt, since=at - timedelta(milliseconds=100)) == b"three\n"


async def test_a_log_is_followed_until_the_container_ends(attempts: Path, keeper: Keeper) -> None:
    attempt = Attempt(attempts / "0")
    await attempt.start(shell("for n in $(seq 20); do echo $n; sleep 0.02; done"), keeper)

    assert await shown(attempt, is_followed=True) == numbers(1, 20)


async def test_a_line_is_shown_when_it_is_said(attempts: Path, keeper: Keeper) -> None:
    attempt = Attempt(attempts / "0")
    await attempt.start(shell("echo here; exec sleep 1000"), keeper)
    reader = Reader()

    following = asyncio.ensure_future(copy(attempt, Wanted(is_followed=True), reader.put, Growth()))
    try:
        await until(lambda: reader.text == b"here\n")
        attempt.signal(signal.SIGKILL)
        async with asyncio.timeout(LIMIT_S):
            await following
    finally:
        following.cancel()


async def test_following_begins_where_it_is_told_to(attempts: Path, keeper: Keeper) -> None:
    attempt = Attempt(attempts / "0")
    script = "seq 10; until [ -e /tmp/on/go ]; do sleep 0.02; done; seq 11 15"
    on = attempts / "on"
    on.mkdir()
    mounts = [Mount(source=str(on), target="/tmp/on")]
    await attempt.start(shell(script, mounts=mounts), keeper)
    await until(lambda: b" 10\n" in (attempt.folder / "log").read_bytes())
    reader = Reader()

    following = asyncio.ensure_future(
        copy(attempt, Wanted(is_followed=True, tail=2), reader.put, Growth())
    )
    try:
        await until(lambda: reader.text == b"9\n10\n")
        (on / "go").touch()
        async with asyncio.timeout(LIMIT_S):
            await following
    finally:
        following.cancel()
    assert reader.text == numbers(9, 15)


async def test_following_has_no_gap_where_a_log_is_rotated(attempts: Path, keeper: Keeper) -> None:
    attempt = Attempt(attempts / "0")
    script = "for n in $(seq 20); do seq $((n * 100 - 99)) $((n * 100)); sleep 0.01; done"
    await attempt.start(shell(script, log_bytes=8192, log_files=20), keeper)

    assert await shown(attempt, is_followed=True) == numbers(1, 2000)


async def test_a_slow_reader_finds_what_was_rotated_meanwhile(
    attempts: Path, keeper: Keeper
) -> None:
    """It sleeps over several rotations, and has the file it was at under another name."""
    attempt = Attempt(attempts / "0")
    script = "echo 1; until [ -e /tmp/on/go ]; do sleep 0.02; done; seq 2 1000"
    on = attempts / "on"
    on.mkdir()
    mounts = [Mount(source=str(on), target="/tmp/on")]
    await attempt.start(shell(script, log_bytes=8192, log_files=20, mounts=mounts), keeper)
    reader = Reader()
    reader.may_go_on.clear()

    following = asyncio.ensure_future(copy(attempt, Wanted(is_followed=True), reader.put, Growth()))
    try:
        await until(lambda: reader.text == b"1\n")
        (on / "go").touch()
        async with asyncio.timeout(LIMIT_S):
            await attempt.ended()
        assert (attempt.folder / "log.4").exists()
        reader.may_go_on.set()
        async with asyncio.timeout(LIMIT_S):
            await following
    finally:
        following.cancel()
    assert reader.text == numbers(1, 1000)


async def test_following_ends_with_a_container_whose_keeper_was_killed(
    attempts: Path, keeper: Keeper
) -> None:
    attempt = Attempt(attempts / "0")
    await attempt.start(shell("echo here; exec sleep 1000"), keeper)
    await until(lambda: b"here" in (attempt.folder / "log").read_bytes())
    started = json.loads((attempt.folder / "started.json").read_text())

    os.kill(started["keeper"], signal.SIGKILL)

    assert await shown(attempt, is_followed=True) == b"here\n"


async def test_many_follow_several_logs(attempts: Path, keeper: Keeper) -> None:
    """More than the kernel has instances of inotify for."""
    talking = [Attempt(attempts / str(number)) for number in range(2)]
    for attempt in talking:
        script = "sleep 1; for n in $(seq 20); do echo $n; sleep 0.02; done"
        await attempt.start(shell(script), keeper)
    growth = Growth()
    readers = [Reader() for _ in range(300)]

    async with asyncio.timeout(LIMIT_S), asyncio.TaskGroup() as group:
        for number, reader in enumerate(readers):
            attempt = talking[number % 2]
            group.create_task(copy(attempt, Wanted(is_followed=True), reader.put, growth))

    assert {reader.text for reader in readers} == {numbers(1, 20)}
    assert growth._fd == -1
    assert not files_open_below(attempts)


async def test_following_leaves_no_file_open(attempts: Path, keeper: Keeper) -> None:
    attempt = Attempt(attempts / "0")
    await attempt.start(shell("seq 2000", log_bytes=8192), keeper)

    await shown(attempt, is_followed=True, limit=100)
    await shown(attempt, tail=3)

    assert not files_open_below(attempts)


def files_open_below(folder: Path) -> list[str]:
    found = []
    for each in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            found.append(str(each.readlink()))
    return [each for each in found if each.startswith(f"{folder}/")]
