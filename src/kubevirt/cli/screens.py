"""The screen of a guest: one viewer, one connection."""

import asyncio
import json
import os
import socket
from dataclasses import dataclass
from typing import Final

import aiohttp
import click

from kubevirt.base import commands
from kubevirt.base.errors import UserError
from kubevirt.base.tasks import first_of
from kubevirt.cli import subresources
from kubevirt.cli.asking import Session
from kubevirt.cli.streams import tcp
from kubevirt.cli.targets import Target
from kubevirt.cli.viewers import Viewer

LISTEN_S: Final = 60.0
"""How long a viewer may take to come."""
LOOK_S: Final = 30 * 24 * 3600.0
"""A person may look as long as they like; a wait without a limit is a bug all the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    address: str = "127.0.0.1"
    port: int = 0
    preserves_session: bool = False
    viewer: Viewer | None = None
    """None where whoever asks brings their own."""


async def show(target: Target, wish: Wish, session: Session) -> None:
    target = target.in_namespace(session.namespace)
    preserved = {"preserveSession": "true"} if wish.preserves_session else {}
    # The guest first: that it has no screen is said before a viewer opens a window.
    async with subresources.connected(session, target, "vnc", **preserved) as connection:
        with tcp.bound(wish.address, wish.port, socket.SOCK_STREAM) as listener:
            port = int(listener.getsockname()[1])
            if wish.viewer is None:
                click.echo(json.dumps({"port": port}, separators=(",", ":")))
                await _serve_one(listener, connection)
            else:
                await first_of(
                    _look(wish.viewer, wish.address, port),
                    _serve_one(listener, connection, limit_s=LISTEN_S),
                )


async def _serve_one(
    listener: socket.socket,
    connection: aiohttp.ClientWebSocketResponse,
    limit_s: float | None = None,
) -> None:
    """The first who comes; a screen has one viewer."""
    came: asyncio.Future[tuple[asyncio.StreamReader, asyncio.StreamWriter]]
    came = asyncio.get_running_loop().create_future()

    def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if came.done():
            writer.transport.abort()
        else:
            came.set_result((reader, writer))

    server = await asyncio.start_server(take, sock=listener)
    try:
        async with asyncio.timeout(limit_s):
            reader, writer = await came
    except TimeoutError:
        raise UserError(
            f"no viewer came to the port within {limit_s:g} s; connect your own, with --proxy-only",
            reason="Timeout",
        ) from None
    finally:
        server.close()
    try:
        await tcp.carry(connection, reader, writer)
    finally:
        writer.transport.abort()


async def _look(viewer: Viewer, address: str, port: int) -> None:
    """Until its window is closed. It needs the session of whoever sits here, so it gets our environment."""
    done = await commands.run(
        viewer.program,
        *viewer.arguments(address, port),
        env=dict(os.environ),
        timeout_s=LOOK_S,
        check=False,
    )
    if done.exit_code:
        done.check()


async def picture(target: Target, session: Session, *, moves_cursor: bool) -> bytes:
    """PNG."""
    target = target.in_namespace(session.namespace)
    params = {"moveCursor": "true"} if moves_cursor else None
    return await subresources.get(
        session, target, "vnc/screenshot", params=params, accept="image/png, */*"
    )
