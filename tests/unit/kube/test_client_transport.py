"""How a request travels: second tries, time limits, credentials, warnings, trouble on the way."""

import asyncio
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.kube.scripted_server import Answer, ScriptedServer, refuses, says, shows, streams

from kubevirt.api.resource import Resource
from kubevirt.base.clock import Clock, SystemClock
from kubevirt.base.errors import Retry, Unreachable
from kubevirt.kube.access.config import Config, Impersonation
from kubevirt.kube.access.credentials import HeldCredentials, Identity
from kubevirt.kube.access.material import File, Inline
from kubevirt.kube.client import Client
from kubevirt.kube.errors import (
    InternalError,
    NotAnApi,
    ServiceUnavailable,
    TooManyRequests,
    Unauthorized,
)
from kubevirt.kube.http import warnings
from kubevirt.kube.http.request import Limits
from kubevirt.kube.http.silence import wary_socket
from kubevirt.kube.http.warnings import Warnings
from kubevirt.kube.patches import MergePatch

LAMPS = Resource("house.example", "v1", "lamps", "Lamp", True, dict[str, Any])
PATH = "/apis/house.example/v1/namespaces/home/lamps"
HALL = f"{PATH}/hall"


class HastyClock(SystemClock):
    """Sleeps take no time, and are remembered."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    def monotonic(self) -> float:
        return super().monotonic() + sum(self.slept)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


@pytest.fixture
def hasty() -> HastyClock:
    return HastyClock()


@pytest.fixture
async def server() -> AsyncIterator[ScriptedServer]:
    async with ScriptedServer().running() as server:
        server.on("GET", HALL, says({}))
        yield server


@pytest.fixture
async def client(server: ScriptedServer, hasty: HastyClock) -> AsyncIterator[Client]:
    async with Client(Config(server=server.url), clock=hasty) as client:
        yield client


# Second tries


@pytest.mark.parametrize("put_off", [refuses(429, retry_after=2), refuses(503, retry_after=2)])
async def test_a_call_that_is_put_off_is_made_again_when_the_server_said(
    server: ScriptedServer, client: Client, hasty: HastyClock, put_off: Answer
) -> None:
    server.on("GET", HALL, put_off, put_off, says({"on": True}))
    assert await client.get(LAMPS, "hall", "home") == {"on": True}
    assert len(hasty.slept) == 2
    assert all(2 <= slept <= 3 for slept in hasty.slept)


async def test_a_write_that_the_server_put_off_is_made_again_with_its_body(
    server: ScriptedServer, client: Client
) -> None:
    # The mux before the API puts off with plain text.
    put_off = shows("Too many requests", code=429, retry_after="1")
    server.on("PATCH", HALL, put_off, says({}))
    await client.patch(LAMPS, "hall", MergePatch({"a": 1}), "home")
    assert [seen.json for seen in server.seen] == [{"a": 1}, {"a": 1}]


async def test_a_server_that_keeps_putting_off_is_given_up(
    server: ScriptedServer, client: Client
) -> None:
    server.on("GET", HALL, refuses(429, "TooManyRequests", "slow down", retry_after=1))
    with pytest.raises(TooManyRequests, match="slow down") as caught:
        await client.get(LAMPS, "hall", "home")
    assert caught.value.after_s == 1.0
    assert len(server.seen) == Limits().tries


async def test_a_wait_that_is_longer_than_the_call_may_take_is_left_to_the_caller(
    server: ScriptedServer, client: Client, hasty: HastyClock
) -> None:
    server.on("GET", HALL, refuses(503, retry_after=600))
    with pytest.raises(ServiceUnavailable) as caught:
        await client.get(LAMPS, "hall", "home")
    assert caught.value.after_s == 600.0
    assert hasty.slept == []


@pytest.mark.parametrize("failure", [refuses(503), refuses(500, retry_after=1), refuses(504)])
async def test_nothing_else_is_repeated(
    server: ScriptedServer, client: Client, failure: Answer
) -> None:
    server.on("POST", PATH, failure)
    with pytest.raises(Retry):
        await client.create(LAMPS, {}, "home")
    assert len(server.seen) == 1


# Time limits


async def test_every_call_ends(server: ScriptedServer) -> None:
    hang = asyncio.Event()

    async def hangs(request: web.Request) -> web.StreamResponse:
        await hang.wait()
        return web.Response()

    async def hangs_later(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": "10"})
        await response.prepare(request)
        await hang.wait()
        return response

    async with Client(Config(server=server.url), limits=Limits(call_s=0.2)) as client:
        for answer in (hangs, hangs_later):
            server.on("GET", HALL, answer)
            with pytest.raises(Unreachable, match=rf"did not finish GET {HALL} within 0.2 s"):
                await client.get(LAMPS, "hall", "home")
        server.on("GET", PATH, hangs)
        with pytest.raises(Unreachable, match="did not finish"):
            await anext(client.watch(LAMPS, "home", resource_version="1"))
    hang.set()


class Thoughtful:
    """Credentials that take their time: a person looks for the second factor."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    async def identity(self, clock: Clock) -> Identity:
        await asyncio.sleep(self.seconds)
        return Identity("Bearer found")

    async def renew(self, refused: Identity, clock: Clock) -> bool:
        return False


async def test_looking_for_credentials_takes_nothing_from_the_calls_time(
    server: ScriptedServer,
) -> None:
    config = Config(server=server.url, credentials=Thoughtful(2.0))
    async with Client(config, limits=Limits(call_s=1.5)) as client:
        assert await client.get(LAMPS, "hall", "home") == {}


async def test_a_cancelled_call_is_cancelled(server: ScriptedServer, client: Client) -> None:
    asked, hang = asyncio.Event(), asyncio.Event()

    async def hangs(request: web.Request) -> web.StreamResponse:
        asked.set()
        await hang.wait()
        return web.Response()

    server.on("GET", HALL, hangs)
    call = asyncio.ensure_future(client.get(LAMPS, "hall", "home"))
    await asked.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    hang.set()


async def test_a_client_that_is_not_open_says_so(server: ScriptedServer) -> None:
    with pytest.raises(RuntimeError, match="async with"):
        await Client(Config(server=server.url)).get(LAMPS, "hall", "home")


# Who asks


async def test_a_token_is_sent_and_read_again_when_it_changes(
    server: ScriptedServer, tmp_path: Path
) -> None:
    token = tmp_path / "token"
    token.write_text("first\n")
    credentials = HeldCredentials(token=File(token, "token"))
    async with Client(Config(server=server.url, credentials=credentials)) as client:
        await client.get(LAMPS, "hall", "home")
        assert server.last.headers["Authorization"] == "Bearer first"
        token.write_text("the second\n".replace(" ", "-"))
        await client.get(LAMPS, "hall", "home")
        assert server.last.headers["Authorization"] == "Bearer the-second"


async def test_a_name_and_password_are_sent_as_such(server: ScriptedServer) -> None:
    credentials = HeldCredentials(username="ann", password="päss:word")
    async with Client(Config(server=server.url, credentials=credentials)) as client:
        await client.get(LAMPS, "hall", "home")
    assert server.last.headers["Authorization"] == "Basic YW5uOnDDpHNzOndvcmQ="


class Renewing:
    def __init__(self, *tokens: str) -> None:
        self.tokens = list(tokens)

    async def identity(self, clock: Clock) -> Identity:
        return Identity(f"Bearer {self.tokens[0]}")

    async def renew(self, refused: Identity, clock: Clock) -> bool:
        if len(self.tokens) == 1:
            return False
        self.tokens.pop(0)
        return True


async def test_refused_credentials_are_renewed_once(server: ScriptedServer) -> None:
    server.on("GET", HALL, refuses(401, "Unauthorized"), says({"on": True}))
    config = Config(server=server.url, credentials=Renewing("old", "new"))
    async with Client(config) as client:
        assert await client.get(LAMPS, "hall", "home") == {"on": True}
    assert server.last.headers["Authorization"] == "Bearer new"


async def test_a_slow_refusal_leaves_the_second_try_what_is_left_of_the_calls_time(
    server: ScriptedServer, hasty: HastyClock
) -> None:
    """A server that took a minute to refuse a token had another one to answer the new token."""
    hang = asyncio.Event()

    async def refuses_slowly(request: web.Request) -> web.StreamResponse:
        await hasty.sleep(60)
        return web.json_response({"kind": "Status", "code": 401}, status=401)

    async def hangs(request: web.Request) -> web.StreamResponse:
        await hang.wait()
        return web.Response()

    server.on("GET", HALL, refuses_slowly, hangs)
    config = Config(server=server.url, credentials=Renewing("old", "new"))
    async with Client(config, clock=hasty, limits=Limits(call_s=60.2)) as client:
        with pytest.raises(Unreachable, match=r"within 60\.2 s"):
            async with asyncio.timeout(30):
                await client.get(LAMPS, "hall", "home")
    assert len(server.seen) == 2
    hang.set()


@pytest.mark.parametrize("tokens", [["one"], ["one", "two", "three"]])
async def test_credentials_that_stay_refused_are_reported_without_being_shown(
    server: ScriptedServer, tokens: list[str]
) -> None:
    server.on("GET", HALL, refuses(401, "Unauthorized", "Unauthorized"))
    config = Config(
        server=server.url, credentials=Renewing(*tokens), origin='context "lab" of /etc/kube'
    )
    async with Client(config) as client:
        with pytest.raises(Unauthorized) as caught:
            await client.get(LAMPS, "hall", "home")
    assert str(caught.value) == (
        f'{server.url} does not let us in: it does not accept the credentials of context "lab"'
        " of /etc/kube; renew them, log in anew, or choose another context"
    )
    assert len(server.seen) == min(len(tokens), 2)


async def test_a_token_that_was_replaced_meanwhile_is_worth_another_try(
    server: ScriptedServer, tmp_path: Path
) -> None:
    token = tmp_path / "token"
    token.write_text("old")

    async def replaces(request: web.Request) -> web.StreamResponse:
        token.write_text("a-newer-one")
        return web.json_response({"kind": "Status", "code": 401}, status=401)

    server.on("GET", HALL, replaces, says({"on": True}))
    credentials = HeldCredentials(token=File(token, "token"))
    async with Client(Config(server=server.url, credentials=credentials)) as client:
        assert await client.get(LAMPS, "hall", "home") == {"on": True}
        server.on("GET", HALL, refuses(401))
        server.seen.clear()
        with pytest.raises(Unauthorized):
            await client.get(LAMPS, "hall", "home")
    assert len(server.seen) == 1, "the same token again would be refused again"


async def test_a_client_without_credentials_is_told_so(
    server: ScriptedServer, client: Client
) -> None:
    server.on("GET", HALL, refuses(401, "Unauthorized"))
    with pytest.raises(Unauthorized, match="has no credentials; log in"):
        await client.get(LAMPS, "hall", "home")


async def test_another_user_can_be_impersonated(server: ScriptedServer) -> None:
    other = Impersonation(
        user="bob", uid="7", groups=("ops", "dev"), extra={"example.org/scope": ["a", "b"]}
    )
    async with Client(Config(server=server.url, impersonate=other)) as client:
        await client.get(LAMPS, "hall", "home")
    sent = [(k, v) for k, v in server.last.headers.items() if k.startswith("Impersonate")]
    assert sent == [
        ("Impersonate-User", "bob"),
        ("Impersonate-Uid", "7"),
        ("Impersonate-Group", "ops"),
        ("Impersonate-Group", "dev"),
        ("Impersonate-Extra-example.org%2Fscope", "a"),
        ("Impersonate-Extra-example.org%2Fscope", "b"),
    ]


async def test_compression_can_be_switched_off(server: ScriptedServer) -> None:
    async with Client(Config(server=server.url, disable_compression=True)) as client:
        await client.get(LAMPS, "hall", "home")
    assert server.last.headers["Accept-Encoding"] == "identity"


async def test_a_proxy_is_used(server: ScriptedServer) -> None:
    # The scripted server plays the proxy: it is asked for the whole address.
    server.on("GET", HALL, says({"via": "proxy"}))
    config = Config(server="http://nowhere.invalid", proxy_url=server.url)
    async with Client(config) as client:
        assert await client.get(LAMPS, "hall", "home") == {"via": "proxy"}
    assert server.last.headers["Host"] == "nowhere.invalid"


# What a server says beside its answer


async def test_warnings_reach_the_caller_also_beside_a_refusal(server: ScriptedServer) -> None:
    heard = Warnings()
    warned = {"Warning": '299 - "lamps are deprecated", 299 - "say \\"light\\", please"'}
    server.on("GET", HALL, says({}, headers=warned))
    server.on("DELETE", HALL, says({"kind": "Status"}, code=500, headers={"Warning": '299 - "x"'}))
    async with Client(Config(server=server.url), on_warning=heard) as client:
        await client.get(LAMPS, "hall", "home")
        await client.get(LAMPS, "hall", "home")
        assert list(heard) == ["lamps are deprecated", 'say "light", please']
        other = Warnings()
        with pytest.raises(InternalError):
            await client.heard_by(other).delete(LAMPS, "hall", "home")
        assert list(other) == ["x"]
        assert len(heard) == 2


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0")), max_size=4))
def test_warnings_can_be_told_apart_whatever_they_say(texts: list[str]) -> None:
    quoted = [text.replace("\\", "\\\\").replace('"', '\\"') for text in texts]
    header = ", ".join(f'299 kube "{text}"' for text in quoted)
    assert list(warnings.parse([header])) == texts


@pytest.mark.parametrize("header", ["", "299", 'x - "y"', '199 - "not ours"', '299 - "open'])
def test_headers_that_are_no_warnings_are_passed_over(header: str) -> None:
    assert list(warnings.parse([header])) == []


# What is counted


async def test_every_answer_is_counted_by_its_code_and_kind(
    server: ScriptedServer, client: Client
) -> None:
    server.on("GET", HALL, refuses(429, retry_after=1), says({}))
    server.on("GET", PATH, streams())
    await client.get(LAMPS, "hall", "home")
    async for _ in client.watch(LAMPS, "home", resource_version="1"):
        pass
    host = server.url.removeprefix("http://")
    assert client.traffic.requests == {
        ("429", "GET", host, "lamps", "GET"): 1,
        ("200", "GET", host, "lamps", "GET"): 1,
        ("200", "GET", host, "lamps", "WATCH"): 1,
    }
    [(verb, url)] = client.traffic.waits
    assert (verb, url.startswith(server.url)) == ("GET", True)


async def test_a_server_that_does_not_answer_is_counted_too() -> None:
    async with Client(Config(server="http://127.0.0.1:1")) as client:
        with pytest.raises(Unreachable):
            await client.get(LAMPS, "hall", "home")
        assert list(client.traffic.requests) == [("<error>", "GET", "127.0.0.1:1", "lamps", "GET")]


# Trouble on the way


async def failure(server: str, *, proxy_url: str = "", connect_s: float = 10.0) -> str:
    config = Config(server=server, proxy_url=proxy_url)
    async with Client(config, limits=Limits(connect_s=connect_s)) as client:
        with pytest.raises(Unreachable) as caught:
            await client.get(LAMPS, "hall", "home")
    assert server in str(caught.value)
    return str(caught.value)


async def test_a_port_without_a_server_refuses_connections() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        assert "refuses connections; check that the server runs" in await failure(
            f"http://127.0.0.1:{port}"
        )


async def test_a_name_that_does_not_resolve_is_named() -> None:
    assert "its name does not resolve" in await failure("http://nowhere.invalid")


async def test_a_server_that_does_not_take_the_connection_does_not_answer() -> None:
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        address = full.getsockname()
        with socket.create_connection(address), socket.socket() as second:
            second.setblocking(False)
            second.connect_ex(address)
            assert "does not answer; check the address" in await failure(
                f"http://127.0.0.1:{address[1]}", connect_s=0.2
            )


async def test_a_server_that_hangs_up_is_unreachable(server: ScriptedServer) -> None:
    async def hangs_up(request: web.Request) -> web.StreamResponse:
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    server.on("GET", HALL, hangs_up)
    assert "closed the connection before it answered" in await failure(server.url)


async def test_something_that_does_not_speak_http_is_named() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"220 smtp.example ESMTP\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as other:
        port = other.sockets[0].getsockname()[1]
        assert "something that is not HTTP" in await failure(f"http://127.0.0.1:{port}")


async def test_a_proxy_that_refuses_or_is_away_is_named() -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as proxy:
        port = proxy.sockets[0].getsockname()[1]
        words = "the proxy answered 407; check the proxy-url"
        assert words in await failure("https://lab", proxy_url=f"http://127.0.0.1:{port}")
    words = "the proxy does not answer; check the proxy-url"
    assert words in await failure("https://lab", proxy_url=f"http://127.0.0.1:{port}")


def test_a_machine_that_is_gone_is_noticed_within_half_a_minute() -> None:
    with wary_socket((socket.AF_INET, socket.SOCK_STREAM, 0)) as opened:

        def option(level: int, name: int) -> int:
            return opened.getsockopt(level, name)

        assert option(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
        silence = option(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE)
        asking = option(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL)
        times = option(socket.IPPROTO_TCP, socket.TCP_KEEPCNT)
        assert silence + asking * times <= 30
        assert option(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) <= 30_000


async def test_a_redirect_is_not_followed(server: ScriptedServer, client: Client) -> None:
    async def redirects(request: web.Request) -> web.StreamResponse:
        return web.Response(status=302, headers={"Location": "https://login.example"})

    server.on("GET", HALL, redirects)
    with pytest.raises(NotAnApi, match="a redirect to another address"):
        await client.get(LAMPS, "hall", "home")


async def test_an_endless_refusal_is_not_read_to_its_end(
    server: ScriptedServer, client: Client
) -> None:
    async def endless(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(status=500)
        await response.prepare(request)
        while True:
            await response.write(b"x" * 65536)

    server.on("GET", HALL, endless)
    with pytest.raises(InternalError):
        await client.get(LAMPS, "hall", "home")


async def test_a_token_is_in_no_error(server: ScriptedServer) -> None:
    credentials = HeldCredentials(token=Inline(b"s3cr3t", "token"))
    config = Config(server=server.url, credentials=credentials)
    server.on("GET", HALL, refuses(403, "Forbidden", "no"), shows("x", code=500), refuses(401))
    async with Client(config) as client:
        for _ in range(3):
            with pytest.raises(Exception) as caught:  # noqa: PT011  # whatever it is
                await client.get(LAMPS, "hall", "home")
            error: BaseException | None = caught.value
            while error is not None:
                assert "s3cr3t" not in f"{error} {error!r} {vars(error)}"
                error = error.__cause__ or error.__context__
