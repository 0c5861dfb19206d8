"""Programs: the one way to run another one.

    done = await run("qemu-img", "info", "--output=json", disk, limits=Limits(cpu_s=20))

    async with stream("qemu-img", "convert", "-p", old, new, timeout_s=3600) as lines:
        async for line in lines: ...

    async with spawn("dnsmasq", "--keep-in-foreground", output=log) as process:
        await process.wait()

There is no shell, ever: a program gets its arguments as they are. It gets a small environment, not
ours, which may hold tokens. It runs in a session of its own, and whatever is left of its process
group ends with it, with its time limit, and with the task that wanted it. What it prints is bounded.

Python's asyncio keeps a thread for each program; here the kernel tells through a pidfd that one has
ended. Only then is it reaped, and until then its number stays taken: no signal reaches a stranger.
"""

import asyncio
import os
import shutil
import signal
import subprocess
import threading
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from kubevirt.base import search_path
from kubevirt.base.errors import CommandFailed, CommandTimedOut, ProgramNotFound
from kubevirt.base.log import Logger
from kubevirt.base.output import Gathered, LoggedLines, drained, lines_of

SEARCH_PATH: Final = search_path.SEARCH_PATH
ENVIRONMENT: Final[Mapping[str, str]] = {"PATH": SEARCH_PATH, "LC_ALL": "C.UTF-8"}
"""What a program sees unless its caller says otherwise: answers must not depend on who started us."""

_ONE_HEAP: Final[Mapping[str, str]] = {"MALLOC_ARENA_MAX": "1"}
"""Otherwise each thread sets 64 MiB of address space aside, and how many there are depends on how busy the machine
is: so does whether a limit of address space is kept.
"""
TIMEOUT_S: Final = 30.0
OUTPUT_LIMIT: Final = 1 << 20
GRACE_S: Final = 5.0
"""How long a program may take to end after SIGTERM, before SIGKILL."""

KILL_S: Final = 10.0
_UNKILLABLE: Final = (
    "was killed and does not end: it hangs in the kernel, mostly on a disk or a mount that does not"
    " answer"
)

# Debian's names for what the product runs: the way out of a missing program.
_PACKAGES: Final = {
    "bwrap": "bubblewrap",
    "dnsmasq": "dnsmasq-base",
    "ip": "iproute2",
    "libvirtd": "libvirt-daemon",
    "losetup": "mount",
    "nft": "nftables",
    "nsenter": "util-linux",
    "passt": "passt",
    "prlimit": "util-linux",
    "qemu-img": "qemu-utils",
    "ssh": "openssh-client",
    "swtpm": "swtpm",
    "zstd": "zstd",
}

Argument = str | os.PathLike[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What the kernel allows a program that works on hostile input. None means no limit."""

    cpu_s: int | None = None
    """Seconds of CPU time, over all threads."""
    memory_bytes: int | None = None
    """Address space, which is more than the memory it really uses."""
    file_bytes: int | None = None
    """The largest file it may write."""
    open_files: int | None = None

    def wrapped(self, argv: Sequence[str]) -> list[str]:
        """`prlimit` sets the limits and becomes the program, so none of our code runs after a fork."""
        options = ["--core=0"]
        if self.cpu_s is not None:
            # The soft limit gives SIGXCPU, which tells why; the hard one is for who ignores it.
            options.append(f"--cpu={self.cpu_s}:{self.cpu_s + 1}")
        if self.memory_bytes is not None:
            options.append(f"--as={self.memory_bytes}")
        if self.file_bytes is not None:
            options.append(f"--fsize={self.file_bytes}")
        if self.open_files is not None:
            options.append(f"--nofile={self.open_files}")
        return [_find("prlimit", SEARCH_PATH), *options, "--", *argv]


@dataclass(frozen=True, slots=True)
class Completed:
    """A program that has ended by itself."""

    program: str
    exit_code: int
    """Negative for a signal, as in `subprocess`."""
    stdout: bytes
    stderr: bytes

    @property
    def text(self) -> str:
        return self.stdout.decode(errors="replace")

    def check(self) -> "Completed":
        """Itself, if the program says that all went well."""
        if self.exit_code == 0:
            return self
        how = _ending(self.exit_code)
        raise CommandFailed(self.program, how, exit_code=self.exit_code, stderr=self.stderr)


async def run(
    program: str,
    *args: Argument,
    stdin: bytes | None = b"",
    timeout_s: float = TIMEOUT_S,
    output_limit: int = OUTPUT_LIMIT,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    check: bool = True,
    limits: Limits | None = None,
    pass_fds: Sequence[int] = (),
    attended: bool = False,
) -> Completed:
    """Runs a program to its end and returns what it printed.

    `env` is its whole environment, but for what a limit of memory adds. `attended` is for programs that may
    ask a person: they keep our terminal and write to our standard error; with None for `stdin` they read our
    standard input.
    """
    with _as_file(stdin) as given:
        process = _start(
            program,
            args,
            stdin=given,
            stdout=subprocess.PIPE,
            stderr=None if attended else subprocess.PIPE,
            env=env,
            cwd=cwd,
            limits=limits,
            pass_fds=pass_fds,
            own_session=not attended,
        )
    async with process.ending():
        stdout = await process.gather(process.stdout, output_limit)
        stderr = await process.gather(process.stderr, output_limit)
        try:
            async with asyncio.timeout(timeout_s):
                exit_code = await process.wait()
        except TimeoutError:
            raise _timed_out(program, timeout_s, stderr) from None
        await drained(stdout, stderr)
    for output in (stdout, stderr):
        output.check(program)
    completed = Completed(program, exit_code, bytes(stdout.data), bytes(stderr.data))
    return completed.check() if check else completed


@asynccontextmanager
async def stream(
    program: str,
    *args: Argument,
    timeout_s: float = TIMEOUT_S,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    limits: Limits | None = None,
    pass_fds: Sequence[int] = (),
) -> AsyncIterator[AsyncIterator[str]]:
    """Runs a program beside the body, which reads its lines as they come.

    A carriage return ends a line too: that is how progress is printed. A body that reads to the end
    learns from a `CommandFailed` that the program failed; one that leaves early ends the program.
    """
    process = _start(
        program,
        args,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=env,
        cwd=cwd,
        limits=limits,
        pass_fds=pass_fds,
    )
    async with process.ending():
        reader = await process.read(process.stdout)
        stderr = await process.gather(process.stderr, OUTPUT_LIMIT)
        limit = asyncio.timeout(timeout_s)
        try:
            async with limit, aclosing(lines_of(reader, program)) as lines:
                yield lines
                if not reader.at_eof():
                    return
                exit_code = await process.wait()
        except TimeoutError:
            if not limit.expired():
                raise  # the body's own
            raise _timed_out(program, timeout_s, stderr) from None
        await drained(stderr)
    stderr.check(program)
    Completed(program, exit_code, b"", bytes(stderr.data)).check()


@asynccontextmanager
async def spawn(
    program: str,
    *args: Argument,
    output: Logger | IO[bytes] | None = None,
    grace_s: float = GRACE_S,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    limits: Limits | None = None,
    pass_fds: Sequence[int] = (),
) -> AsyncIterator["Process"]:
    """Keeps a program running beside the body and ends it with the body.

    It must stay in the foreground. `output` takes what it prints on either stream: a logger gets
    each line as an event, a file gets the bytes.
    """
    target = subprocess.PIPE if isinstance(output, Logger) else output
    process = _start(
        program,
        args,
        stdin=subprocess.DEVNULL,
        stdout=target or subprocess.DEVNULL,
        stderr=subprocess.STDOUT,
        env=env,
        cwd=cwd,
        limits=limits,
        pass_fds=pass_fds,
    )
    async with process.ending(grace_s):
        if isinstance(output, Logger):
            await process.log_lines(process.stdout, output)
        yield process


class Process:
    """A running program with everything it started in its process group."""

    def __init__(self, popen: subprocess.Popen[bytes], program: str, *, own_session: bool) -> None:
        self.program = program
        self.pid = popen.pid
        self.stdout = popen.stdout
        self.stderr = popen.stderr
        self._popen = popen
        self._own_session = own_session
        self._loop = asyncio.get_running_loop()
        self._exit: asyncio.Future[int] = self._loop.create_future()
        self._pipes = [pipe for pipe in (self.stdout, self.stderr) if pipe]
        self._transports: list[asyncio.BaseTransport] = []
        try:
            self._pidfd = os.pidfd_open(self.pid)
            self._loop.add_reader(self._pidfd, self._reap)
        except OSError:  # a kernel before 5.3, or a sandbox that hides the call
            self._pidfd = -1
            threading.Thread(target=self._watch, daemon=True).start()

    @property
    def is_running(self) -> bool:
        return not self._exit.done()

    async def wait(self) -> int:
        """Its exit code, or a signal as a negative number."""
        return await asyncio.shield(self._exit)

    def send(self, number: signal.Signals) -> None:
        """To the program alone, if it still runs."""
        if self.is_running:
            os.kill(self.pid, number)

    async def terminate(self, grace_s: float = GRACE_S) -> int:
        """Asks it and its group to end, and makes them after `grace_s`."""
        self._signal_all(signal.SIGTERM)
        try:
            async with asyncio.timeout(grace_s):
                return await self.wait()
        except TimeoutError:
            pass
        finally:
            self.kill()  # also when nobody waits any longer: it is reaped when it is gone
        try:
            async with asyncio.timeout(KILL_S):
                return await self.wait()
        except TimeoutError:
            raise CommandFailed(self.program, _UNKILLABLE) from None

    def kill(self) -> None:
        self._signal_all(signal.SIGKILL)

    @asynccontextmanager
    async def ending(self, grace_s: float = GRACE_S) -> AsyncIterator[None]:
        """However the body ends, the program has ended and its output is closed afterwards."""
        try:
            yield
        finally:
            try:
                await self.terminate(grace_s)
            finally:
                self._close_output()

    async def gather(self, pipe: IO[bytes] | None, limit: int) -> Gathered:
        gathered = Gathered(limit, too_much=self.kill)
        await self._connect(pipe, gathered)
        return gathered

    async def read(self, pipe: IO[bytes] | None) -> asyncio.StreamReader:
        reader = asyncio.StreamReader()
        await self._connect(pipe, asyncio.StreamReaderProtocol(reader))
        return reader

    async def log_lines(self, pipe: IO[bytes] | None, log: Logger) -> None:
        await self._connect(pipe, LoggedLines(log.bind(program=self.program)))

    async def _connect(self, pipe: IO[bytes] | None, protocol: asyncio.Protocol) -> None:
        if pipe is None:
            protocol.connection_lost(None)
            return
        self._pipes.remove(pipe)
        transport, _ = await self._loop.connect_read_pipe(lambda: protocol, pipe)
        self._transports.append(transport)

    def _close_output(self) -> None:
        for transport in self._transports:
            transport.close()
        for pipe in self._pipes:
            pipe.close()

    def _signal_all(self, number: signal.Signals) -> None:
        if not self.is_running:
            return
        with suppress(ProcessLookupError):
            if self._own_session:
                os.killpg(self.pid, number)
            else:
                os.kill(self.pid, number)

    def _reap(self) -> None:
        """It has ended. What it left behind in its group ends too, while the number is still its."""
        self.kill()
        if self._pidfd >= 0:
            self._loop.remove_reader(self._pidfd)
            os.close(self._pidfd)
        self._exit.set_result(self._popen.wait())

    def _watch(self) -> None:
        os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
        with suppress(RuntimeError):  # the loop is closed: nobody wants to know
            self._loop.call_soon_threadsafe(self._reap)


@contextmanager
def _as_file(data: bytes | None) -> Iterator[int | None]:
    """Input as a file in memory: no pipe that fills up, nobody who must keep writing."""
    if data is None:
        yield None
        return
    with os.fdopen(os.memfd_create("stdin"), "wb+") as file:
        file.write(data)
        file.seek(0)
        yield file.fileno()


def _start(
    program: str,
    args: Sequence[Argument],
    *,
    stdin: int | None,
    stdout: int | IO[bytes],
    stderr: int | None,
    env: Mapping[str, str] | None,
    cwd: Path | None,
    limits: Limits | None,
    pass_fds: Sequence[int],
    own_session: bool = True,
) -> Process:
    environment = ENVIRONMENT if env is None else env
    if limits and limits.memory_bytes is not None:
        environment = {**environment, **_ONE_HEAP}
    search_path = environment.get("PATH", SEARCH_PATH)
    argv = [_find(program, search_path), *(os.fspath(each) for each in args)]
    try:
        popen = subprocess.Popen(  # noqa: S603  # no shell; who gives the arguments is the caller's care
            limits.wrapped(argv) if limits else argv,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            env=environment,
            cwd=cwd,
            pass_fds=pass_fds,
            start_new_session=own_session,
        )
    except OSError as error:
        raise CommandFailed(
            program, f"cannot be run: {error.strerror} ({error.filename})"
        ) from None
    except ValueError as error:  # a zero byte in an argument
        raise CommandFailed(program, f"cannot be run: {error}") from None
    return Process(popen, program, own_session=own_session)


def _find(program: str, search_path: str) -> str:
    found = shutil.which(program, path=search_path)
    if found is None:
        raise ProgramNotFound(program, search_path, _PACKAGES.get(Path(program).name))
    return found


def _timed_out(program: str, timeout_s: float, stderr: Gathered) -> CommandTimedOut:
    how = f"did not finish within {timeout_s:g} s and was ended"
    return CommandTimedOut(program, how, stderr=bytes(stderr.data))


_LIMIT_SIGNALS: Final[Mapping[int, str]] = {
    signal.SIGXCPU: "used up the CPU time it was allowed",
    signal.SIGXFSZ: "wrote more than the file size it was allowed",
}


def _ending(exit_code: int) -> str:
    if exit_code >= 0:
        return f"ended with exit code {exit_code}"
    name = signal.strsignal(-exit_code) or "an unknown signal"
    return _LIMIT_SIGNALS.get(-exit_code, f"was ended by signal {-exit_code} ({name})")
