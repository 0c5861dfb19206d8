"""Word that something in a namespace's network changed, from the kernel itself.

    with Alarm(machine, LINKS) as alarm:
        while True:
            await alarm.rings()
            ...                             # look at everything anew: what changed is not told

Nothing of what the kernel says is read. It says it of every change, ours too, and forgets some of it when
nobody listens for long; an alarm only means that it is time to look.
"""

import asyncio
import socket
from contextlib import suppress
from types import TracebackType
from typing import Final, NamedTuple, Self

from kubevirt.host.net.netns import Namespace

_NETLINK_ROUTE: Final = 0
_NETLINK_NETFILTER: Final = 12


class Subject(NamedTuple):
    protocol: int
    groups: tuple[int, ...]


# By linux/rtnetlink.h: links, IPv4 addresses, IPv4 routes, and the settings of links (forwarding among them).
LINKS: Final = Subject(_NETLINK_ROUTE, (1, 5, 7, 24))
# By linux/netfilter/nfnetlink.h: nftables.
RULES: Final = Subject(_NETLINK_NETFILTER, (7,))


class Alarm:
    def __init__(self, namespace: Namespace, subject: Subject) -> None:
        """Needs a running loop: changes from here on ring it."""
        self._loop = asyncio.get_running_loop()
        self._rung = asyncio.Event()
        self._socket = namespace.call(lambda: _listening(subject))
        self._loop.add_reader(self._socket, self._hear)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._loop.remove_reader(self._socket)
        self._socket.close()

    async def rings(self) -> None:
        """Returns when there was a change since it last returned."""
        await self._rung.wait()
        self._rung.clear()

    def ring(self) -> None:
        """For those who have another reason to look."""
        self._rung.set()

    def _hear(self) -> None:
        self._rung.set()
        with suppress(OSError):  # nothing more to read, or more than there was room for
            while True:
                self._socket.recv(1)


def _listening(subject: Subject) -> socket.socket:
    made = socket.socket(
        socket.AF_NETLINK,
        socket.SOCK_RAW | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC,
        subject.protocol,
    )
    made.bind((0, sum(1 << (group - 1) for group in subject.groups)))
    return made
