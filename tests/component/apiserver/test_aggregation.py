"""A part of the API in the same process as the server, behind a private socket; and what only this server promises."""

import asyncio
import json
import socket as sockets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import WSMsgType
from tests.contract.aggregation.extension import Extension

from clusterup import waiting
from kubevirt.apiserver.aggregation.websockets import MESSAGE_LIMIT
from kubevirt.apiserver.auth.access import AccessSettings
from kubevirt.apiserver.auth.audit_log import AuditLogSettings
from kubevirt.apiserver.auth.authority import signing_key
from kubevirt.apiserver.http.limits import Limits
from kubevirt.apiserver.server import ADMINISTRATOR, ApiServer, ServerSettings, serving

API_SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"
GROUP = "toys.example"


class World:
    """A server, and somebody who asks it."""

    def __init__(self, server: ApiServer, session: aiohttp.ClientSession, folder: Path) -> None:
        self.server = server
        self.session = session
        self.folder = folder

    async def json(self, path: str) -> Any:
        async with self.session.get(f"{self.server.url}{path}") as answer:
            assert answer.status == 200, await answer.text()
            return await answer.json(content_type=None)

    async def post(self, path: str, body: Any) -> None:
        async with self.session.post(f"{self.server.url}{path}", json=body) as answer:
            assert answer.status == 201, await answer.text()

    async def register(self, group: str = GROUP) -> None:
        spec = {
            "group": group,
            "version": "v1",
            "groupPriorityMinimum": 1000,
            "versionPriority": 15,
            "service": {"namespace": "kubevirt", "name": "toys"},
        }
        await self.post(API_SERVICES, {"metadata": {"name": f"v1.{group}"}, "spec": spec})

    async def until(self, reason: str, group: str = GROUP) -> None:
        async def has_it() -> bool:
            found = await self.json(f"{API_SERVICES}/v1.{group}")
            conditions = found.get("status", {}).get("conditions") or [{}]
            return bool(conditions[0].get("reason") == reason)

        await waiting.until(has_it, limit_s=60, what=f"it is {reason}")

    async def written(self, path: str) -> Any:
        """The one line of the audit log about a path, once there is one."""
        found: list[Any] = []

        async def is_there() -> bool:
            nonlocal found
            text = await asyncio.to_thread((self.folder / "audit.log").read_text)
            lines = map(json.loads, text.splitlines())
            found = [each for each in lines if each["requestURI"] == path]
            return bool(found)

        await waiting.until(is_there, limit_s=60, what="it is written down")
        (line,) = found
        return line

    def console(self, toys: Extension, **more: Any) -> Any:
        url = f"{self.server.url}{toys.toy('ball', 'console')}"
        return self.session.ws_connect(url, **more)


@asynccontextmanager
async def running(folder: Path, **limits: Any) -> AsyncIterator[World]:
    access = AccessSettings(signing_key=signing_key(), known_tokens={"admin": ADMINISTRATOR})
    settings = ServerSettings(
        data=folder / "store.db",
        access=access,
        audit=AuditLogSettings(path=folder / "audit.log"),
        limits=Limits(**limits),
    )
    headers = {"Authorization": "Bearer admin"}
    async with serving(settings) as server, aiohttp.ClientSession(headers=headers) as session:
        yield World(server, session, folder)


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with running(tmp_path) as made:
        yield made


@pytest.fixture
async def toys(world: World, tmp_path: Path) -> AsyncIterator[Extension]:
    """Registered and there."""
    socket = tmp_path / "toys.sock"
    async with Extension(GROUP).at(socket) as extension:
        world.server.callees.register("kubevirt", "toys", str(socket))
        await world.register()
        await world.until("Passed")
        yield extension


async def test_a_callee_of_the_same_process_needs_neither_service_nor_certificate(
    world: World, toys: Extension
) -> None:
    told = await world.json(toys.toy("ball", "echo"))
    headers = dict(told["headers"])
    assert headers["x-remote-user"] == "kubernetes-admin"
    assert "authorization" not in headers
    async with world.console(toys, protocols=["plain.toys"]) as console:
        await console.send_str("hello")
        assert (await console.receive(timeout=60)).data == "hello"


async def test_who_comes_and_goes_is_seen_at_once(world: World, tmp_path: Path) -> None:
    await world.register()
    await world.until("ServiceNotFound")
    socket = tmp_path / "toys.sock"
    async with Extension(GROUP).at(socket):
        async with asyncio.timeout(60):
            world.server.callees.register("kubevirt", "toys", str(socket))
            await world.until("Passed")
            world.server.callees.forget("kubevirt", "toys")
            await world.until("ServiceNotFound")


async def test_what_is_passed_on_is_written_down_once_under_one_name(
    world: World, toys: Extension
) -> None:
    path = toys.toy("ball", "echo")
    async with world.session.get(f"{world.server.url}{path}") as answer:
        told = await answer.json()
        number = answer.headers["Audit-Id"]
    assert dict(told["headers"])["audit-id"] == number
    line = await world.written(path)
    assert line["auditID"] == number
    assert line["responseStatus"]["code"] == 200
    assert line["objectRef"]["subresource"] == "echo"


async def test_a_console_outlives_the_time_of_a_request(tmp_path: Path) -> None:
    socket = tmp_path / "toys.sock"
    async with Extension(GROUP).at(socket) as toys, running(tmp_path, request_s=1) as world:
        world.server.callees.register("kubevirt", "toys", str(socket))
        await world.register()
        await world.until("Passed")
        async with world.console(toys) as console:
            reader, writer = await asyncio.open_connection("127.0.0.1", world.server.port)
            writer.write(
                b"POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nHost: x\r\n"
                b"Authorization: Bearer admin\r\nContent-Length: 100\r\n\r\n"
            )
            assert (await reader.readline()).startswith(b"HTTP/1.1 504 ")
            writer.close()
            await console.send_str("hello")
            assert (await console.receive(timeout=60)).data == "hello"


async def test_a_console_is_written_down_when_it_ends(world: World, toys: Extension) -> None:
    async with world.console(toys):
        pass
    line = await world.written(toys.toy("ball", "console"))
    assert line["responseStatus"]["code"] == 101


async def test_what_its_client_breaks_off_is_written_down_with_the_code_it_had(
    world: World, toys: Extension
) -> None:
    """It had none: a console of which the client was gone before the server was done with it, and every watch."""
    console = await world.console(toys)
    console.get_extra_info("socket").shutdown(sockets.SHUT_RDWR)
    line = await world.written(toys.toy("ball", "console"))
    assert line["responseStatus"]["code"] == 101
    path = "/api/v1/namespaces?watch=true"
    async with world.session.get(f"{world.server.url}{path}") as answer:
        answer.close()
    assert (await world.written(path))["responseStatus"]["code"] == 200


@pytest.mark.parametrize("body", ["not json", "[]", '{"kind": "Toy"}', '{"kind": "Status"}'])
async def test_a_no_of_a_callee_is_written_down_whatever_it_says(
    world: World, toys: Extension, body: str
) -> None:
    toys.refusal = body
    with pytest.raises(aiohttp.WSServerHandshakeError) as caught:
        await world.session.ws_connect(f"{world.server.url}{toys.toy('ball', 'console')}?refuse=1")
    assert caught.value.status == 409


async def test_no_other_protocol_than_websockets_is_passed_on(
    world: World, toys: Extension
) -> None:
    headers = {"Connection": "Upgrade", "Upgrade": "SPDY/3.1"}
    url = f"{world.server.url}{toys.toy('ball', 'console')}"
    async with world.session.get(url, headers=headers) as answer:
        assert answer.status == 400
        assert (await answer.json())["message"] == (
            "this server passes on websockets and no other protocol; an upgrade to spdy/3.1 was asked for"
        )
    assert toys.seen == []


async def test_a_message_too_long_to_be_held_ends_the_console(
    world: World, toys: Extension
) -> None:
    async with world.console(toys, max_msg_size=0) as console:
        await console.send_bytes(b"x" * (MESSAGE_LIMIT - 1))
        assert len((await console.receive(timeout=60)).data) == MESSAGE_LIMIT - 1
        await console.send_bytes(b"x" * (MESSAGE_LIMIT + 1))
        message = await console.receive(timeout=60)
        assert message.type is WSMsgType.CLOSE
        assert message.data == 1009


async def test_consoles_leave_nothing_behind_however_they_end(
    world: World, toys: Extension
) -> None:
    async def one(number: int) -> None:
        console = await world.console(toys)
        await console.send_str("hello")
        await console.receive(timeout=60)
        match number % 4:
            case 0:
                await console.close()
            case 1:
                await console.send_str("close 4000 enough")
                await console.receive(timeout=60)
            case 2:
                await console.send_str("vanish")
                await console.receive(timeout=60)
            case 3:
                console._conn.transport.abort()
        await console.close()

    await one(0)
    before = len(asyncio.all_tasks())
    await asyncio.gather(*(one(number) for number in range(24)))

    async def are_gone() -> bool:
        return len(asyncio.all_tasks()) <= before

    await waiting.until(are_gone, limit_s=60, what="nobody attends to a console any more")
    pools = world.server.callees._pools.values()
    assert [pool.users for pool in pools] == [0] * len(pools)


async def test_the_server_ends_though_consoles_and_watches_are_open(tmp_path: Path) -> None:
    socket = tmp_path / "toys.sock"
    async with Extension(GROUP).at(socket) as toys:
        async with asyncio.timeout(60), running(tmp_path) as world:
            world.server.callees.register("kubevirt", "toys", str(socket))
            await world.register()
            await world.until("Passed")
            console = await world.console(toys)
            watch = await world.session.get(f"{world.server.url}{toys.toy()}?watch=true")
            loop = asyncio.get_running_loop()
            began = loop.time()
        assert loop.time() - began < 30, "it waits for them"
        watch.close()
        await console.close()


async def test_a_second_start_writes_nothing(tmp_path: Path) -> None:
    async with running(tmp_path) as world:
        await at_rest(world, "first")
        assert len((await world.json(API_SERVICES))["items"]) > 10
    before = world.server.registry.store.revision  # whatever it wrote last
    async with running(tmp_path) as world:
        store = world.server.registry.store
        assert store.revision == before
        await at_rest(world, "second")
        scanned = [entry async for chunk in store.scan("/") for entry in chunk]
    written = [entry.key for entry in scanned if entry.revision > before]
    assert written
    assert [key for key in written if "second" not in key] == []


async def at_rest(world: World, mark: str) -> None:
    """Until those who write by themselves have come to what was written last: a namespace is furnished, and
    somebody has looked for an API.
    """
    await world.register(f"{mark}.example")
    await world.post("/api/v1/namespaces", {"metadata": {"name": mark}})
    await world.until("ServiceNotFound", f"{mark}.example")

    async def is_furnished() -> bool:
        found = await world.json(f"/api/v1/namespaces/{mark}/serviceaccounts")
        return bool(found["items"])

    await waiting.until(is_furnished, limit_s=60, what="a new namespace is furnished")


async def test_who_was_there_before_a_restart_is_there_again_at_once(tmp_path: Path) -> None:
    socket = tmp_path / "toys.sock"
    async with Extension(GROUP).at(socket) as toys:
        for number in range(2):
            async with running(tmp_path) as world:
                if number == 0:
                    await world.register()
                world.server.callees.register("kubevirt", "toys", str(socket))
                url = f"{world.server.url}{toys.toy('ball')}"

                async def answers(world: World = world, url: str = url) -> bool:
                    async with world.session.get(url) as answer:
                        return bool(answer.status == 200)

                await waiting.until(answers, limit_s=60, what="it answers")
