"""Sockets that notice a machine which is gone without a word."""

import socket
from typing import Any


def wary_socket(address: tuple[Any, ...]) -> socket.socket:
    """For an address, as aiohttp describes it. Within half a minute it notices: a watch may be silent for minutes,
    so silence alone means nothing; the kernels ask each other.
    """
    opened = socket.socket(family=address[0], type=address[1], proto=address[2])
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 10)
    opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 5)
    opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 3)
    opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 25_000)
    return opened
