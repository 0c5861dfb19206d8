"""Where a node stands: the network in which it asks its pods, and in which its ports are taken or free.

The first node's is the machine's, any other one has a network namespace of its own: a loopback address means
another place in each.
"""

import socket
from collections.abc import Callable
from typing import Any, TypeVar

from kubevirt.host.net.netns import Namespace

T = TypeVar("T")


class Standpoint:
    def __init__(self, namespace: str) -> None:
        """A file that stands for it; empty for the machine's own."""
        self._namespace = namespace

    def call(self, work: Callable[[], T]) -> T:
        """In that network; what it makes there stays there."""
        if not self._namespace:
            return work()
        with Namespace.at(self._namespace) as own:
            return own.call(work)

    def socket(self, address: tuple[Any, ...]) -> socket.socket:
        """One for an address, as `getaddrinfo` gives it."""
        return self.call(lambda: socket.socket(*address[:3]))
