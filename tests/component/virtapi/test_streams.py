"""Consoles and screens: from a user through both servers to a node, and back."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest
from aiohttp import WSMsgType, web
from tests.component.virtapi.machines import Machines
from tests.component.virtapi.stand_in_handler import CHUNK, StandInHandler

from clusterup import waiting
from kubevirt.kube.errors import BadRequest, NotFound, ServiceUnavailable

PROTOCOL = "plain.kubevirt.io"
LIMIT_S = 60.0


@asynccontextmanager
async def connected(
    machines: Machines, what: str = "console", **params: str
) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
    path = machines.call("virtualmachineinstances", "testvm", what)
    async with machines.client.websocket(path, [PROTOCOL], params=params) as socket:
        yield socket


async def echoed(socket: aiohttp.ClientWebSocketResponse, data: bytes) -> bytes:
    await socket.send_bytes(data)
    found = b""
    async with asyncio.timeout(LIMIT_S):
        while len(found) < len(data):
            found += await socket.receive_bytes()
    return found


@pytest.mark.parametrize("what", ["console", "vnc"])
async def test_what_is_said_comes_back(
    machines: Machines, handler: StandInHandler, what: str
) -> None:
    await machines.instance()
    async with connected(machines, what) as socket:
        assert socket.protocol == PROTOCOL
        assert await echoed(socket, b"login: ") == b"login: "
        large = bytes(range(256)) * 4096
        assert await echoed(socket, large) == large
    async with asyncio.timeout(LIMIT_S):
        await handler.has_ended.wait()
    assert handler.ends == [1000]


async def test_a_screen_is_asked_for_as_the_user_asks(
    machines: Machines, handler: StandInHandler
) -> None:
    await machines.instance()
    async with connected(machines, "vnc", preserveSession="true", other="x"):
        pass
    ((_, path, _),) = handler.asked
    assert path.endswith("/virtualmachineinstances/testvm/vnc?preserveSession=true")


async def test_a_node_that_ends_it_is_heard(machines: Machines, handler: StandInHandler) -> None:
    await machines.instance()
    async with connected(machines) as socket:
        await socket.send_bytes(b"close")
        async with asyncio.timeout(LIMIT_S):
            message = await socket.receive()
        assert message.type in (WSMsgType.CLOSE, WSMsgType.CLOSING)
        assert socket.close_code == 4001


async def test_who_does_not_read_stops_who_writes(
    machines: Machines, handler: StandInHandler
) -> None:
    await machines.instance()
    async with connected(machines) as socket:
        await socket.send_bytes(b"flood")
        before = -1

        async def is_stopped() -> bool:
            """Whether nothing more was sent for a while."""
            nonlocal before
            same, before = handler.sent == before, handler.sent
            await asyncio.sleep(0.5)
            return same and before > 0

        await waiting.until(is_stopped, limit_s=LIMIT_S, what="the node has stopped sending")
        assert handler.sent < 64 << 20
        for _ in range(100):
            async with asyncio.timeout(LIMIT_S):
                assert await socket.receive_bytes() == CHUNK


async def test_a_refusal_comes_before_there_is_a_websocket(
    machines: Machines, handler: StandInHandler
) -> None:
    await machines.instance()
    handler.refusal = web.Response(status=503, text="Active VNC connection. Request denied.")
    with pytest.raises(ServiceUnavailable, match="Active VNC connection"):
        async with connected(machines, "vnc"):
            pass


@pytest.mark.parametrize(
    ("devices", "what", "text"),
    [
        ({"autoattachSerialConsole": False}, "console", "No serial consoles are present."),
        ({"autoattachGraphicsDevice": False}, "vnc", "No graphics devices are present."),
    ],
)
async def test_what_a_guest_does_not_have(
    machines: Machines, devices: dict[str, bool], what: str, text: str
) -> None:
    domain = {"devices": devices, "memory": {"guest": "64Mi"}}
    await machines.instance(spec={"domain": domain})
    with pytest.raises(BadRequest, match=text):
        async with connected(machines, what):
            pass


async def test_a_stream_is_no_page(machines: Machines) -> None:
    await machines.instance()
    path = machines.call("virtualmachineinstances", "testvm", "console")
    with pytest.raises(BadRequest, match=r"this is a websocket of protocol plain\.kubevirt\.io"):
        await machines.client.raw("GET", path)


async def test_open_consoles_are_counted(machines: Machines, handler: StandInHandler) -> None:
    await machines.instance()
    series = f'kubevirt_console_active_connections{{namespace="{machines.namespace}",vmi="testvm"}}'

    async def text() -> str:
        url = f"https://localhost:{machines.place.port}/metrics"
        async with (
            aiohttp.ClientSession() as session,
            session.get(
                url,
                ssl=machines.place.door_context(),
                server_hostname="virt-api.kubevirt.svc",
            ) as answer,
        ):
            return await answer.text()

    async with connected(machines) as socket:
        await echoed(socket, b"x")
        assert f"{series} 1.0" in await text()

    async def is_gone() -> bool:
        return series not in await text()

    await waiting.until(is_gone, limit_s=LIMIT_S, what="the console is not counted any more")


async def test_consoles_of_nobody(machines: Machines) -> None:
    with pytest.raises(NotFound, match=r'virtualmachineinstance\.kubevirt\.io "testvm" not found'):
        async with connected(machines):
            pass
