"""Connecting to a Unix socket."""

import asyncio
import socket
from pathlib import Path

from kubevirt.base import unix_sockets
from kubevirt.base.clock import SystemClock


async def test_who_comes_when_too_many_wait_is_connected_once_they_were_let_in(
    tmp_path: Path,
) -> None:
    address = str(tmp_path / "door")
    with (
        socket.socket(socket.AF_UNIX) as door,
        socket.socket(socket.AF_UNIX) as first,
        socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK) as second,
    ):
        door.bind(address)
        door.listen(0)
        first.connect(address)
        coming = asyncio.create_task(unix_sockets.connect(second, address, SystemClock()))
        done, _ = await asyncio.wait([coming], timeout=0.2)
        assert not done
        door.accept()[0].close()
        async with asyncio.timeout(30):
            await coming
        assert second.getpeername() == address
