"""The process behind a unix socket, as the kernel knows it, held so that its number cannot become another's."""

import asyncio
import os
import select
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from kubevirt.base import unix_sockets
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
    peer = await _held(address, what, clock)
    try:
        if peer.uid != user:
            raise UserError(
                f"{what} is listened at by user {peer.uid}, not by {user}, who owns launchers",
                reason="NotALauncher",
            )
        yield peer
    finally:
        os.close(peer.fd)


async def _held(address: str, what: str, clock: Clock) -> Peer:
    pid, uid = await _who_listens(address, what, clock)
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
    try:
        await _still_listens(pid, address, what, clock)
    except BaseException:
        os.close(fd)
        raise
    return Peer(pid, uid, fd)


async def _still_listens(pid: int, address: str, what: str, clock: Clock) -> None:
    """Asked again once its number is held: had it ended before, the number could be another's. That the first
    connection stands says nothing, for who listens may well send each caller away at once.
    """
    if (await _who_listens(address, what, clock))[0] != pid:
        raise NoAnswer(f"{what} has just ended")


async def _who_listens(address: str, what: str, clock: Clock) -> tuple[int, int]:
    """Its process and its user."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK) as connection:
        try:
            async with clock.timeout(CONNECT_S):
                await unix_sockets.connect(connection, address, clock)
        except (OSError, TimeoutError) as error:
            raise NoAnswer(f"{what} does not listen: {error}") from None
        raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    pid, uid, _ = _CREDENTIALS.unpack(raw)
    return pid, uid
