"""Programs in containers and their logs, against a server that speaks both protocol versions."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import msgspec
import pytest
from aiohttp import WSMsgType, web
from tests.unit.kube.scripted_server import ScriptedServer, refuses, streams

from kubevirt.base.errors import Unreachable, UserError
from kubevirt.kube.access.config import Config
from kubevirt.kube.client import Client
from kubevirt.kube.errors import BadRequest, Forbidden, InternalError, NotFound
from kubevirt.kube.http.containers import V4, V5, Channel
from kubevirt.kube.http.request import Limits

EXEC = "/api/v1/namespaces/home/pods/web/exec"
LOG = "/api/v1/namespaces/home/pods/web/log"

Script = Callable[[web.WebSocketResponse], Awaitable[None]]

SUCCESS = {"metadata": {}, "status": "Success"}


def exited(code: int) -> dict[str, Any]:
    return {
        "status": "Failure",
        "reason": "NonZeroExitCode",
        "message": f"command terminated with non-zero exit code: exit status {code}",
        "details": {"causes": [{"reason": "ExitCode", "message": str(code)}]},
    }


async def send(socket: web.WebSocketResponse, channel: int, data: bytes) -> None:
    await socket.send_bytes(bytes([channel]) + data)


async def end(socket: web.WebSocketResponse, status: Any) -> None:
    await send(socket, 3, msgspec.json.encode(status))


def runs(script: Script, protocol: str = V5) -> Any:
    """A server that lets `script` play the program."""

    async def answer(request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse(protocols=(protocol,))
        await socket.prepare(request)
        await script(socket)
        await socket.close()
        return socket

    return answer


async def echo(socket: web.WebSocketResponse) -> None:
    """Repeats its input until that ends, then succeeds."""
    async for message in socket:
        assert message.type is WSMsgType.BINARY
        channel, data = message.data[0], message.data[1:]
        if channel == 0:
            await send(socket, 1, data)
        elif channel == 4:
            await send(socket, 2, data)
        elif (channel, data) == (255, b"\0"):
            await end(socket, SUCCESS)
            return


@pytest.fixture
async def server() -> AsyncIterator[ScriptedServer]:
    async with ScriptedServer().running() as server:
        yield server


@pytest.fixture
async def client(server: ScriptedServer) -> AsyncIterator[Client]:
    async with Client(Config(server=server.url)) as client:
        yield client


async def test_a_program_reads_what_is_written_and_ends_when_its_input_does(
    server: ScriptedServer, client: Client
) -> None:
    server.on("GET", EXEC, runs(echo))
    command = ["sh", "-c", "cat & wait"]
    async with client.exec("web", "home", command, container="main", stdin=True) as process:
        await process.write(b"hello")
        await process.resize(columns=80, rows=24)
        await process.close_stdin()
        output = [(channel, data) async for channel, data in process.output()]
        assert await process.exit_code() == 0
    assert output == [
        (Channel.STDOUT, b"hello"),
        (Channel.STDERR, b'{"Width":80,"Height":24}'),
    ]
    assert server.last.query.getall("command") == command  # type: ignore[attr-defined]  # aiohttp's
    assert {k: v for k, v in server.last.query.items() if k != "command"} == {
        "container": "main",
        "stdin": "true",
        "stdout": "true",
        "stderr": "true",
        "tty": "false",
    }
    assert server.last.headers["Sec-WebSocket-Protocol"] == f"{V5},{V4}"


async def test_a_terminal_has_no_separate_stderr(server: ScriptedServer, client: Client) -> None:
    server.on("GET", EXEC, runs(lambda socket: end(socket, SUCCESS)))
    async with client.exec("web", "home", ["sh"], tty=True) as process:
        await process.exit_code()
    assert server.last.query["stderr"] == "false"


@pytest.mark.parametrize("protocol", [V5, V4])
async def test_a_program_that_fails_tells_its_exit_code(
    server: ScriptedServer, client: Client, protocol: str
) -> None:
    async def fails(socket: web.WebSocketResponse) -> None:
        await send(socket, 1, b"")  # servers open channels with empty messages
        await socket.send_bytes(b"")
        await socket.send_str("not ours")
        await send(socket, 2, b"oh no")
        await end(socket, exited(42))

    server.on("GET", EXEC, runs(fails, protocol))
    async with client.exec("web", "home", ["false"]) as process:
        assert await process.exit_code() == 42
        assert await process.exit_code() == 42


async def test_an_older_server_cannot_end_the_input_and_says_so(
    server: ScriptedServer, client: Client
) -> None:
    server.on("GET", EXEC, runs(echo, V4))
    async with client.exec("web", "home", ["cat"], stdin=True) as process:
        with pytest.raises(UserError, match=r"speaks v4\.channel\.k8s\.io, not v5"):
            await process.close_stdin()


async def test_a_program_that_cannot_be_started_is_an_error(
    server: ScriptedServer, client: Client
) -> None:
    status = {
        "status": "Failure",
        "reason": "InternalError",
        "code": 500,
        "message": "executable file not found in $PATH",
    }
    server.on("GET", EXEC, runs(lambda socket: end(socket, status)))
    async with client.exec("web", "home", ["nope"]) as process:
        with pytest.raises(InternalError, match="executable file not found"):
            await process.exit_code()


async def test_a_connection_that_breaks_leaves_the_end_unknown(
    server: ScriptedServer, client: Client
) -> None:
    async def breaks(socket: web.WebSocketResponse) -> None:
        await send(socket, 1, b"x")

    server.on("GET", EXEC, runs(breaks))
    async with client.exec("web", "home", ["x"]) as process:
        with pytest.raises(Unreachable, match="broke before it ended; it may still run"):
            await process.exit_code()


async def test_an_end_that_cannot_be_read_leaves_it_unknown(
    server: ScriptedServer, client: Client
) -> None:
    server.on("GET", EXEC, runs(lambda socket: send(socket, 3, b"gone")))
    async with client.exec("web", "home", ["x"]) as process:
        with pytest.raises(Unreachable, match="did not say how the program"):
            await process.exit_code()


async def test_writing_to_a_program_that_has_ended_says_so(
    server: ScriptedServer, client: Client
) -> None:
    server.on("GET", EXEC, runs(lambda socket: end(socket, SUCCESS)))
    async with client.exec("web", "home", ["true"], stdin=True) as process:
        await process.exit_code()
        with pytest.raises(Unreachable, match="has ended"):
            await process.write(b"x")


async def test_a_pod_that_is_missing_or_forbidden_is_named(
    server: ScriptedServer, client: Client
) -> None:
    server.on(
        "GET", EXEC, refuses(404, "NotFound", 'pods "web" not found', details={"name": "web"})
    )
    with pytest.raises(NotFound, match='pods "web" not found'):
        async with client.exec("web", "home", ["x"]):
            pass
    server.on("GET", EXEC, refuses(403, "Forbidden", "ann may not"))
    with pytest.raises(Forbidden, match="ann may not"):
        async with client.exec("web", "home", ["x"]):
            pass


async def test_a_server_that_does_not_answer_the_wish_is_given_up(server: ScriptedServer) -> None:
    hang = asyncio.Event()

    async def hangs(request: web.Request) -> web.StreamResponse:
        await hang.wait()
        return web.Response()

    server.on("GET", EXEC, hangs)
    async with Client(Config(server=server.url), limits=Limits(call_s=0.2)) as client:
        with pytest.raises(Unreachable, match="did not finish"):
            async with client.exec("web", "home", ["x"]):
                pass
    hang.set()


async def test_a_connection_on_which_a_websocket_was_refused_is_not_used_again(
    server: ScriptedServer, client: Client
) -> None:
    """Servers close it a moment later: the next call failed with it."""
    doors: list[Any] = []

    async def notes(request: web.Request) -> web.StreamResponse:
        assert request.transport
        doors.append(request.transport.get_extra_info("peername"))
        return await refuses(400, "BadRequest", "not now")(request)

    server.on("GET", EXEC, notes)
    server.on("GET", LOG, notes)
    with pytest.raises(BadRequest):
        async with client.exec("web", "home", ["x"]):
            pass
    for _ in range(2):
        with pytest.raises(BadRequest):
            await anext(client.log("web", "home"))
    refused, first, second = doors
    assert refused != first == second


async def test_a_websocket_of_any_kind_can_be_opened(
    server: ScriptedServer, client: Client
) -> None:
    async def shouts(socket: web.WebSocketResponse) -> None:
        await socket.send_bytes((await socket.receive_bytes()).upper())

    path = "/apis/subresources.kubevirt.io/v1/namespaces/home/virtualmachineinstances/vm/console"
    server.on("GET", path, runs(shouts, "plain.kubevirt.io"))
    async with client.websocket(path, ["plain.kubevirt.io"], params={"a": 1}) as connection:
        await connection.send_bytes(b"hello")
        assert await connection.receive_bytes() == b"HELLO"
        assert connection.protocol == "plain.kubevirt.io"
    assert server.last.query == {"a": "1"}


# Logs


async def test_a_log_comes_in_pieces(server: ScriptedServer, client: Client) -> None:
    server.on("GET", LOG, streams(b"one\n", b"two\n"))
    pieces = client.log(
        "web",
        "home",
        container="main",
        follow=True,
        previous=True,
        tail_lines=5,
        since_s=60,
        timestamps=True,
        limit_bytes=99,
    )
    assert b"".join([piece async for piece in pieces]) == b"one\ntwo\n"
    assert server.last.query == {
        "container": "main",
        "follow": "true",
        "previous": "true",
        "tailLines": "5",
        "sinceSeconds": "60",
        "timestamps": "true",
        "limitBytes": "99",
    }


async def test_a_plain_log_asks_for_nothing_special(server: ScriptedServer, client: Client) -> None:
    server.on("GET", LOG, streams())
    assert [piece async for piece in client.log("web", "home", tail_lines=0)] == []
    assert server.last.query == {"tailLines": "0"}


async def test_a_log_that_is_not_there_is_refused_in_the_servers_words(
    server: ScriptedServer, client: Client
) -> None:
    server.on("GET", LOG, refuses(400, "BadRequest", 'container "x" is waiting to start'))
    with pytest.raises(BadRequest, match="is waiting to start"):
        await anext(client.log("web", "home"))


async def test_a_log_that_stalls_is_given_up_unless_it_is_followed(server: ScriptedServer) -> None:
    async def stalls(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await asyncio.sleep(2.5)
        await response.write(b"late")
        return response

    server.on("GET", LOG, stalls)
    async with Client(Config(server=server.url), limits=Limits(call_s=1.5)) as client:
        with pytest.raises(Unreachable, match="fell silent: the log of web"):
            await anext(client.log("web", "home"))
        assert [piece async for piece in client.log("web", "home", follow=True)] == [b"late"]
