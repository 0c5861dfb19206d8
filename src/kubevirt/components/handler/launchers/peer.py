"""The process behind a unix socket, as the kernel knows it, held so that its number cannot become another's."""

import asyncio
import os
import select
import socket
import struct
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass

from kubevirt.base.clock import Clock
from kubevirt.base.errors import UserError
from kubevirt.rpc.errors import NoAnswer

CONNECT_S = 5.0
_CREDENTIALS = struct.Struct("3i")


@dataclass(frozen=True, slots=True)
class Peer:
    pid: int
    uid: int
    fd: int
    """Becomes readable when the process ends (pidfd)."""

    @property
    def is_alive(self) -> bool:
        return not select.select([self.fd], [], [], 0)[0]

    async def ended(self) -> None:
        """Returns when the process has ended."""
        over = asyncio.Event()
        loop = asyncio.get_running_loop()
        loop.add_reader(self.fd, over.set)
        try:
            await over.wait()
        finally:
            loop.remove_reader(self.fd)


@asynccontextmanager
async def peer_of(address: str, user: int, what: str, clock: Clock) -> AsyncIterator[Peer]:
    """Who listens at a socket. Raises `NoAnswer` if nobody does, UserError if it is somebody else."""
    with _unix_socket() as connection:
        try:
            async with clock.timeout(CONNECT_S):
                await asyncio.get_running_loop().sock_connect(connection, address)
        except (OSError, TimeoutError) as error:
            raise NoAnswer(f"{what} does not listen: {error}") from None
        peer = _held(connection, what)
    try:
        if peer.uid != user:
            raise UserError(
                f"{what} is listened at by user {peer.uid}, not by {user}, who owns launchers",
                reason="NotALauncher",
            )
        yield peer
    finally:
        os.close(peer.fd)


@contextmanager
def _unix_socket() -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK) as made:
        yield made


def _held(connection: socket.socket, what: str) -> Peer:
    raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    pid, uid, _ = _CREDENTIALS.unpack(raw)
    if pid == 0:
        raise UserError(
            f"{what} is listened at by a process that cannot be seen from here; virt-handler has to "
            f"run in the node's own process namespace (hostPID)",
            reason="HiddenProcess",
        )
    try:
        fd = os.pidfd_open(pid)
    except ProcessLookupError:
        raise NoAnswer(f"{what} has just ended") from None
    if not _is_connected(connection):  # then the number may be another's by now
        os.close(fd)
        raise NoAnswer(f"{what} has just ended")
    return Peer(pid, uid, fd)


def _is_connected(connection: socket.socket) -> bool:
    """The one who listens had not closed when its number was held."""
    try:
        return connection.recv(1, socket.MSG_PEEK) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False
