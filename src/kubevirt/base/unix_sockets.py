"""Connecting to a Unix socket from a loop."""

import socket
from typing import Final

from kubevirt.base.clock import Clock

_CROWD_S: Final = 0.02


async def connect(line: socket.socket, address: str, clock: Clock) -> None:
    """The kernel connects at once, or says that too many wait to be let in; then it is asked again, for as long
    as the caller has time. A loop's own `sock_connect` takes that for a connection under way, and a moment
    later for one that stands.
    """
    while True:
        try:
            return line.connect(address)
        except BlockingIOError:
            await clock.sleep(_CROWD_S)
