"""The socket where plugins come to register.

It is there from the start, but gRPC, which weighs as much as all the rest of a small node, is loaded only when
somebody comes: we take the connection, and pass on what is said to gRPC's own socket behind it.

A socket that is made anew is how plugins see that the node was restarted, and register again. So do those
whose own socket is removed, as a kubelet does with all that it finds.
"""

import asyncio
import socket
import stat
from contextlib import AsyncExitStack, suppress
from typing import Final

from kubevirt.base import unix_sockets
from kubevirt.base.clock import Clock
from kubevirt.base.files import Root
from kubevirt.base.log import get_logger
from kubevirt.base.tasks import first_of
from kubevirt.embedded.node.devices.wire import Register, Wire
from kubevirt.embedded.runtime.ends import End

log = get_logger(__name__)

NAME: Final = "kubelet.sock"
MOST_CONNECTIONS: Final = 64
_INNER: Final = "r.sock"
_BACKLOG: Final = 16
_FULL_S: Final = 1.0


class Registry:
    def __init__(self, folder: Root, private: Root, wire: Wire, clock: Clock) -> None:
        """`folder` is where plugins have their sockets, `private` where nobody else looks."""
        self._folder = folder
        self._private = private
        self._wire = wire
        self._clock = clock
        self._starting = asyncio.Lock()
        self._inner = ""

    def open(self) -> socket.socket:
        """The socket, made anew."""
        for name in self._folder.listdir():
            with suppress(FileNotFoundError):
                if stat.S_ISSOCK(self._folder.stat(name).st_mode):
                    self._folder.unlink(name)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        with self._folder.bindable(NAME) as address:
            listener.bind(address)
        self._folder.chmod(NAME, 0o700)
        listener.listen(_BACKLOG)
        listener.setblocking(False)
        return listener

    async def run(self, listener: socket.socket, register: Register) -> None:
        loop = asyncio.get_running_loop()
        room = asyncio.Semaphore(MOST_CONNECTIONS)
        async with AsyncExitStack() as stack, asyncio.TaskGroup() as group:
            while True:
                await room.acquire()
                try:
                    connection, _ = await loop.sock_accept(listener)
                except OSError as error:  # no file is left to be opened
                    room.release()
                    log.warning("a device plugin could not be let in", error=error)
                    await self._clock.sleep(_FULL_S)
                    continue
                task = group.create_task(self._attend(connection, register, stack))
                task.add_done_callback(lambda _: room.release())

    async def _attend(
        self, connection: socket.socket, register: Register, stack: AsyncExitStack
    ) -> None:
        outer = End(connection.detach())
        try:
            path = await self._served(register, stack)
            inner = End(await _connected(path, self._clock))
            try:
                await first_of(_passed_on(outer, inner), _passed_on(inner, outer))
            finally:
                inner.close()
        except OSError as error:
            log.info("a connection of a device plugin broke", error=error)
        finally:
            outer.close()

    async def _served(self, register: Register, stack: AsyncExitStack) -> str:
        """The socket of gRPC, which is there from now on."""
        async with self._starting:
            if not self._inner:
                path = stack.enter_context(self._private.bindable(_INNER))
                await stack.enter_async_context(await self._wire.registering(path, register))
                self._inner = path
        return self._inner


async def _connected(path: str, clock: Clock) -> int:
    found = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    found.setblocking(False)
    try:
        await unix_sockets.connect(found, path, clock)
    except BaseException:
        found.close()
        raise
    return found.detach()


async def _passed_on(source: End, target: End) -> None:
    while chunk := await source.read():
        if not await target.write(chunk):
            return
