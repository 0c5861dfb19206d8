"""A connection to the daemon: calls with time limits, events as they come, an end that is noticed.

    async with connect(daemon.socket, clock=SystemClock()) as connection:
        names = await connection.call("list guests", lambda it: it.listAllDomains())

The library blocks, so a connection has a thread, and its calls run one after the other. (libvirt 9
promises more, but a call of a second thread is forgotten now and then until the first one ends.)
Whoever must not wait for somebody else's slow call uses another connection; `hypervisor.py` does.

Every call has a limit, waiting included. A call that passes it cannot be stopped, because libvirt
waits for an answer as long as it takes; so the connection's socket is shut down under it. That ends
it with a clear error, frees the thread, and opens `lost`. A lost connection stays lost.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, Final, NoReturn, Protocol, TypeVar

import libvirt

from kubevirt.base.clock import Clock
from kubevirt.base.tasks import Latch, background
from kubevirt.host.libvirt.errors import (
    DaemonUnreachableError,
    is_of_the_connection,
    translated,
    words_of,
)
from kubevirt.host.libvirt.event_thread import ensure_event_thread
from kubevirt.host.libvirt.events import DomainEvent
from kubevirt.host.libvirt.subscriptions import subscribe
from kubevirt.host.libvirt.wire import Wire

T = TypeVar("T")
Work = Callable[[libvirt.virConnect], T]

CALL_LIMIT_S: Final = 10.0
CONNECT_LIMIT_S: Final = 5.0
CLOSE_LIMIT_S: Final = 1.0

KEEPALIVE_S: Final = 10
KEEPALIVE_COUNT: Final = 2
"""A daemon that hangs while nobody calls it is noticed within half a minute."""

_CLOSE_REASONS: Final = (
    "it failed",
    "the daemon ended",
    "the daemon does not answer",
    "we closed it",
)


class Caller(Protocol):
    """Who can call libvirt: a connection, or the hypervisor that keeps one."""

    async def call(
        self,
        doing: str,
        work: Work[T],
        *,
        limit_s: float = CALL_LIMIT_S,
        repeatable: bool = False,
    ) -> T:
        """`work` in a thread; `doing` completes the sentence "cannot …" of its error.

        What is `repeatable` may be done again if the daemon died over it; for the rest nobody can
        know whether it was done.
        """
        ...


@asynccontextmanager
async def connect(
    path: Path,
    *,
    clock: Clock,
    tell: Callable[[DomainEvent], None] | None = None,
    limit_s: float = CONNECT_LIMIT_S,
) -> AsyncIterator["Connection"]:
    """A connection to the daemon that listens at `path`, closed with the body.

    To one daemon, connections are opened one after the other, never two at once: see `wire.py`.
    `tell` gets every event, in libvirt's thread: hand them on and return (`Mailbox.put`).
    """
    ensure_event_thread()
    connection = Connection(path, clock)
    async with background(connection.watch_over_calls()):
        try:
            await connection.open(tell, limit_s)
            yield connection
        finally:
            await connection.close()


class Connection:
    """Made by `connect`."""

    def __init__(self, path: Path, clock: Clock) -> None:
        self.lost = Latch()
        self.why_lost = ""
        self._path = path
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._calls: asyncio.Future[asyncio.TaskGroup] = self._loop.create_future()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="libvirt")
        self._wire = Wire(path)
        self._library: libvirt.virConnect | None = None
        self._subscriptions: tuple[int, ...] = ()
        self._unanswered = 0

    @property
    def is_idle(self) -> bool:
        """Whether a call would run at once."""
        return not self._unanswered and not self.lost.is_open

    async def call(
        self,
        doing: str,
        work: Work[T],
        *,
        limit_s: float = CALL_LIMIT_S,
        repeatable: bool = False,  # noqa: ARG002  # a connection has only one daemon
    ) -> T:
        library = self._library
        if library is None or self.lost.is_open:
            raise self._loss(doing)
        return await self._limited(doing, partial(work, library), limit_s)

    async def watch_over_calls(self) -> NoReturn:
        """Owns what runs; ended by its caller after `close`."""
        async with asyncio.TaskGroup() as tasks:
            self._calls.set_result(tasks)
            await self._loop.create_future()
        raise AssertionError("it runs until it is cancelled")

    async def open(self, tell: Callable[[DomainEvent], None] | None, limit_s: float) -> None:
        await self._limited("connect to libvirt", partial(self._open, tell), limit_s)

    async def close(self) -> None:
        library, self._library = self._library, None
        try:
            if library is None:
                return
            if not self.is_idle:  # lost, or somebody's call is under way, for which nobody waits
                self._cut("it is closed")
                self._thread.submit(self._let_go, library)
                return
            with suppress(DaemonUnreachableError):
                await self._limited(
                    "close the connection", partial(self._let_go, library), CLOSE_LIMIT_S
                )
        finally:
            self._cut("it is closed")
            self._thread.shutdown(wait=False)

    async def _limited(self, doing: str, work: Callable[[], T], limit_s: float) -> T:
        """The answer; who stops waiting for it does not stop the watch over the limit."""
        self._unanswered += 1
        answer: asyncio.Future[T] = self._loop.create_future()
        calls = await asyncio.shield(self._calls)
        calls.create_task(self._carry_out(doing, work, limit_s, answer))
        return await answer

    async def _carry_out(
        self, doing: str, work: Callable[[], T], limit_s: float, answer: asyncio.Future[T]
    ) -> None:
        try:
            result = await self._in_thread(doing, work, limit_s)
        except asyncio.CancelledError:
            if not answer.done():
                answer.set_exception(self._loss(doing))
            raise
        except Exception as error:  # noqa: BLE001  # it is raised where the answer is awaited
            if not answer.done():
                answer.set_exception(error)
        else:
            if not answer.done():
                answer.set_result(result)
        finally:
            self._unanswered -= 1

    async def _in_thread(self, doing: str, work: Callable[[], T], limit_s: float) -> T:
        running = self._loop.run_in_executor(self._thread, work)
        running.add_done_callback(_seen)
        try:
            async with self._clock.timeout(limit_s):
                return await asyncio.shield(running)
        except TimeoutError:
            waited = f"{round(limit_s, 2):g} s"
            self._cut(f"no answer within {waited}")
            raise DaemonUnreachableError(
                f"cannot {doing}: libvirt did not answer within {waited}; the daemon or the"
                f" guest's QEMU hangs"
            ) from None
        except asyncio.CancelledError:
            self._cut("it is closed")
            raise
        except libvirt.libvirtError as error:
            if is_of_the_connection(error):
                self._cut(words_of(error))
            raise translated(doing, error) from None

    def _open(self, tell: Callable[[DomainEvent], None] | None) -> None:
        """In the thread. Whatever goes wrong, or whoever has left meanwhile: nothing stays open."""
        self._wire.begin()
        library = libvirt.open(f"qemu+unix:///session?socket={self._path}")
        try:
            self._wire.done()
            library.registerCloseCallback(self._closed, None)
            library.setKeepAlive(KEEPALIVE_S, KEEPALIVE_COUNT)
            if tell is not None:
                self._subscriptions = subscribe(library, tell)
        except libvirt.libvirtError:
            self._let_go(library)
            raise
        self._library = library
        if self.lost.is_open:
            self._library = None
            self._let_go(library)

    def _let_go(self, library: libvirt.virConnect) -> None:
        """In the thread, since the daemon is told. Without it the library keeps the socket open.

        What is registered keeps the connection alive, in C and in Python; so it goes one by one,
        also when the other end is long gone and every step fails for that.
        """
        subscriptions, self._subscriptions = self._subscriptions, ()
        for number in subscriptions:
            with suppress(libvirt.libvirtError):
                library.domainEventDeregisterAny(number)
        with suppress(libvirt.libvirtError):
            library.unregisterCloseCallback()
        with suppress(libvirt.libvirtError):
            library.close()

    def _loss(self, doing: str) -> DaemonUnreachableError:
        why = self.why_lost or "it is closed"
        return DaemonUnreachableError(
            f"cannot {doing}: the connection to libvirt is lost ({why}); try again"
        )

    def _closed(self, _connection: object, reason: int, _opaque: object) -> None:
        """In libvirt's event thread."""
        why = _CLOSE_REASONS[reason] if 0 <= reason < len(_CLOSE_REASONS) else "unknown"
        with suppress(RuntimeError):  # the loop is closed: nobody wants to know
            self._loop.call_soon_threadsafe(self._cut, why)

    def _cut(self, why: str) -> None:
        if not self.lost.is_open:
            self.why_lost = why
            self.lost.open()
        self._wire.cut()


def _seen(running: "asyncio.Future[Any]") -> None:
    """An outcome for which nobody waits any more is no news."""
    if not running.cancelled():
        running.exception()
