"""Containers below their keeper: what they say, how they end, and who may end them."""

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from kubevirt.embedded.runtime import capabilities
from kubevirt.embedded.runtime.attempt import Attempt, Ending, NotStarted
from kubevirt.embedded.runtime.container import Container, Mount, Rights
from kubevirt.embedded.runtime.keeper import Keeper

LIMIT_S = 60.0
PATH = {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin"}

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="sandboxes of pods are made by root")


def shell(script: str, **more: object) -> Container:
    plain = Container(command=["sh", "-c", script], environment=PATH)
    return msgspec.structs.replace(plain, **more)


async def ran(attempt: Attempt, container: Container, keeper: Keeper) -> Ending:
    await attempt.start(container, keeper)
    async with asyncio.timeout(LIMIT_S):
        return await attempt.ended()


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(LIMIT_S):
        while not holds():  # noqa: ASYNC110  # what is waited for is in files
            await asyncio.sleep(0.01)


def lines(attempt: Attempt) -> list[str]:
    """What it said, without the times."""
    text = (attempt.folder / "log").read_text()
    return [line.split(" ", 1)[1] for line in text.splitlines()]


async def test_a_container_says_what_it_says_and_ends_as_it_ends(
    attempts: Path, keeper: Keeper
) -> None:
    attempt = Attempt(attempts / "0")

    ending = await ran(attempt, shell("echo one; echo two >&2; printf three; exit 7"), keeper)

    assert (ending.code, ending.failure, ending.is_lost) == (7, "", False)
    assert sorted(lines(attempt)) == ["stderr F two", "stdout F one", "stdout P three"]


async def test_a_container_has_the_rights_it_was_given_and_no_other(
    attempts: Path, keeper: Keeper
) -> None:
    rights = Rights(user=1234, group=5678, groups=(9, 10), capabilities=("NET_RAW",))
    attempt = Attempt(attempts / "0")

    await ran(
        attempt, shell("id -u; id -G; grep -E 'Cap|NoNew' /proc/self/status", rights=rights), keeper
    )

    said = [line.removeprefix("stdout F ") for line in lines(attempt)]
    assert said[:2] == ["1234", "5678 9 10"]
    found = dict(line.split(":\t") for line in said[2:])
    assert found["CapEff"] == found["CapPrm"] == found["CapAmb"] == "0" * 16
    assert int(found["CapBnd"], 16) == capabilities.mask(["NET_RAW"])
    assert found["NoNewPrivs"] == "1"


async def test_root_in_a_container_finds_nothing_of_the_machine(
    attempts: Path, keeper: Keeper, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text("of the home")
    script = (
        f"ls /root /home /run /etc/shadow {tmp_path}; ls -A /root /run; cat /proc/1/comm;"
        " ls /proc/self/fd | wc -l"
    )
    attempt = Attempt(attempts / "0")

    await ran(attempt, shell(script), keeper)

    said = "\n".join(lines(attempt))
    assert "secret" not in said
    assert f"cannot access '{tmp_path}'" in said
    assert "cannot access '/home'" in said
    assert "cannot access '/etc/shadow'" in said
    assert "stdout F sh" in said  # its first process is its own
    assert "stdout F 4" in said  # three streams and the folder that ls reads


async def test_a_command_that_is_not_there_is_told_by_name(attempts: Path, keeper: Keeper) -> None:
    attempt = Attempt(attempts / "0")

    ending = await ran(attempt, Container(command=["nonsense"], environment=PATH), keeper)

    assert ending.code == 127
    assert ending.failure == "cannot start nonsense: No such file or directory"


async def test_a_sandbox_that_cannot_be_made_tells_why(attempts: Path, keeper: Keeper) -> None:
    attempt = Attempt(attempts / "0")
    missing = Mount(source=str(attempts / "not-there"), target="/data")

    ending = await ran(attempt, shell("true", mounts=[missing]), keeper)

    assert ending.code != 0
    assert "not-there" in ending.failure


async def test_a_control_group_that_is_not_there_keeps_a_container_from_starting(
    attempts: Path, keeper: Keeper
) -> None:
    attempt = Attempt(attempts / "0")

    ending = await ran(attempt, shell("true", cgroups=[str(attempts / "group")]), keeper)

    assert ending.code == 125
    assert "cannot enter the control group" in ending.failure


async def test_a_signal_reaches_the_first_process(attempts: Path, keeper: Keeper) -> None:
    attempt = Attempt(attempts / "0")
    await attempt.start(
        shell("trap 'echo bye; exit 3' TERM; echo here; while :; do sleep 0.05; done"), keeper
    )
    await until(lambda: "stdout F here" in lines(attempt))

    attempt.signal(signal.SIGTERM)

    async with asyncio.timeout(LIMIT_S):
        assert (await attempt.ended()).code == 3
    assert "stdout F bye" in lines(attempt)


async def test_all_processes_end_with_the_first(attempts: Path, keeper: Keeper) -> None:
    attempt = Attempt(attempts / "0")
    await attempt.start(shell("sleep 1000 & echo here; exec sleep 1000"), keeper)
    await until(lambda: (attempt.folder / "log").exists() and "stdout F here" in lines(attempt))

    attempt.signal(signal.SIGKILL)

    async with asyncio.timeout(LIMIT_S):
        assert (await attempt.ended()).code == 137


async def test_an_attempt_is_found_again_after_the_death_of_who_started_it(
    attempts: Path, keeper_program: Path
) -> None:
    """Started by another process, which is killed at once; its log has no gap."""
    folder = attempts / "0"
    starter = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", STARTER, str(keeper_program), str(folder)),
        stdout=asyncio.subprocess.PIPE,
    )
    assert starter.stdout is not None
    assert await starter.stdout.readline() == b"started\n"
    starter.kill()
    await starter.wait()

    (attempt,) = Attempt.all_in(attempts)
    assert attempt.is_running
    async with asyncio.timeout(LIMIT_S):
        ending = await attempt.ended()

    assert (ending.code, ending.is_lost) == (5, False)
    assert lines(attempt) == [f"stdout F {number}" for number in range(1, 51)]


STARTER = """
import asyncio, sys
from pathlib import Path
from kubevirt.embedded.runtime.attempt import Attempt
from kubevirt.embedded.runtime.container import Container
from kubevirt.embedded.runtime.keeper import Keeper

script = "for i in $(seq 50); do echo $i; sleep 0.02; done; exit 5"
container = Container(command=["sh", "-c", script], environment={"PATH": "/usr/bin:/bin"})

async def main():
    with Keeper.open(Path(sys.argv[1])) as keeper:
        await Attempt(Path(sys.argv[2])).start(container, keeper)
        print("started", flush=True)
        await asyncio.sleep(60)

asyncio.run(main())
"""


async def test_a_container_whose_keeper_was_killed_is_lost_and_gone(
    attempts: Path, keeper: Keeper
) -> None:
    attempt = Attempt(attempts / "0")
    await attempt.start(shell("exec sleep 1000"), keeper)
    await until(lambda: attempt_pid(attempt) is not None)
    pid = attempt_pid(attempt)
    started = json.loads((attempt.folder / "started.json").read_text())

    os.kill(started["keeper"], signal.SIGKILL)

    async with asyncio.timeout(LIMIT_S):
        ending = await attempt.ended()
    assert (ending.code, ending.is_lost) == (137, True)
    await until(lambda: not Path(f"/proc/{pid}").exists())


def attempt_pid(attempt: Attempt) -> int | None:
    with attempt.pinned() as pidfd:
        if pidfd is None:
            return None
        fields = Path(f"/proc/self/fdinfo/{pidfd}").read_text().split()
        return int(fields[fields.index("Pid:") + 1])


async def test_an_attempt_runs_once(attempts: Path, keeper: Keeper) -> None:
    attempt = Attempt(attempts / "0")
    await attempt.start(shell("exec sleep 1000"), keeper)

    with pytest.raises(NotStarted, match="runs already"):
        await attempt.start(shell("true"), keeper)

    attempt.signal(signal.SIGKILL)


async def test_a_log_is_rotated_between_lines_and_the_oldest_goes(
    attempts: Path, keeper: Keeper
) -> None:
    attempt = Attempt(attempts / "0")

    await ran(attempt, shell("seq 1000", log_bytes=4096, log_files=3), keeper)

    kept = [attempt.folder / name for name in ("log.2", "log.1", "log")]
    assert sorted(attempt.folder.glob("log*")) == sorted(kept)
    assert all(each.stat().st_size <= 4096 for each in kept)
    numbers = [int(line.split()[-1]) for each in kept for line in each.read_text().splitlines()]
    assert numbers == list(range(numbers[0], 1001))


async def test_a_line_without_end_is_written_in_pieces(attempts: Path, keeper: Keeper) -> None:
    attempt = Attempt(attempts / "0")

    await ran(attempt, shell("head -c 40000 /dev/zero | tr '\\0' x; echo end"), keeper)

    tags = [line.split(" ", 2)[1:] for line in lines(attempt)]
    assert [tag for tag, _ in tags] == ["P", "P", "F"]
    assert "".join(text for _, text in tags) == "x" * 40000 + "end"


async def test_a_sandbox_that_was_killed_while_it_began_leaves_no_process_behind(
    attempts: Path,
) -> None:
    """It waited for the word to go on, which nobody could give any more; a storm of kills found one in thousands."""
    attempt = Attempt(attempts / "0")
    attempt.folder.mkdir()
    go, told = os.pipe(), os.pipe()
    words = ["--unshare-user", "--unshare-pid", "--as-pid-1", "--ro-bind", "/", "/"]
    between = ["--userns-block-fd", str(go[0]), "--info-fd", str(told[1])]
    sandbox = await asyncio.create_subprocess_exec(
        *("bwrap", *words, *between, "sleep", "1000"), pass_fds=(go[0], told[1])
    )
    try:
        status = b""
        while b"}" not in status:  # it is told in pieces
            status += await asyncio.to_thread(os.read, told[0], 4096)
        first = json.loads(status)["child-pid"]
        pidfd = os.pidfd_open(first)
    finally:
        sandbox.kill()
        await sandbox.wait()
        for end in (*go, *told):
            os.close(end)

    def is_there() -> bool:
        return Path(f"/proc/{first}").exists()

    assert is_there()
    for name in ("status.json", "started.json", "lock"):
        (attempt.folder / name).touch()
    (attempt.folder / "status.json").write_text(json.dumps({"child-pid": first}))

    try:
        assert (await attempt.ended()).is_lost
        await until(lambda: not is_there())
    finally:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(pidfd, signal.SIGKILL)
        os.close(pidfd)
