"""Consoles of an API that somebody else serves: both directions, to the last word."""

import asyncio
import base64
from typing import Any

import aiohttp
import pytest
from aiohttp import WSMsgType
from tests.contract.aggregation.conftest import Registry
from tests.contract.aggregation.door import Door, opened
from tests.contract.aggregation.extension import CHUNK, Extension
from tests.contract.aggregation.test_proxying import settled
from tests.contract.conftest import People


def console(toys: Extension) -> str:
    return toys.toy("ball", "console")


async def heard(socket: Any) -> Any:
    return await socket.receive(timeout=10)


@pytest.mark.parametrize(
    ("wanted", "given"),
    [
        (["v5.channel.k8s.io"], "v5.channel.k8s.io"),
        (["unknown", "plain.toys", "v5.channel.k8s.io"], "plain.toys"),
        ([], None),
    ],
)
async def test_a_protocol_is_agreed_on_with_the_callee(
    toys: Extension, door: Door, wanted: list[str], given: str | None
) -> None:
    async with door.websocket(console(toys), protocols=wanted) as socket:
        assert socket.protocol == given
        await socket.send_str("hello")
        assert (await heard(socket)).data == "hello"


async def test_messages_keep_their_kind_and_their_bytes(toys: Extension, door: Door) -> None:
    async with door.websocket(console(toys)) as socket:
        for text in ("", "ä€😀", "x" * 200_000):
            await socket.send_str(text)
            message = await heard(socket)
            assert (message.type, message.data) == (WSMsgType.TEXT, text)
        for data in (b"", bytes(range(256)), b"y" * 1_000_000):
            await socket.send_bytes(data)
            message = await heard(socket)
            assert (message.type, message.data) == (WSMsgType.BINARY, data)


async def test_the_callee_learns_who_is_at_the_console(toys: Extension, door: Door) -> None:
    headers = {
        "X-Remote-User": "root",
        "Impersonate-User": "bob",
        "Impersonate-Group": "system:masters",
    }
    async with door.websocket(console(toys), headers=headers):
        pass
    told = toys.seen[-1]["headers"]
    assert [value for name, value in told if name == "x-remote-user"] == ["bob"]
    assert not [name for name, _ in told if name.startswith("impersonate-")]


async def test_a_token_of_a_browser_is_for_the_server_alone(
    toys: Extension, door: Door, registry: Registry, robot: str
) -> None:
    """It comes as a protocol, since a browser can send nothing else."""
    token = base64.urlsafe_b64encode(robot.encode()).decode().rstrip("=")
    protocols = [f"base64url.bearer.authorization.k8s.io.{token}", "plain.toys"]
    url = f"{door.url}{toys.toy('ball', 'console', registry.namespace)}"
    async with (
        aiohttp.ClientSession() as session,
        session.ws_connect(url, protocols=protocols, ssl=False) as socket,
    ):
        assert socket.protocol == "plain.toys"
    told = dict(toys.seen[-1]["headers"])
    assert told["x-remote-user"] == f"system:serviceaccount:{registry.namespace}:robot"
    assert told["sec-websocket-protocol"] == "plain.toys"


async def test_who_may_not_gets_no_console(toys: Extension, people: People) -> None:
    async with opened(people.kubeconfig_for("eve")) as eve:
        with pytest.raises(aiohttp.WSServerHandshakeError) as caught:
            await eve.websocket(console(toys))
    assert caught.value.status == 403
    assert toys.seen == []


async def test_a_no_of_the_callee_is_passed_on_whole(toys: Extension, door: Door) -> None:
    headers = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": base64.b64encode(b"0123456789abcdef").decode(),
    }
    async with door.get(f"{console(toys)}?refuse=1", headers=headers) as answer:
        assert answer.status == 409
        assert (await answer.json())["message"] == "not now"


@pytest.mark.parametrize(("code", "reason"), [(1000, "done"), (1011, "oops"), (4242, "own words")])
async def test_the_callee_ends_it_in_its_own_words(
    toys: Extension, door: Door, code: int, reason: str
) -> None:
    async with door.websocket(console(toys), autoclose=False) as socket:
        await socket.send_str(f"close {code} {reason}")
        message = await heard(socket)
        assert (message.type, message.data, message.extra) == (WSMsgType.CLOSE, code, reason)


async def test_the_client_ends_it_in_its_own_words(toys: Extension, door: Door) -> None:
    async with door.websocket(console(toys)) as socket:
        await socket.close(code=4711, message=b"enough")
        assert socket.close_code == 4711
    async with asyncio.timeout(120):
        await toys.left.wait()
    assert toys.ends == [4711]


async def test_a_ping_is_answered_by_the_other_end(toys: Extension, door: Door) -> None:
    async with door.websocket(console(toys), autoping=False) as socket:
        await socket.ping(b"me")
        message = await heard(socket)
        assert (message.type, message.data) == (WSMsgType.PONG, b"me")
        await socket.send_str("ping")
        message = await heard(socket)
        assert (message.type, message.data) == (WSMsgType.PING, b"are you there")
        await socket.pong(message.data)
        assert (await heard(socket)).data == "pong are you there"


async def test_a_callee_that_vanishes_takes_the_console_with_it(
    toys: Extension, door: Door
) -> None:
    async with door.websocket(console(toys)) as socket:
        await socket.send_str("vanish")
        message = await heard(socket)
        assert message.type in (WSMsgType.CLOSED, WSMsgType.ERROR)
        assert socket.close_code == 1006


async def test_a_client_that_vanishes_leaves_nothing_behind(toys: Extension, door: Door) -> None:
    socket = await door.websocket(console(toys))
    await socket.send_str("hello")
    await heard(socket)
    socket._conn.transport.abort()  # there is no polite way to be rude
    async with asyncio.timeout(120):
        await toys.left.wait()
    await socket.close()


async def test_a_callee_waits_for_a_console_that_nobody_reads(toys: Extension, door: Door) -> None:
    async with door.websocket(console(toys)) as socket:
        await socket.send_str("flood")
        await settled(toys)
        stopped_at = toys.sent
        assert stopped_at < 64 << 20
        for _ in range(2 * stopped_at // len(CHUNK)):
            assert (await heard(socket)).data == CHUNK
        socket._conn.transport.abort()


async def test_what_is_unavailable_has_no_console(toys: Extension, door: Door) -> None:
    path = console(toys).replace(toys.group, f"no.{toys.group}")
    with pytest.raises(aiohttp.WSServerHandshakeError) as caught:
        await door.websocket(path)
    assert caught.value.status == 404
