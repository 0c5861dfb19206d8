"""Ports of a guest on this machine, until somebody ends it."""

import asyncio
import socket
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack, asynccontextmanager
from functools import partial
from typing import Final

import aiohttp
import click

from kubevirt.base.tasks import first_of
from kubevirt.cli import subresources
from kubevirt.cli.asking import Session
from kubevirt.cli.streams import tcp, udp
from kubevirt.cli.streams.ports import Port
from kubevirt.cli.streams.relay import relay
from kubevirt.cli.streams.stdio import Input, Output
from kubevirt.cli.targets import Target

_SOCKETS: Final = {"tcp": socket.SOCK_STREAM, "udp": socket.SOCK_DGRAM}


async def through_stdio(target: Target, port: Port, session: Session) -> None:
    """As ssh wants it: our input and output are the connection."""
    target = target.in_namespace(session.namespace)
    async with _connected(session, target, port) as connection:
        source, sink = Input(sys.stdin.fileno()), Output(sys.stdout.fileno())
        await first_of(relay(connection, source.read, sink.write), sink.gone())


async def forward(target: Target, ports: Sequence[Port], address: str, session: Session) -> None:
    target = target.in_namespace(session.namespace)
    with ExitStack() as stack:
        # All or none: who forwards three ports wants to know at once that one of them is taken.
        listeners = [
            stack.enter_context(tcp.bound(address, port.local, _SOCKETS[port.protocol]))
            for port in ports
        ]
        async with asyncio.TaskGroup() as tasks:
            for port, listener in zip(ports, listeners, strict=True):
                serve = tcp.serve if port.protocol == "tcp" else udp.serve
                connect = partial(_connected, session, target, port)
                tasks.create_task(serve(listener, connect, _complain))
                taken = listener.getsockname()[1]
                click.echo(f"forwarding {port.protocol} {address}:{taken} to {port.target}")


@asynccontextmanager
async def _connected(
    session: Session, target: Target, port: Port
) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
    where = f"portforward/{port.target}/{port.protocol}"
    async with subresources.connected(session, target, where) as connection:
        yield connection


def _complain(text: str) -> None:
    click.echo(f"virtctl: {text}", err=True)
