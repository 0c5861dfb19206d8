"""Commands taken into containers that run: their streams, their rights, and that none stays behind."""

import asyncio
import errno
import os
import platform
import signal
import struct
import sys
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from tests.component.embedded.endpoint.running import (
    LIMIT_S,
    PATH,
    first_process,
    processes,
    shell,
    started,
    until,
)

from kubevirt.embedded.runtime import capabilities
from kubevirt.embedded.runtime.attempt import Attempt
from kubevirt.embedded.runtime.container import Rights
from kubevirt.embedded.runtime.ends import End
from kubevirt.embedded.runtime.joining import NotJoined, Outcome, Streams, completed, joined
from kubevirt.embedded.runtime.keeper import Keeper

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="sandboxes of pods are made by root")

WAITING = shell("exec sleep 1000")
ALL = Streams(stdin=True, stdout=True, stderr=True)


@pytest.fixture
async def attempt(attempts: Path, keeper: Keeper) -> Attempt:
    return await started(attempts / "0", keeper, WAITING)


@pytest.fixture
def deaf() -> Iterator[None]:
    """To ^C, as a job of a shell's background is."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def mark() -> str:
    """A word by which the processes of one test are known."""
    return f"kvpy-test-{uuid.uuid4().hex}"


async def said(attempt: Attempt, keeper: Keeper, script: str) -> Outcome:
    async with asyncio.timeout(LIMIT_S):
        return await completed(attempt, keeper, ["sh", "-c", script])


async def all_of(end: End | None) -> bytes:
    assert end is not None
    found = b""
    async with asyncio.timeout(LIMIT_S):
        while chunk := await end.read():
            found += chunk
    return found


async def until_shown(end: End | None, text: bytes) -> bytes:
    assert end is not None
    found = b""
    async with asyncio.timeout(LIMIT_S):
        while text not in found:
            chunk = await end.read()
            assert chunk, found
            found += chunk
    return found


async def test_a_command_says_what_it_says_and_ends_as_it_ends(
    attempt: Attempt, keeper: Keeper
) -> None:
    outcome = await said(attempt, keeper, "echo one; echo two >&2; exit 7")

    assert outcome.code == 7
    assert sorted(outcome.output.split()) == [b"one", b"two"]


async def test_a_command_that_a_signal_ends_is_told_so(attempt: Attempt, keeper: Keeper) -> None:
    assert (await said(attempt, keeper, "kill -TERM $$")).code == 128 + signal.SIGTERM


async def test_input_goes_in_and_its_end_is_seen(attempt: Attempt, keeper: Keeper) -> None:
    async with joined(attempt, keeper, ["wc", "-c"], ALL) as command:
        assert command.stdin is not None
        async with asyncio.timeout(LIMIT_S):
            assert await command.stdin.write(b"x" * 1_000_000)
            command.close_stdin()
            assert await all_of(command.stdout) == b"1000000\n"
            assert await command.wait() == 0


async def test_input_that_nobody_reads_any_more_is_noticed(
    attempt: Attempt, keeper: Keeper
) -> None:
    async with joined(attempt, keeper, ["true"], ALL) as command:
        assert command.stdin is not None
        async with asyncio.timeout(LIMIT_S):
            await command.wait()
            assert not await command.stdin.write(b"x" * 1_000_000)


async def test_a_command_has_the_place_and_the_rights_of_its_container(
    attempts: Path, keeper: Keeper
) -> None:
    rights = Rights(user=1234, group=5678, groups=(9, 10), capabilities=("NET_RAW",))
    container = shell(
        "exec sleep 1000",
        rights=rights,
        folder="/tmp",
        hostname="inside",
        environment={**PATH, "COLOUR": "green"},
    )
    attempt = await started(attempts / "0", keeper, container)

    outcome = await said(
        attempt,
        keeper,
        "id -u; id -G; pwd; hostname; echo $COLOUR; cat /proc/1/comm; ls /proc/self/fd | wc -l;"
        " grep -E 'Cap|NoNew' /proc/self/status",
    )

    lines = outcome.output.decode().splitlines()
    assert lines[:7] == ["1234", "5678 9 10", "/tmp", "inside", "green", "sleep", "4"]
    found = dict(line.split(":\t") for line in lines[7:])
    assert found["CapEff"] == found["CapPrm"] == found["CapAmb"] == "0" * 16
    assert int(found["CapBnd"], 16) == capabilities.mask(["NET_RAW"])
    assert found["NoNewPrivs"] == "1"


async def test_root_gains_no_privileges_by_a_command_in_a_container_that_says_nothing_of_them(
    attempt: Attempt, keeper: Keeper
) -> None:
    """exec, probes and hooks come this way. Only what bubblewrap itself starts had given them up."""
    outcome = await said(attempt, keeper, "grep NoNewPrivs /proc/self/status /proc/1/status")

    assert [line.split()[-1] for line in outcome.output.splitlines()] == [b"1", b"1"]


async def test_a_command_has_the_filter_of_its_container(attempts: Path, keeper: Keeper) -> None:
    attempt = Attempt(attempts / "0")
    with no_folders() as seccomp:
        await attempt.start(WAITING, keeper, seccomp)
    await until(lambda: first_process(attempt) == b"sleep")

    outcome = await said(attempt, keeper, "mkdir /tmp/new")

    assert outcome.code == 1
    assert os.strerror(errno.EXDEV).encode() in outcome.output


@contextmanager
def no_folders() -> Iterator[int]:
    """A seccomp program by which nobody makes a folder."""
    call = {"x86_64": 83, "aarch64": 34}[platform.machine()]
    load, equal, result = 0x20, 0x15, 0x06
    steps = [
        (load, 0, 0, 0),
        (equal, 0, 1, call),
        (result, 0, 0, 0x00050000 | errno.EXDEV),
        (result, 0, 0, 0x7FFF0000),
    ]
    with os.fdopen(os.memfd_create("filter"), "wb+", buffering=0) as file:
        file.write(b"".join(struct.pack("HBBI", *step) for step in steps))
        yield file.fileno()


async def test_a_command_is_counted_with_its_container(
    attempts: Path, keeper: Keeper, group: Path
) -> None:
    container = shell("exec sleep 1000", cgroups=[str(group)])
    attempt = await started(attempts / "0", keeper, container)

    async with joined(attempt, keeper, ["sleep", "1000"], ALL):
        await until(lambda: b"sleep\x001000\0" in commands_in(group))
    attempt.signal(signal.SIGKILL)
    async with asyncio.timeout(LIMIT_S):
        await attempt.ended()


def commands_in(group: Path) -> list[bytes]:
    """Of those who joined: the container's own has no such parent."""
    found = []
    for pid in (group / "cgroup.procs").read_text().split():
        with suppress(OSError):
            parent = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1]
            if b"\0join\0" in Path(f"/proc/{parent}/cmdline").read_bytes():
                found.append(Path(f"/proc/{pid}/cmdline").read_bytes())
    return found


@pytest.fixture
async def group(mark: str) -> AsyncIterator[Path]:
    """A control group of this test's own, in whatever hierarchy there is."""
    tops = [Path("/sys/fs/cgroup/pids"), Path("/sys/fs/cgroup")]
    top = next((each for each in tops if (each / "cgroup.procs").exists()), None)
    if top is None:
        pytest.skip("no control groups are mounted below /sys/fs/cgroup")
    made = top / mark
    made.mkdir()
    yield made
    for pid in (made / "cgroup.procs").read_text().split():
        with suppress(ProcessLookupError):
            os.kill(int(pid), signal.SIGKILL)
    await until(lambda: not (made / "cgroup.procs").read_text())
    made.rmdir()


async def test_nothing_of_our_environment_goes_in(
    attempt: Attempt, keeper: Keeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", "of the home")

    outcome = await said(attempt, keeper, "env; cat /proc/self/environ")

    assert b"SECRET" not in outcome.output


async def test_a_command_that_is_not_there_is_told_by_name(
    attempt: Attempt, keeper: Keeper
) -> None:
    with pytest.raises(NotJoined, match="cannot start nonsense: No such file or directory"):
        await completed(attempt, keeper, ["nonsense"])


async def test_nothing_joins_a_container_that_has_ended(attempt: Attempt, keeper: Keeper) -> None:
    attempt.signal(signal.SIGKILL)
    async with asyncio.timeout(LIMIT_S):
        await attempt.ended()

    with pytest.raises(NotJoined, match="does not run"):
        await completed(attempt, keeper, ["true"])


async def test_more_than_is_wanted_is_dropped(attempt: Attempt, keeper: Keeper) -> None:
    async with asyncio.timeout(LIMIT_S):
        outcome = await completed(
            attempt, keeper, ["sh", "-c", "head -c 1000000 /dev/zero; exit 3"], limit=100
        )

    assert (outcome.code, outcome.output) == (3, b"\0" * 100)


async def test_a_terminal_is_one_inside_too(attempt: Attempt, keeper: Keeper) -> None:
    streams = Streams(stdin=True, stdout=True, terminal=True)
    async with joined(attempt, keeper, ["sh"], streams) as command:
        assert command.stdin is not None
        command.resize(111, 33)
        await command.stdin.write(b"tty; stty size; echo term-$TERM; exit 3\n")
        shown = (await all_of(command.stdout)).decode()
        assert await command.wait() == 3

    for expected in ("/dev/pts/0", "33 111", "term-xterm"):
        assert expected in shown


async def test_a_key_on_a_terminal_interrupts(attempt: Attempt, keeper: Keeper) -> None:
    streams = Streams(stdin=True, stdout=True, terminal=True)
    script = "trap 'echo caught; exit 5' INT; echo here; while :; do sleep 0.05; done"
    async with joined(attempt, keeper, ["sh", "-c", script], streams) as command:
        assert command.stdin is not None
        await until_shown(command.stdout, b"here")
        await command.stdin.write(b"\x03")
        await until_shown(command.stdout, b"caught")
        async with asyncio.timeout(LIMIT_S):
            assert await command.wait() == 5


async def test_a_shell_is_interrupted_though_its_home_was_started_in_the_background(
    deaf: None, attempts: Path, keeper: Keeper
) -> None:
    attempt = await started(attempts / "0", keeper, WAITING)
    script = "trap 'echo caught; exit 5' INT; kill -INT $$; echo deaf"
    assert (await said(attempt, keeper, script)).output == b"caught\n"


async def test_a_terminal_is_of_the_user_of_the_container(attempts: Path, keeper: Keeper) -> None:
    container = shell("exec sleep 1000", rights=Rights(user=1234, group=5678))
    attempt = await started(attempts / "0", keeper, container)

    streams = Streams(stdout=True, terminal=True)
    async with joined(attempt, keeper, ["sh", "-c", "echo open > $(tty)"], streams) as command:
        await until_shown(command.stdout, b"open")
        async with asyncio.timeout(LIMIT_S):
            assert await command.wait() == 0


async def test_what_is_no_terminal_is_not_taken_for_one(attempts: Path, keeper: Keeper) -> None:
    script = "umount /dev/pts 2>/dev/null; rm -f /dev/ptmx; mkfifo /dev/ptmx; exec sleep 1000"
    attempt = await started(attempts / "0", keeper, shell(script))

    streams = Streams(stdout=True, terminal=True)
    async with joined(attempt, keeper, ["tty"], streams) as command:
        assert (await all_of(command.stdout)).startswith(b"/dev/pts/")


async def test_a_command_ends_with_whoever_wanted_it(
    attempt: Attempt, keeper: Keeper, mark: str
) -> None:
    script = f"sleep 1000 & : {mark}; trap '' TERM HUP INT; while :; do sleep 1000; done"
    async with joined(attempt, keeper, ["sh", "-c", script], ALL):
        await until(lambda: len(processes(mark)) >= 2)

    await until(lambda: not processes(mark))


async def test_a_command_ends_with_a_wait_that_is_given_up(
    attempt: Attempt, keeper: Keeper, mark: str
) -> None:
    script = f": {mark}; exec sleep 1000"
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await completed(attempt, keeper, ["sh", "-c", script])

    await until(lambda: not processes(mark))


async def test_a_command_ends_with_the_death_of_the_process_that_wanted_it(
    attempt: Attempt, keeper_program: Path, mark: str
) -> None:
    caller = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", CALLER, str(keeper_program), str(attempt.folder), mark)
    )
    await until(lambda: any(b"sleep" in _command(each) for each in processes(mark)))

    caller.kill()
    await caller.wait()

    await until(lambda: not processes(mark))
    assert attempt.is_running


def _command(pid: int) -> bytes:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
    return words if words.startswith(b"sh\0") else b""


CALLER = """
import asyncio, sys
from pathlib import Path
from kubevirt.embedded.runtime.attempt import Attempt
from kubevirt.embedded.runtime.joining import completed
from kubevirt.embedded.runtime.keeper import Keeper

async def main():
    with Keeper.open(Path(sys.argv[1])) as keeper:
        script = f"trap '' TERM HUP; : {sys.argv[3]}; while :; do sleep 1000; done"
        await completed(Attempt(Path(sys.argv[2])), keeper, ["sh", "-c", script])

asyncio.run(main())
"""


async def test_a_command_ends_with_its_container(attempt: Attempt, keeper: Keeper) -> None:
    script = "echo here; exec sleep 1000"
    async with joined(attempt, keeper, ["sh", "-c", script], ALL) as command:
        await until_shown(command.stdout, b"here")
        attempt.signal(signal.SIGKILL)
        async with asyncio.timeout(LIMIT_S):
            assert await command.wait() in (128 + signal.SIGKILL, -signal.SIGKILL, 125)


async def test_what_a_command_leaves_in_the_background_goes_on(
    attempt: Attempt, keeper: Keeper, mark: str
) -> None:
    outcome = await said(
        attempt, keeper, f"sh -c ': {mark}; sleep 1000; :' >/dev/null 2>&1 & echo done"
    )

    assert outcome == Outcome(code=0, output=b"done\n")
    assert processes(mark)


async def test_a_stream_that_is_left_open_is_not_waited_for_for_ever(
    attempt: Attempt, keeper: Keeper
) -> None:
    assert await said(attempt, keeper, "sleep 1000 & echo done") == Outcome(
        code=0, output=b"done\n"
    )


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def test_a_command_that_comes_early_sees_nothing_of_the_machine(
    attempts: Path, keeper: Keeper
) -> None:
    """While a sandbox is put together its first process still has the machine around it."""
    (attempts / "marker").touch()
    for number in range(8):
        attempt = Attempt(attempts / str(number))
        await attempt.start(WAITING, keeper)

        script = f"ls {attempts}/marker /oldroot 2>/dev/null; cat /proc/1/comm"
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(said(attempt, keeper, script)) for _ in range(4)]

        assert {task.result().output for task in tasks} == {b"sleep\n"}


async def test_many_commands_at_once(attempt: Attempt, keeper: Keeper) -> None:
    before = open_files()

    async with asyncio.timeout(LIMIT_S), asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(completed(attempt, keeper, ["sh", "-c", f"echo {n}; exit {n}"]))
            for n in range(40)
        ]

    assert [task.result() for task in tasks] == [
        Outcome(code=n, output=f"{n}\n".encode()) for n in range(40)
    ]
    assert open_files() <= before  # what others left open may be closed meanwhile
