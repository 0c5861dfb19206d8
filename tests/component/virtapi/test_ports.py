"""Ports of guests, through both servers. A server on the loopback address plays the guest."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest
from aiohttp import WSMsgType
from tests.component.virtapi.machines import Json, Machines

from kubevirt.kube.errors import ApiError, BadRequest, Conflict

PROTOCOL = "plain.kubevirt.io"
LIMIT_S = 60.0
HERE = [{"name": "default", "ipAddress": "127.0.0.1"}]


@asynccontextmanager
async def listening(answer: Any) -> AsyncIterator[int]:
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        await server.wait_closed()


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except ConnectionError:
        pass
    finally:
        writer.close()


async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"SSH-2.0-guest\r\n")
    await writer.drain()
    writer.close()


@asynccontextmanager
async def forwarded(
    machines: Machines, port: int | str, *, resource: str = "virtualmachineinstances"
) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
    path = machines.call(resource, "testvm", f"portforward/{port}")
    async with machines.client.websocket(path, [PROTOCOL]) as socket:
        yield socket


async def reachable(machines: Machines, owner: Json | None = None) -> None:
    vmi = await machines.instance(owner=owner, interfaces=HERE)
    await machines.pod(vmi, "127.0.0.1")


async def test_a_port_of_a_guest_is_reached(machines: Machines) -> None:
    await reachable(machines)
    data = bytes(range(256)) * 8192
    async with listening(echo) as port, forwarded(machines, port) as socket:
        await socket.send_bytes(data)
        found = b""
        async with asyncio.timeout(LIMIT_S):
            while len(found) < len(data):
                found += await socket.receive_bytes()
        assert found == data


@pytest.mark.parametrize("suffix", ["", "/tcp"])
async def test_a_port_of_a_machine_is_its_guests(machines: Machines, suffix: str) -> None:
    vm = await machines.machine(runStrategy="Manual")
    await reachable(machines, vm)
    async with (
        listening(greet) as port,
        forwarded(machines, f"{port}{suffix}", resource="virtualmachines") as socket,
    ):
        async with asyncio.timeout(LIMIT_S):
            assert await socket.receive_bytes() == b"SSH-2.0-guest\r\n"
            message = await socket.receive()
        assert message.type in (WSMsgType.CLOSE, WSMsgType.CLOSING)
        assert socket.close_code == 1000


class _Echo(asyncio.DatagramProtocol):
    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def datagram_received(self, data: bytes, addr: Any) -> None:
        self.transport.sendto(data, addr)


async def test_datagrams_stay_whole(machines: Machines) -> None:
    await reachable(machines)
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_datagram_endpoint(_Echo, local_addr=("127.0.0.1", 0))
    try:
        port = transport.get_extra_info("sockname")[1]
        async with forwarded(machines, f"{port}/udp") as socket:
            for data in (b"one", b"two" * 1000):
                await socket.send_bytes(data)
                async with asyncio.timeout(LIMIT_S):
                    assert await socket.receive_bytes() == data
    finally:
        transport.abort()


async def test_a_guest_that_is_left_is_told(machines: Machines) -> None:
    await reachable(machines)
    ended = asyncio.Event()

    async def wait(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.read()
        finally:
            writer.close()
            ended.set()

    async with listening(wait) as port:
        async with forwarded(machines, port):
            pass
        async with asyncio.timeout(LIMIT_S):
            await ended.wait()


async def test_nobody_listens(machines: Machines) -> None:
    await reachable(machines)
    async with listening(echo) as port:
        pass
    said = rf"dialing VM: dial tcp 127\.0\.0\.1:{port}: connect: connection refused"
    with pytest.raises(ApiError, match=said) as caught:
        async with forwarded(machines, port):
            pass
    assert caught.value.code == 500


async def test_a_guest_sends_nobody_to_an_address_that_is_not_its_own(machines: Machines) -> None:
    """Whatever its agent says: virt-api reaches more than a guest does."""
    vmi = await machines.instance(interfaces=HERE)
    await machines.pod(vmi, "10.0.0.7")
    async with listening(echo) as port:
        with pytest.raises(BadRequest, match=r"127\.0\.0\.1 is not an address of the pod"):
            async with forwarded(machines, port):
                pass


async def test_what_cannot_be_forwarded(machines: Machines) -> None:
    vm = await machines.machine(runStrategy="Manual")
    with pytest.raises(Conflict, match="VMI is not started"):
        async with forwarded(machines, 22, resource="virtualmachines"):
            pass
    await machines.instance(owner=vm)
    with pytest.raises(BadRequest, match="no network interfaces are present"):
        async with forwarded(machines, 22):
            pass
    with pytest.raises(BadRequest, match="port must be a number"):
        async with forwarded(machines, "ssh"):
            pass
    await machines.tell("testvm", conditions=[{"type": "Paused", "status": "True"}])
    with pytest.raises(Conflict, match="VMI is paused"):
        async with forwarded(machines, 22):
            pass
