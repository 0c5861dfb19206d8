"""The door of a launcher: its command socket, the process behind it, and what may be asked of it.

A door is one life of a launcher's manager. The manager that comes after it has another socket, of the same
name, and another door: calls never reach somebody else by an old name.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from kubevirt.base.clock import Clock
from kubevirt.components.handler.launchers.folders import PodFolders
from kubevirt.components.handler.launchers.peer import Peer, peer_of
from kubevirt.host.net.netns import Namespace
from kubevirt.rpc.calling import Caller
from kubevirt.rpc.cmd import Launcher
from kubevirt.rpc.errors import NoAnswer

SOCKET: Final = "launcher-sock"


@dataclass(frozen=True, slots=True)
class Door:
    launcher: Launcher
    peer: Peer

    def namespace(self) -> Namespace:
        """The network that the launcher lives in."""
        found = Namespace.of_process(self.peer.pid)
        if not self.peer.is_alive:  # then it may be another's
            found.close()
            raise NoAnswer("the launcher's manager has just ended")
        return found


@asynccontextmanager
async def opened(folders: PodFolders, user: int, clock: Clock) -> AsyncIterator[Door]:
    """Raises FileNotFoundError while there is no socket, `NoAnswer` if nobody listens."""
    with folders.sockets.connectable(SOCKET) as address:
        async with (
            peer_of(address, user, "the launcher's socket", clock) as peer,
            Caller(address, "virt-launcher") as caller,
        ):
            yield Door(Launcher(caller), peer)
