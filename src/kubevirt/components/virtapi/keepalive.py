"""Peers that are gone without a word: the kernels ask each other, since a console may be silent for hours."""

import socket
from typing import Any, Final

ASK_AFTER_S: Final = 30
EVERY_S: Final = 10
TIMES: Final = 3


def watch_over(opened: Any) -> None:
    """For a socket; others than TCP's notice it by themselves."""
    if opened is None or opened.family not in (socket.AF_INET, socket.AF_INET6):
        return
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, ASK_AFTER_S)
    opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, EVERY_S)
    opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, TIMES)


def watched_socket(address: tuple[Any, ...]) -> socket.socket:
    """A socket for an address, as aiohttp asks for it."""
    opened = socket.socket(family=address[0], type=address[1], proto=address[2])
    watch_over(opened)
    return opened
