"""Asks a container, in the way that a probe or a hook says: a command, HTTP, a connection.

What a container answers is bounded, and is told to users as it is. gRPC is not spoken here: it would cost
every node tens of megabytes for what hardly a pod asks for, so such a probe fails and says so.
"""

import asyncio
import os
import socket
from collections.abc import Sequence
from typing import Final, Protocol

import aiohttp
import msgspec
from yarl import URL

from kubevirt.api.core.container import Container
from kubevirt.api.core.probes import ExecAction, GRPCAction, HTTPGetAction, TCPSocketAction
from kubevirt.api.struct import IntOrString
from kubevirt.base.errors import KubevirtError
from kubevirt.embedded.node.probes import http
from kubevirt.embedded.node.probes.http import SAID
from kubevirt.embedded.node.probes.schedule import Answer
from kubevirt.embedded.node.standpoint import Standpoint
from kubevirt.embedded.runtime import joining
from kubevirt.embedded.runtime.attempt import Attempt
from kubevirt.embedded.runtime.keeper import Keeper

_AGENT: Final = "kube-probe/1.34"


class Asked(Protocol):
    """What probes and hooks have in common."""

    @property
    def exec(self) -> ExecAction | None: ...
    @property
    def http_get(self) -> HTTPGetAction | None: ...
    @property
    def tcp_socket(self) -> TCPSocketAction | None: ...


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """Whom to ask."""

    container: Container
    attempt: Attempt
    address: str
    """Of its pod."""


class Asking:
    def __init__(self, keeper: Keeper, standpoint: Standpoint) -> None:
        """`standpoint` is the node's: what is asked by address is asked from there."""
        self._keeper = keeper
        self._standpoint = standpoint

    async def ask(self, asked: Asked, target: Target, timeout_s: float) -> Answer:
        """A bad answer for everything that goes wrong, the time limit too."""
        try:
            async with asyncio.timeout(timeout_s):
                return await self._ask(asked, target)
        except TimeoutError:
            return Answer(is_good=False, said=_late(asked, timeout_s))
        except KubevirtError as error:
            return Answer(is_good=False, said=str(error))

    async def _ask(self, asked: Asked, target: Target) -> Answer:
        if asked.exec is not None:
            return await self._command(asked.exec.command, target)
        if asked.http_get is not None:
            return await self._http(asked.http_get, target)
        if asked.tcp_socket is not None:
            return await self._connection(asked.tcp_socket, target)
        if isinstance(getattr(asked, "grpc", None), GRPCAction):
            return Answer(is_good=False, said="this node does not speak gRPC to its pods")
        return Answer(is_good=True)

    async def _command(self, command: Sequence[str], target: Target) -> Answer:
        done = await joining.completed(target.attempt, self._keeper, command)
        said = done.output.decode(errors="replace")[:SAID]
        return Answer(is_good=done.code == 0, said=said)

    async def _http(self, asked: HTTPGetAction, target: Target) -> Answer:
        port = _port(asked.port, target.container)
        if port is None:
            return _no_port(asked.port)
        scheme = (asked.scheme or "HTTP").lower()
        host = asked.host or target.address
        path = asked.path or "/"
        url = f"{scheme}://{_bracketed(host)}:{port}{'' if path.startswith('/') else '/'}{path}"
        headers = {"User-Agent": _AGENT, "Accept": "*/*", "Connection": "close"}
        headers |= {each.name: each.value for each in asked.http_headers}
        try:
            return await http.ask(URL(url), headers, self._standpoint)
        except (aiohttp.ClientError, OSError, ValueError) as error:
            return Answer(is_good=False, said=f'Get "{url}": {_dialled(host, port, error)}')

    async def _connection(self, asked: TCPSocketAction, target: Target) -> Answer:
        port = _port(asked.port, target.container)
        if port is None:
            return _no_port(asked.port)
        host = asked.host or target.address
        try:
            await _connect(host, port, self._standpoint)
        except OSError as error:
            return Answer(is_good=False, said=_dialled(host, port, error))
        return Answer(is_good=True)


async def _connect(host: str, port: int, standpoint: Standpoint) -> None:
    """To the first of its addresses where anybody answers."""
    loop = asyncio.get_running_loop()
    failure = OSError()
    for address in await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        with standpoint.socket(address) as calling:
            calling.setblocking(False)
            try:
                return await loop.sock_connect(calling, address[4])
            except OSError as error:
                failure = error
    raise failure


def _port(asked: IntOrString, container: Container) -> int | None:
    """By number, or by the name that the container gives it."""
    if isinstance(asked, int):
        return asked
    named = (each.container_port for each in container.ports if each.name == asked)
    return next(named, int(asked) if asked.isdecimal() else None)


def _no_port(asked: IntOrString) -> Answer:
    return Answer(is_good=False, said=f"couldn't find port: {asked}")


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _dialled(host: str, port: int, error: BaseException) -> str:
    """In Go's words."""
    if isinstance(error, aiohttp.ClientConnectorError):  # a redirect may have led to another port
        host, port = error.host, error.port or port
    if isinstance(error, OSError):
        return f"dial tcp {_bracketed(host)}:{port}: connect: {_cause(error)}"
    return _cause(error)


def _cause(error: BaseException) -> str:
    number = getattr(error, "errno", None)
    if number is not None and number > 0:
        return os.strerror(number).lower()
    return (str(error) or type(error).__name__)[:SAID]


def _late(asked: Asked, timeout_s: float) -> str:
    if asked.exec is not None:
        return f'command timed out: "{" ".join(asked.exec.command)}" timed out after {timeout_s:g}s'
    if asked.tcp_socket is not None:
        return f"dial tcp: i/o timeout after {timeout_s:g}s"
    return "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
