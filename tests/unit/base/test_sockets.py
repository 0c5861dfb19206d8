"""What a client leaves behind when it is closed: nothing, whatever the server does."""

import asyncio
import gc
import socket
import ssl
import threading
import warnings
from collections.abc import Iterator
from contextlib import aclosing, contextmanager, suppress
from typing import Any

import pytest
from tests import tls_servers

from clusterup.certificates import Authority
from kubevirt.api.resource import Resource
from kubevirt.base.clock import SystemClock
from kubevirt.base.sockets import Sockets
from kubevirt.kube.access.config import Config
from kubevirt.kube.access.material import Inline
from kubevirt.kube.client import Client

LAMPS = Resource("house.example", "v1", "lamps", "Lamp", False, dict[str, Any])
EVENT = b'{"type":"ADDED","object":{"metadata":{"name":"hall","resourceVersion":"7"}}}\n'
ANSWER = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"%x\r\n%s\r\n" % (len(EVENT), EVENT)
)


@contextmanager
def a_server_that_never_says_goodbye(tls: ssl.SSLContext) -> Iterator[int]:
    """It sends one event and then looks at nothing any more, as a process that was stopped."""
    over = threading.Event()

    def serve() -> None:
        with suppress(OSError):  # nobody came
            connection, _ = listener.accept()
            attend(connection)

    def attend(connection: socket.socket) -> None:
        with tls.wrap_socket(connection, server_side=True) as secured:
            secured.recv(65536)
            secured.sendall(ANSWER)
            over.wait()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            over.set()
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


async def watch_one_event(config: Config) -> str:
    async with Client(config) as client:
        events = client.watch(LAMPS, resource_version=None)
        async with aclosing(events):
            event = await anext(events)
    return event.resource_version


def test_a_program_that_ends_in_the_middle_of_a_watch_leaves_no_socket() -> None:
    authority = Authority.create("test")
    tls = tls_servers.context_of(authority.server("server", ["127.0.0.1"]))
    with a_server_that_never_says_goodbye(tls) as port:
        ca = Inline(authority.pair.certificate, "the authority")
        config = Config(server=f"https://127.0.0.1:{port}", ca=ca)
        with warnings.catch_warnings(record=True) as complaints:
            warnings.simplefilter("always", ResourceWarning)
            # Its own loop, which ends as soon as the client is closed.
            assert asyncio.run(watch_one_event(config)) == "7"
            gc.collect()
    assert not [str(each.message) for each in complaints]


async def test_a_socket_that_nobody_attends_to_is_closed_too() -> None:
    sockets = Sockets()
    unused = sockets.keep(socket.socket())
    await sockets.hang_up(SystemClock())
    assert unused.fileno() == -1
    assert not len(sockets)


@pytest.mark.parametrize("way", ["close", "detach"])
def test_a_socket_that_is_closed_is_forgotten(way: str) -> None:
    sockets = Sockets()
    opened = sockets.keep(socket.socket())
    assert len(sockets) == 1
    number = getattr(opened, way)()
    with suppress(TypeError):
        socket.close(number)
    assert not len(sockets)
