"""Programs are run without a shell, within limits, and never outlive the task that wanted them."""

import ast
import asyncio
import io
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import kubevirt
from kubevirt.base import commands
from kubevirt.base.commands import Completed, Limits, run, spawn, stream
from kubevirt.base.errors import (
    CommandFailed,
    CommandTimedOut,
    OutputTooLarge,
    ProgramNotFound,
    Retry,
    UserError,
)
from kubevirt.base.log import configure, get_logger


async def python(program: str, **settings: object) -> Completed:
    return await run(sys.executable, "-c", program, **settings)  # type: ignore[arg-type]  # passed on


def is_alive(pid: int) -> bool:
    """A zombie is dead: whether init has taken notice is not our concern."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110  # other programs set no events of ours
            await asyncio.sleep(0.01)


def open_files() -> set[str]:
    return {path.name for path in Path("/proc/self/fd").iterdir()}


def zombies() -> list[str]:
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return [pid for pid in children if not is_alive(int(pid))]


# A program that starts another one in its group, tells both numbers and waits.
FAMILY = "sleep 1000 & echo $$ $! >{path}; wait"


async def family_in(path: Path) -> list[int]:
    def written() -> str:
        return path.read_text() if path.exists() else ""

    await until(lambda: written().endswith("\n"))
    return [int(each) for each in written().split()]


async def test_a_program_gives_its_output_and_exit_code() -> None:
    done = await python("import sys; print('out'); print('err', file=sys.stderr)")
    assert done == Completed(sys.executable, 0, b"out\n", b"err\n")
    assert done.text == "out\n"


async def test_arguments_reach_the_program_as_they_are() -> None:
    hostile = ("; touch /tmp/x", "$(id)", "`id`", "*", "a b", "", "-n", "ü\n")
    program = "import sys, json; print(json.dumps(sys.argv[1:]))"
    done = await run(sys.executable, "-c", program, *hostile)
    assert json.loads(done.stdout) == list(hostile)


async def test_a_program_sees_nothing_of_our_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBE_TOKEN", "hunter2")
    names = {line.split("=")[0] for line in (await run("env")).text.splitlines()}
    assert names == {"PATH", "LC_ALL"}
    assert (await run("env", env={"ONLY": "1"})).text == "ONLY=1\n"


async def test_input_larger_than_any_pipe_is_read_to_its_end() -> None:
    data = os.urandom(1 << 20) * 4
    done = await run("cat", stdin=data, output_limit=len(data))
    assert done.stdout == data


async def test_without_input_a_program_reads_nothing() -> None:
    assert (await run("cat")).stdout == b""


async def test_a_failure_names_the_program_the_code_and_its_last_words() -> None:
    program = (
        "import sys; [print('line', n, file=sys.stderr) for n in range(100)];"
        "print('\\x1b[31mdisk full', file=sys.stderr); sys.exit(3)"
    )
    with pytest.raises(CommandFailed) as caught:
        await python(program)
    message = str(caught.value)
    assert message.startswith(f"{sys.executable} ended with exit code 3: ")
    assert message.endswith("disk full")
    assert "line 10;" not in message
    assert message.isprintable()
    assert caught.value.exit_code == 3
    assert isinstance(caught.value, Retry)


async def test_a_failure_can_be_looked_at_instead() -> None:
    assert (await python("raise SystemExit(7)", check=False)).exit_code == 7


async def test_a_signal_is_named() -> None:
    with pytest.raises(CommandFailed, match=r"was ended by signal 9 \(Killed\)") as caught:
        await python("import os; os.kill(os.getpid(), 9)")
    assert caught.value.exit_code == -signal.SIGKILL


async def test_a_missing_program_comes_with_the_way_out() -> None:
    with pytest.raises(
        ProgramNotFound, match="there is no program no-such-thing in /usr"
    ) as caught:
        await run("no-such-thing")
    assert isinstance(caught.value, UserError)
    with pytest.raises(ProgramNotFound, match="install it with: apt-get install qemu-utils"):
        await run("qemu-img", env={"PATH": "/nowhere"})
    with pytest.raises(ProgramNotFound, match="there is no program /nowhere/x; install it or give"):
        await run("/nowhere/x")


@pytest.mark.parametrize(
    ("argument", "folder", "why"),
    [("zero\0byte", None, "null byte"), ("fine", Path("/nowhere"), "/nowhere")],
)
async def test_a_program_that_cannot_be_started_says_why(
    argument: str, folder: Path | None, why: str
) -> None:
    with pytest.raises(CommandFailed, match=f"true cannot be run: .*{why}"):
        await run("true", argument, cwd=folder)


async def test_a_program_runs_in_the_folder_it_is_given(tmp_path: Path) -> None:
    await run("touch", "here", cwd=tmp_path)
    assert (await run("ls", tmp_path)).text == "here\n"


async def test_a_program_that_takes_too_long_is_ended_with_its_family(tmp_path: Path) -> None:
    path = tmp_path / "family"
    with pytest.raises(CommandTimedOut, match=r"sh did not finish within 0\.5 s and was ended: hm"):
        await run("sh", "-c", f"echo hm >&2; {FAMILY.format(path=path)}", timeout_s=0.5)
    family = await family_in(path)
    await until(lambda: not any(is_alive(pid) for pid in family))


async def test_cancelling_the_task_ends_the_program_with_its_family(tmp_path: Path) -> None:
    path = tmp_path / "family"
    async with asyncio.TaskGroup() as group:
        task = group.create_task(run("sh", "-c", FAMILY.format(path=path)))
        family = await family_in(path)
        task.cancel()
    assert task.cancelled()
    await until(lambda: not any(is_alive(pid) for pid in family))


async def test_a_task_cancelled_at_once_leaves_nothing_behind() -> None:
    before = open_files()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(run("sleep", "1000"))
        await asyncio.sleep(0)
        task.cancel()
    await asyncio.sleep(0)
    assert open_files() == before
    assert not zombies()


async def test_a_program_that_hangs_in_the_kernel_is_named_and_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(commands, "KILL_S", 0.05)
    async with spawn("sleep", "1000") as process:
        with monkeypatch.context() as kernel:
            kernel.setattr(os, "killpg", lambda pid, number: None)
            with pytest.raises(CommandFailed, match="was killed and does not end: it hangs in the"):
                await process.terminate(grace_s=0.05)


async def test_what_a_program_leaves_in_its_group_ends_with_it(tmp_path: Path) -> None:
    path = tmp_path / "left"
    began = time.monotonic()
    await run("sh", "-c", f"sleep 1000 & echo $! >{path}")
    assert time.monotonic() - began < 10
    left = int(path.read_text())
    await until(lambda: not is_alive(left))


async def test_a_daemon_that_holds_the_output_open_keeps_nobody_waiting() -> None:
    began = time.monotonic()
    done = await run("sh", "-c", "echo started; setsid sleep 8 & exit 0")
    assert done.text == "started\n"
    assert time.monotonic() - began < 7


@pytest.mark.parametrize("where", ["stdout", "stderr"])
async def test_a_program_that_prints_too_much_is_ended(where: str) -> None:
    program = f"import sys\nwhile True: sys.{where}.write('x' * 65536)"
    with pytest.raises(OutputTooLarge, match="printed more than 100000 bytes and was ended"):
        await python(program, output_limit=100_000)


async def test_output_of_exactly_the_limit_is_fine() -> None:
    done = await python("print('x' * 99, end='')", output_limit=99)
    assert len(done.stdout) == 99
    with pytest.raises(OutputTooLarge):
        await python("print('x' * 100, end='')", output_limit=99)


async def test_cpu_time_can_be_limited() -> None:
    with pytest.raises(CommandFailed, match="used up the CPU time it was allowed"):
        await python("while True: pass", limits=Limits(cpu_s=1))


async def test_threads_of_a_program_with_little_memory_set_none_aside() -> None:
    """Else qemu-img ran out of address space on a busy machine, and the image was blamed."""
    crowd = (
        "import threading as t; b = t.Barrier(13);"
        " all_ = [t.Thread(target=lambda: (bytearray(9), b.wait())) for _ in range(12)];"
        " [each.start() for each in all_]; b.wait();"
        " print(next(l for l in open('/proc/self/status') if l.startswith('VmPeak')).split()[1])"
    )
    done = await python(crowd, limits=Limits(memory_bytes=1 << 30))
    assert int(done.stdout) < 400 << 10, "KiB; 12 heaps alone would be 768 MiB"


async def test_memory_file_size_and_open_files_can_be_limited(tmp_path: Path) -> None:
    with pytest.raises(CommandFailed, match="MemoryError"):
        await python("bytearray(1 << 30)", limits=Limits(memory_bytes=1 << 29))
    big = tmp_path / "big"
    with pytest.raises(CommandFailed):
        await run("head", "-c", "1M", "/dev/zero", limits=Limits(file_bytes=1), output_limit=1)
    with pytest.raises(CommandFailed):
        await run("cp", "/proc/self/exe", big, limits=Limits(file_bytes=4096))
    assert big.stat().st_size <= 4096
    with pytest.raises(CommandFailed, match="Too many open files"):
        await python("[open('/dev/null') for _ in range(50)]", limits=Limits(open_files=20))


async def test_a_limited_program_is_itself_and_leaves_no_core() -> None:
    program = "import os, resource; print(os.getpid(), resource.getrlimit(resource.RLIMIT_CORE))"
    assert (await python(program, limits=Limits())).text.endswith("(0, 0)\n")


async def test_a_file_can_be_handed_over() -> None:
    reading, writing = os.pipe()
    try:
        await python(f"import os; os.write({writing}, b'through')", pass_fds=[writing])
        assert os.read(reading, 100) == b"through"
    finally:
        os.close(reading)
        os.close(writing)


async def test_an_attended_program_stays_in_our_session_with_our_standard_error(
    capfd: pytest.CaptureFixture[str],
) -> None:
    program = "import os, sys; print(os.getsid(0)); print('code?', file=sys.stderr)"
    done = await python(program, attended=True, stdin=None)
    assert int(done.text) == os.getsid(0)
    assert done.stderr == b""
    assert capfd.readouterr().err == "code?\n"
    assert int((await python(program)).text) != os.getsid(0)


async def test_an_attended_program_that_takes_too_long_is_ended_alone() -> None:
    with pytest.raises(CommandTimedOut):
        await run("sleep", "1000", attended=True, timeout_s=0.2)


async def test_no_zombie_and_no_open_file_is_left() -> None:
    before = open_files()
    await run("true")
    with pytest.raises(CommandTimedOut):
        await run("sleep", "1000", timeout_s=0.05)
    await asyncio.sleep(0)
    assert open_files() == before
    assert not zombies()


async def test_a_kernel_without_pidfd_serves_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(pid: int) -> int:
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(os, "pidfd_open", missing)
    assert (await run("echo", "fine")).text == "fine\n"
    with pytest.raises(CommandTimedOut):
        await run("sleep", "1000", timeout_s=0.05)


async def test_many_programs_run_at_once() -> None:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(run("echo", str(n))) for n in range(40)]
    assert [task.result().text for task in tasks] == [f"{n}\n" for n in range(40)]


async def test_lines_come_while_the_program_runs() -> None:
    program = (
        "import sys, time\n"
        "for n in range(3): print(f'({n}/100%)', end='\\r', flush=True); time.sleep(0.01)\n"
        "print('\\ndone\\nlast', end='')"
    )
    async with stream(sys.executable, "-c", program) as lines:
        assert [line async for line in lines] == [
            "(0/100%)",
            "(1/100%)",
            "(2/100%)",
            "done",
            "last",
        ]


async def test_a_failure_comes_after_the_last_line() -> None:
    seen = []

    async def read_all() -> None:
        async with stream("sh", "-c", "echo one; echo broken >&2; exit 4") as lines:
            async for line in lines:
                seen.append(line)  # noqa: PERF401  # what came before the error counts

    with pytest.raises(CommandFailed, match="sh ended with exit code 4: broken"):
        await read_all()
    assert seen == ["one"]


async def test_leaving_the_lines_early_ends_the_program(tmp_path: Path) -> None:
    path = tmp_path / "family"
    async with stream("sh", "-c", f"echo ready; {FAMILY.format(path=path)}") as lines:
        async for line in lines:
            assert line == "ready"
            break
        family = await family_in(path)
    await until(lambda: not any(is_alive(pid) for pid in family))


async def test_a_line_without_end_is_refused() -> None:
    async def read_all() -> None:
        async with stream("cat", "/dev/zero") as lines:
            async for _ in lines:
                pass

    with pytest.raises(OutputTooLarge, match="cat printed a line of more than 65536 bytes"):
        await read_all()


async def test_lines_have_a_time_limit_that_is_not_mistaken_for_the_bodys() -> None:
    async def read_all() -> None:
        async with stream("sleep", "1000", timeout_s=0.1) as lines:
            async for _ in lines:
                pass

    async def give_up() -> None:
        async with stream("sleep", "1000"):
            raise TimeoutError

    with pytest.raises(CommandTimedOut, match=r"sleep did not finish within 0\.1 s"):
        await read_all()
    with pytest.raises(TimeoutError):
        await give_up()


async def test_a_daemon_ends_with_the_body(tmp_path: Path) -> None:
    path = tmp_path / "family"
    async with spawn("sh", "-c", FAMILY.format(path=path)) as process:
        family = await family_in(path)
        assert process.pid == family[0]
        was_running = process.is_running
    assert (was_running, process.is_running) == (True, False)
    await until(lambda: not any(is_alive(pid) for pid in family))


async def test_a_daemon_that_ignores_the_request_is_killed(tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    program = f"trap '' TERM; touch {ready}; while :; do sleep 0.05; done"
    async with spawn("sh", "-c", program, grace_s=0.2) as process:
        await until(ready.exists)
    assert await process.wait() == -signal.SIGKILL


async def test_a_daemon_may_end_by_itself_or_by_a_signal() -> None:
    async with spawn("sh", "-c", "exit 5") as process:
        assert await process.wait() == 5
        process.send(signal.SIGHUP)  # too late, and no harm done
    async with spawn("sleep", "1000") as process:
        # Not SIGINT: a shell that runs us in the background lets its children ignore that one.
        process.send(signal.SIGUSR1)
        assert await process.wait() == -signal.SIGUSR1
    async with spawn("sleep", "1000") as process:
        assert await process.terminate() == -signal.SIGTERM


async def test_waiting_for_a_daemon_can_be_given_up_without_harm() -> None:
    async with spawn("sleep", "1000") as process:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await process.wait()
        assert process.is_running


@pytest.fixture
def logged() -> Iterator[io.StringIO]:
    stream = io.StringIO()
    logs = configure("virt-launcher", stream=stream)
    yield stream
    logs.close()


async def test_what_a_daemon_prints_goes_to_the_log_line_by_line(logged: io.StringIO) -> None:
    log = get_logger("host.dns").bind(subcomponent="dnsmasq")
    program = "printf 'one\\ntw'; printf 'o\\n' >&2; printf 'three'"
    async with spawn("sh", "-c", program, output=log) as process:
        await process.wait()
        await until(lambda: "three" in logged.getvalue())
    lines = [json.loads(line) for line in logged.getvalue().splitlines()]
    assert [line["line"] for line in lines] == ["one", "two", "three"]
    assert {line["subcomponent"] for line in lines} == {"dnsmasq"}
    assert {line["program"] for line in lines} == {"sh"}


async def test_a_daemon_that_prints_without_line_ends_fills_no_memory(logged: io.StringIO) -> None:
    async with spawn("head", "-c", "1M", "/dev/zero", output=get_logger("host.noise")) as process:
        await process.wait()
    assert len(logged.getvalue()) < 2_000_000


async def test_what_a_daemon_prints_goes_to_a_file(tmp_path: Path) -> None:
    path = tmp_path / "log"
    with path.open("wb") as file:
        async with spawn("sh", "-c", "echo out; echo err >&2", output=file) as process:
            await process.wait()
    assert path.read_text() == "out\nerr\n"


# What starts a program, by the module that has it. `exec` the builtin and `re`'s are others.
STARTERS = {
    "asyncio": {"create_subprocess_exec", "create_subprocess_shell"},
    "os": {"system", "popen", "fork", "forkpty", "posix_spawn", "posix_spawnp"}
    | {name for name in dir(os) if name.startswith(("exec", "spawn"))},
    "pty": {"fork", "spawn"},
}
STARTER_MODULES = {"subprocess", "multiprocessing", "pty"}


def starters_in(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (each.name for each in names if each.name in STARTER_MODULES)
            case ast.ImportFrom(module=str(module), names=names):
                if module in STARTER_MODULES:
                    yield module
                taken = STARTERS.get(module.split(".")[0], set())
                yield from (f"{module}.{each.name}" for each in names if each.name in taken)
            case ast.Attribute(attr=name) if name in STARTERS["asyncio"]:
                yield name
            case ast.Attribute(value=ast.Name(id=module), attr=name):
                if name in STARTERS.get(module, set()):
                    yield f"{module}.{name}"


ARGUED = {
    # The first process of a launcher imports nothing of the house: its memory is every guest's.
    "components/launcher/monitor.py: os.posix_spawn",
    # virt-launcher becomes that process once it has read its flags; nobody is left to wait for it.
    "components/launcher/main.py: os.execv",
    "components/launcher/main.py: os.execve",
    # No program is started: the manager copies itself before it has threads, to prepare a guest in memory
    # that is given back. It ends when the manager's end of their line is closed, whoever closed it.
    "components/launcher/preparer.py: os.fork",
    # `virtctl up` leaves the process of a home behind, and nobody is left to wait for it.
    "embedded/process/daemon.py: os.posix_spawn",
    # `virtctl ssh` becomes ssh: the terminal, the signals and the exit code are its own.
    "cli/openssh.py: os.execve",
    # A home for tests is brought up by the program that users call, where there may be no event loop yet.
    "testing/home.py: subprocess",
}


def test_only_this_module_starts_programs() -> None:
    source = Path(kubevirt.__file__).parent
    found = {
        f"{path.relative_to(source)}: {starter}"
        for path in source.rglob("*.py")
        if path != source / "base" / "commands.py"
        for starter in starters_in(ast.parse(path.read_text()))
    }
    assert not found - ARGUED, "programs are started through kubevirt.base.commands"


@pytest.mark.parametrize(
    "source",
    [
        "import subprocess",
        "from subprocess import run",
        "import os\nos.system('x')",
        "import os\nos.execv('x', [])",
        "from os import posix_spawn",
        "import asyncio\nasyncio.create_subprocess_exec('x')",
        "from asyncio.subprocess import create_subprocess_exec",
        "asyncio.subprocess.create_subprocess_shell('x')",
    ],
)
def test_the_guard_sees_every_way_to_start_a_program(source: str) -> None:
    assert list(starters_in(ast.parse(source)))
