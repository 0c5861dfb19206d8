"""The hypervisor: a connection that comes back when the daemon does.

    async with hypervisor(daemon.socket, clock=clock) as virt:
        guest = await create(virt, domain)
        async for event in virt.events: ...

While there is no daemon, calls wait for it within their own limit. Events are lost meanwhile, so the
first event after each connection, also after the very first, is `Missed`: look at the guests.

A call that finds another one under way gets a connection of its own for as long as it takes: a guest
agent that keeps us waiting, a dump that takes minutes, a QEMU that hangs must not keep anybody from
pausing or destroying the guest. That costs milliseconds, and mostly there is only one call.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final, NoReturn, TypeVar

from kubevirt.base.clock import Clock
from kubevirt.base.errors import Retry
from kubevirt.base.log import get_logger
from kubevirt.base.tasks import background
from kubevirt.host.libvirt.arrival import wait_for_socket
from kubevirt.host.libvirt.connection import CALL_LIMIT_S, Connection, Work, connect
from kubevirt.host.libvirt.errors import DaemonUnreachableError
from kubevirt.host.libvirt.events import Mailbox, Missed

T = TypeVar("T")

ARRIVAL_LIMIT_S: Final = 30.0
"""How long we wait for a daemon in silence, before the log says that there is none."""
PAUSE_S: Final = 0.05
"""Between two tries when a daemon is there and does not let us in."""

_log = get_logger("host.libvirt")


@asynccontextmanager
async def hypervisor(path: Path, *, clock: Clock) -> AsyncIterator["Hypervisor"]:
    """Connects, and connects again, as long as the body runs. It does not wait for the first time."""
    it = Hypervisor(path, clock)
    async with background(it.keep_connected()):
        try:
            yield it
        finally:
            it.events.close()


class Hypervisor:
    """Made by `hypervisor`. A `Caller`, as a connection is."""

    def __init__(self, path: Path, clock: Clock) -> None:
        self.events = Mailbox()
        self._path = path
        self._clock = clock
        self._connection: Connection | None = None
        self._changed = asyncio.Condition()
        self._opening = asyncio.Lock()
        """Connections to one daemon are opened one at a time: see `wire.py`."""

    async def call(
        self,
        doing: str,
        work: Work[T],
        *,
        limit_s: float = CALL_LIMIT_S,
        repeatable: bool = False,
    ) -> T:
        deadline = self._clock.monotonic() + limit_s
        while True:
            try:
                return await self._call_once(doing, work, deadline)
            except DaemonUnreachableError:
                if not repeatable or not self._left(deadline):
                    raise

    async def _call_once(self, doing: str, work: Work[T], deadline: float) -> T:
        connection = await self._connected(doing, self._left(deadline))
        if connection.is_idle:
            return await connection.call(doing, work, limit_s=self._left(deadline))
        async with self._connection_for_one(doing, deadline) as extra:
            return await extra.call(doing, work, limit_s=self._left(deadline))

    @property
    def is_connected(self) -> bool:
        return self._connection is not None and not self._connection.lost.is_open

    async def keep_connected(self) -> NoReturn:
        while True:
            try:
                await wait_for_socket(self._path, clock=self._clock, limit_s=ARRIVAL_LIMIT_S)
                await self._serve()
            except Retry as error:
                _log.warning("libvirt is not reachable", error=error)
                await self._clock.sleep(PAUSE_S)

    async def _serve(self) -> None:
        """One connection, from its begin to its loss."""
        async with AsyncExitStack() as opened:
            async with self._opening:
                connection = await opened.enter_async_context(
                    connect(self._path, clock=self._clock, tell=self.events.put)
                )
            await self._is_now(connection)
            self.events.put(Missed(why="connected to libvirt"))
            try:
                await connection.lost.wait()
            finally:
                self._connection = None
            _log.warning("the connection to libvirt is lost", why=connection.why_lost)

    @asynccontextmanager
    async def _connection_for_one(self, doing: str, deadline: float) -> AsyncIterator[Connection]:
        async with AsyncExitStack() as opened:
            try:
                async with self._clock.timeout(self._left(deadline)), self._opening:
                    connection = await opened.enter_async_context(
                        connect(self._path, clock=self._clock, limit_s=self._left(deadline))
                    )
            except TimeoutError:
                raise self._absence(doing) from None
            yield connection

    def _left(self, deadline: float) -> float:
        return max(0.0, deadline - self._clock.monotonic())

    async def _is_now(self, connection: Connection) -> None:
        async with self._changed:
            self._connection = connection
            self._changed.notify_all()

    async def _connected(self, doing: str, limit_s: float) -> Connection:
        try:
            async with self._clock.timeout(limit_s), self._changed:
                while (connection := self._connection) is None or connection.lost.is_open:
                    await self._changed.wait()
                return connection
        except TimeoutError:
            raise self._absence(doing) from None

    def _absence(self, doing: str) -> DaemonUnreachableError:
        return DaemonUnreachableError(
            f"cannot {doing}: no libvirt daemon answers at {self._path}; it is started anew if it"
            f" died, so try again"
        )
