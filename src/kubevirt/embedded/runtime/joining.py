r"""Commands inside of containers that run.

    async with joined(attempt, keeper, ["sh"], Streams(stdin=True, terminal=True)) as command:
        await command.stdin.write(b"exit 3\n")
        ...
        code = await command.wait()

    async with clock.timeout(1):
        outcome = await completed(attempt, keeper, ["cat", "/tmp/healthy"])

A command has the place, the rights and the limits of the container: the keeper takes it there. It ends with
the body, and when this process dies, since the keeper sees that nobody wants it any more. What it has put
into a session of its own goes on for as long as the container does, as in Kubernetes.
"""

import array
import asyncio
import fcntl
import os
import socket
import termios
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from typing import Final

import msgspec

from kubevirt.base.commands import Process, spawn
from kubevirt.base.errors import Retry
from kubevirt.base.tasks import Latch, background
from kubevirt.embedded.runtime import sandbox
from kubevirt.embedded.runtime.attempt import FILTER, Attempt
from kubevirt.embedded.runtime.container import Container
from kubevirt.embedded.runtime.ends import End, readable
from kubevirt.embedded.runtime.keeper import Keeper, words_as_file

OUTPUT_LIMIT: Final = 10 * 1024
"""Bytes that are kept of what a probe says; a kubelet's."""
_FAILURE_LIMIT: Final = 4096
_ENTERED_S: Final = 30.0
_LOOK_S: Final = 0.01
_LARGEST_SIZE: Final = 0xFFFF
_TERMINAL: Final = {"TERM": "xterm"}
"""For a container that says nothing of its terminal, as the common runtimes have it."""


class NotJoined(Retry):
    """A command that could not be started in a container, and why."""


class Streams(msgspec.Struct, frozen=True, kw_only=True):
    """Which streams of a command somebody wants. Those of a terminal are one."""

    stdin: bool = False
    stdout: bool = False
    stderr: bool = False
    terminal: bool = False


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    code: int
    output: bytes
    """Of both streams as they came, up to a limit."""


class Joined:
    """A command inside, while it runs."""

    def __init__(self, process: Process, failure: int) -> None:
        self._process = process
        self._failure = failure
        self.stdin: End | None = None
        self.stdout: End | None = None
        """Of a terminal, all that it shows."""
        self.stderr: End | None = None
        self.terminal: End | None = None

    async def wait(self) -> int:
        """Its exit code, 128 and more for a signal. Raises NotJoined if it was never started.

        What it said last can still be read then.
        """
        code = await self._process.wait()
        for each in (self.stdout, self.stderr):
            if each:
                each.expect_last_words()
        if told := os.pread(self._failure, _FAILURE_LIMIT, 0):
            raise NotJoined(told.decode(errors="replace").strip())
        return code

    def close_stdin(self) -> None:
        """No more comes. A terminal has no end but its own."""
        if self.stdin and self.stdin is not self.terminal:
            self.stdin.close()
            self.stdin = None

    def resize(self, columns: int, rows: int) -> None:
        """Of its terminal, if it has one and the size is one."""
        if self.terminal and 0 < columns <= _LARGEST_SIZE and 0 < rows <= _LARGEST_SIZE:
            size = array.array("H", (rows, columns, 0, 0))
            with suppress(OSError):  # it has ended
                fcntl.ioctl(self.terminal.fd, termios.TIOCSWINSZ, size)


@asynccontextmanager
async def joined(
    attempt: Attempt, keeper: Keeper, command: Sequence[str], streams: Streams
) -> AsyncIterator[Joined]:
    """The command has begun, or is not going to: `wait` tells."""
    await _entered(attempt)
    with ExitStack() as ours, ExitStack() as theirs:
        failure = ours.enter_context(_open(os.memfd_create("failure", os.MFD_CLOEXEC)))
        caller, other = socket.socketpair()
        ours.enter_context(caller)
        theirs.enter_context(other)
        pipes = _pipes(streams, ours, theirs)
        container = attempt.container
        variables = theirs.enter_context(words_as_file(_variables(container, streams)))
        first = (_target(attempt, theirs), failure, _filter(attempt, theirs), other.fileno())
        given = (*first, *pipes.given, variables)
        async with spawn(
            *(keeper.path, "join", *map(_word, given)),
            *_words(container, command, streams),
            pass_fds=[each for each in (keeper.fd, *given) if each is not None],
        ) as process:
            theirs.close()
            found = Joined(process, failure)
            found.stdin, found.stdout, found.stderr = pipes.ours
            if streams.terminal:
                await _take_terminal(found, caller, streams, ours)
            try:
                yield found
            finally:
                caller.close()  # by which the keeper knows


async def completed(
    attempt: Attempt, keeper: Keeper, command: Sequence[str], *, limit: int = OUTPUT_LIMIT
) -> Outcome:
    """Of a command that is waited for; what it says beyond the limit is dropped."""
    said = bytearray()
    async with joined(attempt, keeper, command, Streams(stdout=True, stderr=True)) as found:
        ends = {each: Latch() for each in (found.stdout, found.stderr) if each}
        async with background(
            *(_gathered(each, said, limit, latch) for each, latch in ends.items())
        ):
            code = await found.wait()
            for latch in ends.values():
                await latch.wait()
    return Outcome(code=code, output=bytes(said))


async def _gathered(end: End, said: bytearray, limit: int, done: Latch) -> None:
    while chunk := await end.read():
        said += chunk[: limit - len(said)]
    done.open()


# The open files of a command


class _Pipes(msgspec.Struct, frozen=True):
    given: Sequence[int | None]
    ours: tuple[End | None, End | None, End | None]


def _pipes(streams: Streams, ours: ExitStack, theirs: ExitStack) -> _Pipes:
    if streams.terminal:
        return _Pipes((None, None, None), (None, None, None))
    given: list[int | None] = []
    kept: list[End | None] = []
    for number, is_wanted in enumerate((streams.stdin, streams.stdout, streams.stderr)):
        if not is_wanted:
            given.append(None)
            kept.append(None)
            continue
        read, write = os.pipe2(os.O_CLOEXEC)
        mine, others = (write, read) if number == 0 else (read, write)
        given.append(theirs.enter_context(_open(others)))
        kept.append(_end(mine, ours))
    return _Pipes(given, (kept[0], kept[1], kept[2]))


def _end(fd: int, ours: ExitStack) -> End:
    end = End(fd)
    ours.callback(end.close)
    return end


async def _entered(attempt: Attempt) -> None:
    """Waits for a container that has just been started: before its own first step it is no place to be."""
    try:
        async with asyncio.timeout(_ENTERED_S):
            while attempt.is_running and not attempt.has_entered:  # noqa: ASYNC110  # it is in /proc
                await asyncio.sleep(_LOOK_S)
    except TimeoutError:
        raise NotJoined("the container is still being put together") from None


def _target(attempt: Attempt, theirs: ExitStack) -> int:
    pidfd = theirs.enter_context(attempt.pinned())
    if pidfd is None:
        raise NotJoined("the container does not run")
    return pidfd


def _filter(attempt: Attempt, theirs: ExitStack) -> int | None:
    """The one that the container was started with, whatever is in force by now."""
    try:
        fd = os.open(attempt.folder / FILTER, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    return theirs.enter_context(_open(fd))


@contextmanager
def _open(fd: int) -> Iterator[int]:
    try:
        yield fd
    finally:
        os.close(fd)


async def _take_terminal(
    found: Joined, caller: socket.socket, streams: Streams, ours: ExitStack
) -> None:
    """The keeper opens it inside, and sends us its other end."""
    caller.setblocking(False)
    await readable(caller.fileno())
    _, fds, _, _ = socket.recv_fds(caller, 1, 1)
    if not fds:
        await found.wait()  # tells why
        raise NotJoined("the container has no terminal to give")
    os.set_inheritable(fds[0], False)
    found.terminal = _end(fds[0], ours)
    found.stdin = found.terminal if streams.stdin else None
    found.stdout = found.terminal


# The words of the keeper


def _word(given: int | None) -> str:
    return "-" if given is None else str(given)


def _variables(container: Container, streams: Streams) -> Sequence[str]:
    environment: Mapping[str, str] = container.environment
    if streams.terminal:
        environment = {**_TERMINAL, **environment}
    return [f"{name}={value}" for name, value in environment.items()]


def _words(container: Container, command: Sequence[str], streams: Streams) -> Iterator[str]:
    """All but the open files: see keeper.h."""
    yield "1" if streams.terminal else "0"
    yield from container.cgroups
    yield "--"
    yield from sandbox.last_step(container.rights, container.folder)
    yield from command
