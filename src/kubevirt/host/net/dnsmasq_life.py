"""dnsmasq, kept running: started with as little as it needs, and again when it ends.

    service = Service(namespace, Served(what="the DHCP of tap0", config=text), clock=clock)
    async with background(service.run()):
        await service.answers()

It reads what strangers send, so it gets its own user from the first instruction, the capabilities that it
was given and no way to more, its configuration as a sealed file in memory, nothing to write to. Killed, it
is back at once. When we die, the kernel kills it, or, if we died before it had asked the kernel for that,
it does not begin.
"""

import asyncio
import fcntl
import os
import pwd
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Final

import msgspec

from kubevirt.base import commands
from kubevirt.base.clock import Clock
from kubevirt.base.errors import CommandFailed, ProgramNotFound
from kubevirt.base.log import Logger, get_logger
from kubevirt.base.output import LINE_END, LINE_LIMIT
from kubevirt.host.net.netns import Namespace

PROGRAM: Final = "dnsmasq"
USERS: Final = ("dnsmasq", "nobody")
"""Of Debian's package, and of every machine."""
START_S: Final = 10.0
LAST_WORDS_S: Final = 0.2
FIRST_PAUSE_S: Final = 0.05
LONGEST_PAUSE_S: Final = 0.5
"""Between two that served: whoever kills it again and again has it back within a second."""
HOPELESS_PAUSE_S: Final = 10.0
"""Between two that did not even start."""
STEADY_S: Final = 5.0
"""Having run so long, it did not fail at starting, and is started again without a pause."""

_UNLESS_ORPHANED: Final = '[ "$PPID" = "$0" ] && exec "$@"'
"""A constant, and all that changes are its words: the number of the owner, and what to become. The kernel tells a
process of its parent's death only if that comes after it has asked, so it looks once afterwards who its parent is.
"""
_SEALS: Final = 0x0F  # no more sealing, shrinking, growing, writing: linux/fcntl.h, F_SEAL_*
_ADD_SEALS: Final = 1033
_STARTED: Final = re.compile(r"\bstarted, version\b")
_DIALOGUE: Final = re.compile(
    r"\bDHCP[A-Z-]{3,}|\bRTR-|\bcompile time options\b|\bcleared cache\b|\breading /|\busing (?:only|nameserver)\b"
)
"""What a guest makes it say, as often as the guest likes, and what it says of itself at every start: not for
everyone's log."""

_log = get_logger("host.net.dnsmasq")


class Served(msgspec.Struct, frozen=True, kw_only=True):
    """What one dnsmasq is for."""

    what: str
    """In words, for messages: it serves this."""
    config: str
    capabilities: Sequence[str] = ()


class Service:
    def __init__(
        self,
        namespace: Namespace,
        served: Served,
        *,
        clock: Clock,
        log: Logger = _log,
        program: str = PROGRAM,
    ) -> None:
        self.pid: int | None = None
        """Of the running dnsmasq; None between two."""
        self.starts = 0
        self._namespace = namespace
        self._served = served
        self._clock = clock
        self._program = program
        self._log = log.bind(serves=served.what)
        self._answering = asyncio.Event()
        self._complaint = ""

    @property
    def trouble(self) -> str:
        """Why the last one ended before it served; empty where one serves, or is about to."""
        return "" if self._answering.is_set() else self._complaint

    async def answers(self, limit_s: float = START_S) -> None:
        """Returns when it serves; also after it was killed and started again."""
        try:
            async with self._clock.timeout(limit_s):
                await self._answering.wait()
        except TimeoutError:
            how = f"did not begin to serve {self._served.what} within {limit_s:g} s"
            raise CommandFailed(PROGRAM, how) from None

    async def run(self) -> None:
        """Runs it for ever. A server that never came up is an error; one that ended is restarted."""
        pause = 0.0
        while True:
            began = self._clock.monotonic()
            said = await self._run_once()
            if self.starts == 1 and not self._answering.is_set():
                raise CommandFailed(PROGRAM, "did not start", stderr=said)
            longest = LONGEST_PAUSE_S if self._answering.is_set() else HOPELESS_PAUSE_S
            failed = CommandFailed(PROGRAM, "did not start", stderr=said)
            self._complaint = "" if self._answering.is_set() else str(failed)
            self._answering.clear()
            if self._clock.monotonic() - began > STEADY_S:
                pause = 0.0
            self._log.warning("dnsmasq ended and is started again", pause_s=pause)
            await self._clock.sleep(pause)
            pause = min(max(2 * pause, FIRST_PAUSE_S), longest)

    async def _run_once(self) -> bytes:
        """One life of dnsmasq, and its last words."""
        self.starts += 1
        lines = _Lines(self._log, self._answering)
        reading, writing = os.pipe()
        pipe = os.fdopen(reading, "rb")
        try:
            transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: lines, pipe)
        except BaseException:
            pipe.close()
            os.close(writing)
            raise
        try:
            with os.fdopen(writing, "wb") as output, _sealed(self._served.config) as configuration:
                spawned = commands.spawn(
                    *command(
                        self._namespace, self._served.capabilities, configuration, self._program
                    ),
                    output=output,
                    grace_s=1.0,
                    pass_fds=(self._namespace.fd, configuration),
                )
                async with spawned as process:
                    self.pid = process.pid
                    output.close()
                    await process.wait()
                self.pid = None
            with suppress(TimeoutError):
                async with self._clock.timeout(LAST_WORDS_S):
                    await lines.ended.wait()
        finally:
            self.pid = None
            transport.close()
        return lines.last


def command(
    namespace: Namespace, capabilities: Sequence[str], configuration: int, program: str = PROGRAM
) -> list[str]:
    """How to start it, for owners of another kind: both descriptors are to be inherited, and whoever asks has to be
    who starts it.

    One process, which is nsenter, then setpriv, then sh, then dnsmasq: its number is known at once.
    """
    if not shutil.which(program, path=commands.SEARCH_PATH):
        raise ProgramNotFound(program, commands.SEARCH_PATH, "dnsmasq-base")
    user = _user()
    allowed = ",".join(["-all", *(f"+{each}" for each in capabilities)])
    return [
        shutil.which("nsenter", path=commands.SEARCH_PATH) or "nsenter",
        f"--net={namespace.path}",
        "setpriv",
        f"--reuid={user.pw_uid}",
        f"--regid={user.pw_gid}",
        "--clear-groups",
        f"--inh-caps={allowed}",
        f"--ambient-caps={allowed}",
        f"--bounding-set={allowed}",
        "--no-new-privs",
        "--pdeathsig=KILL",
        "sh",
        "-c",
        _UNLESS_ORPHANED,
        str(os.getpid()),
        program,
        "--keep-in-foreground",
        "--log-facility=-",
        "--pid-file=",
        "--user=",
        f"--conf-file=/proc/self/fd/{configuration}",
    ]


def _user() -> pwd.struct_passwd:
    for name in USERS[:-1]:
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    return pwd.getpwnam(USERS[-1])


@contextmanager
def _sealed(text: str) -> Iterator[int]:
    fd = sealed(text)
    try:
        yield fd
    finally:
        os.close(fd)


def sealed(text: str) -> int:
    """The text as a file that nobody can change any more, us included; the descriptor is the caller's."""
    fd = os.memfd_create("dnsmasq.conf", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.fchmod(fd, 0o444)
    os.write(fd, text.encode())
    fcntl.fcntl(fd, _ADD_SEALS, _SEALS)
    return fd


class _Lines(asyncio.Protocol):
    """What dnsmasq says: to the log, and the news that it serves to whoever waits for it."""

    def __init__(self, log: Logger, answering: asyncio.Event) -> None:
        self.last = b""
        self.ended = asyncio.Event()
        self._log = log
        self._answering = answering
        self._rest = b""

    def data_received(self, data: bytes) -> None:
        *lines, self._rest = LINE_END.split(self._rest + data)
        if len(self._rest) > LINE_LIMIT:
            lines, self._rest = [*lines, self._rest], b""
        for line in lines:
            self._take(line.decode(errors="replace"))
        self.last = (self.last + data)[-LINE_LIMIT:]

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        self.ended.set()

    def _take(self, line: str) -> None:
        if _STARTED.search(line):
            self._answering.set()
        if _DIALOGUE.search(line):
            self._log.debug("dialogue", line=line)
        elif line:
            self._log.info("dnsmasq", line=line)
