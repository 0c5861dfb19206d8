"""Those who send too much, too slowly, too often, or take nothing of what they are sent."""

import asyncio
import socket
import tracemalloc
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import pytest

from clusterup import waiting
from kubevirt.apiserver.http.limits import Limits
from kubevirt.apiserver.registry.identity import Identity
from kubevirt.apiserver.server import ADMINISTRATOR, ApiServer, ServerSettings, serving

MAPS = "/api/v1/namespaces/default/configmaps"
LIMIT_S = 60.0
OTHER = Identity(user="other", groups=ADMINISTRATOR.groups)


@asynccontextmanager
async def running(tmp_path: Path, **limits: Any) -> AsyncIterator[ApiServer]:
    settings = ServerSettings(
        data=tmp_path / "store.db",
        tokens={"admin": ADMINISTRATOR, "other": OTHER},
        limits=Limits(**limits),
    )
    async with asyncio.timeout(LIMIT_S), serving(settings) as server:
        yield server


def a_client(token: str = "admin") -> aiohttp.ClientSession:
    connector = aiohttp.TCPConnector(limit=0)
    return aiohttp.ClientSession(
        headers={"Authorization": f"Bearer {token}"}, connector=connector, read_bufsize=1 << 22
    )


async def connected(server: ApiServer) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.open_connection("127.0.0.1", server.port)


def head(method: str, path: str, *lines: str) -> bytes:
    words = [f"{method} {path} HTTP/1.1", "Host: x", "Authorization: Bearer admin", *lines, "", ""]
    return "\r\n".join(words).encode()


async def ended(reader: asyncio.StreamReader) -> bytes:
    """All that the server says before it closes the connection."""
    try:
        return await reader.read()
    except ConnectionError:
        return b""


# Slow ones


async def test_whoever_never_ends_a_request_line_is_let_go(tmp_path: Path) -> None:
    async with running(tmp_path, idle_s=0.3) as server:
        for beginning in (b"", b"GET / HT", head("GET", "/version")[:-2] + b"X-Slow: "):
            reader, writer = await connected(server)
            writer.write(beginning)
            assert await ended(reader) == b""
            writer.close()


async def test_a_connection_that_nobody_uses_any_more_is_closed(tmp_path: Path) -> None:
    async with running(tmp_path, idle_s=0.3) as server:
        reader, writer = await connected(server)
        writer.write(head("GET", "/version"))
        assert b"200 OK" in await reader.readline()
        await ended(reader)
        writer.close()


async def test_a_body_that_does_not_come_is_not_waited_for(tmp_path: Path) -> None:
    async with running(tmp_path, request_s=0.3) as server:
        reader, writer = await connected(server)
        writer.write(head("POST", MAPS, "Content-Length: 100") + b"{")
        found = await reader.readuntil(b'"code":504}')
        assert found.startswith(b"HTTP/1.1 504 ")
        assert b'"Timeout: request did not complete within the allotted timeout"' in found
        writer.close()


UPGRADES = [
    ("Upgrade: x",),
    ("Connection: Upgrade", "Upgrade: h2c"),
    ("Connection: Upgrade", "Upgrade: websocket"),
    (
        *("Connection: Upgrade", "Upgrade: websocket"),
        *("Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="),
    ),
]


@pytest.mark.parametrize("lines", UPGRADES, ids=" ".join)
async def test_whoever_speaks_of_an_upgrade_is_not_waited_for_either(
    tmp_path: Path, lines: tuple[str, ...]
) -> None:
    async with running(tmp_path, request_s=0.3) as server:
        reader, writer = await connected(server)
        writer.write(head("POST", MAPS, "Content-Length: 100", *lines) + b"{")
        found = await reader.read(1 << 16)
        assert found.startswith((b"HTTP/1.1 504 ", b"HTTP/1.1 400 "))
        writer.close()


@pytest.mark.parametrize("lines", UPGRADES, ids=" ".join)
async def test_whoever_speaks_of_an_upgrade_is_counted_as_all_others(
    tmp_path: Path, lines: tuple[str, ...]
) -> None:
    async with running(tmp_path, requests_of_masters=0) as server:
        reader, writer = await connected(server)
        writer.write(head("GET", MAPS, *lines))
        assert (await reader.readline()).startswith(b"HTTP/1.1 429 ")
        writer.close()


# Those who do not take what they are sent


@asynccontextmanager
async def a_deaf_client(server: ApiServer, path: str) -> AsyncIterator[socket.socket]:
    """One that asks, and never reads the answer."""
    with socket.socket() as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.connect(("127.0.0.1", server.port))
        deaf.sendall(head("GET", path))
        yield deaf


def is_connected(server: ApiServer, client: socket.socket) -> bool:
    """Whether the server's end of a connection is still there, as the kernel knows it."""
    ends = f"0100007F:{server.port:04X} 0100007F:{client.getsockname()[1]:04X}"
    return ends in Path("/proc/net/tcp").read_text()


async def until_cut(server: ApiServer, client: socket.socket) -> None:
    async def is_cut() -> bool:
        return not is_connected(server, client)

    await waiting.until(is_cut, limit_s=LIMIT_S, what="the client is cut")


async def make_large_ones(server: ApiServer, client: aiohttp.ClientSession, count: int) -> None:
    body = {"metadata": {"generateName": "x-"}, "data": {"x": "y" * 500_000}}
    for _ in range(count):
        async with client.post(server.url + MAPS, json=body) as answer:
            assert answer.status == 201


async def test_whoever_takes_nothing_of_a_list_is_cut(tmp_path: Path) -> None:
    async with running(tmp_path, stalled_s=0.5) as server, a_client() as client:
        await make_large_ones(server, client, 20)
        async with a_deaf_client(server, MAPS) as deaf:
            assert is_connected(server, deaf)
            await until_cut(server, deaf)


async def test_whoever_takes_nothing_of_a_watch_is_cut_and_others_see_everything(
    tmp_path: Path,
) -> None:
    async with running(tmp_path, stalled_s=0.5) as server, a_client() as client:
        store = server.registry.store
        quiet = store.watchers
        async with a_deaf_client(server, f"{MAPS}?watch=1") as deaf:
            await until_watched(server, quiet + 1)
            async with client.get(f"{server.url}{MAPS}?watch=1") as watch:
                await until_watched(server, quiet + 2)
                making = asyncio.create_task(make_large_ones(server, client, 30))
                for _ in range(30):
                    assert (await watch.content.readline()).startswith(b'{"type":"ADDED"')
                await making
                await until_cut(server, deaf)
                await waiting.until(
                    has_watchers(server, quiet + 1), limit_s=LIMIT_S, what="its watch is over"
                )


def has_watchers(server: ApiServer, count: int) -> Callable[[], Awaitable[bool]]:
    async def is_so() -> bool:
        return server.registry.store.watchers == count

    return is_so


async def until_watched(server: ApiServer, count: int) -> None:
    await waiting.until(has_watchers(server, count), limit_s=LIMIT_S, what=f"{count} watch")


# Many


async def test_a_user_with_too_many_requests_is_told_to_come_again(tmp_path: Path) -> None:
    async with running(tmp_path, requests_of_masters=2) as server:
        waiters = [await connected(server) for _ in range(2)]
        for _, writer in waiters:
            writer.write(head("POST", MAPS, "Content-Length: 30", "Expect: 100-continue"))
        for reader, _ in waiters:
            await reader.readuntil(b"100 Continue")
        async with a_client() as client, client.get(server.url + MAPS) as answer:
            assert answer.status == 429
            assert answer.headers["Retry-After"] == "1"
            status = await answer.json()
        assert status["reason"] == "TooManyRequests"
        assert status["message"] == "Too many requests, please try again later."
        assert status["details"]["retryAfterSeconds"] == 1
        # Others have their own share, and asking how the server is costs nobody's.
        async with a_client("other") as client, client.get(server.url + MAPS) as answer:
            assert answer.status == 200
        for _, writer in waiters:
            writer.close()
        async with a_client() as client:

            async def is_let_in() -> bool:
                async with client.get(server.url + MAPS) as answer:
                    return answer.status == 200

            await waiting.until(is_let_in, limit_s=LIMIT_S, what="there is room again")


async def test_watches_are_counted_apart(tmp_path: Path) -> None:
    limits = {"watches_of_user": 2, "requests_of_masters": 1}
    async with running(tmp_path, **limits) as server, a_client() as client:
        first = await client.get(f"{server.url}{MAPS}?watch=1")
        second = await client.get(f"{server.url}{MAPS}?watch=1")
        async with client.get(f"{server.url}{MAPS}?watch=1") as third:
            assert (first.status, second.status, third.status) == (200, 200, 429)
        async with client.get(server.url + MAPS) as answer:
            assert answer.status == 200
        first.close()
        second.close()


@pytest.mark.parametrize("limits", [{"connections": 3}, {"connections_of_peer": 3}], ids=str)
async def test_connections_beyond_the_limit_are_closed(
    tmp_path: Path, limits: dict[str, int]
) -> None:
    async with running(tmp_path, **limits) as server:
        held = [await connected(server) for _ in range(3)]
        for reader, writer in held:
            writer.write(head("GET", "/version"))
            assert b"200 OK" in await reader.readline()
        reader, writer = await connected(server)
        assert await ended(reader) == b""
        writer.close()
        held[0][1].close()

        async def is_let_in() -> bool:
            reader, writer = await connected(server)
            writer.write(head("GET", "/version"))
            line = await reader.readline()
            writer.close()
            return b"200 OK" in line

        await waiting.until(is_let_in, limit_s=LIMIT_S, what="there is room again")
        for _, writer in held:
            writer.close()


# Too much


@pytest.mark.parametrize(
    "request_head",
    [
        head("GET", "/version?" + "x" * 70_000),
        head("GET", "/version", "X-Long: " + "x" * 70_000),
        head("GET", "/version", *(f"X-{n}: x" for n in range(300))),
        b"NONSENSE\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 no TLS is spoken here\r\n\r\n",
        head("GET", "/version", "Content-Length: -1"),
        head("GET", "/version", "Content-Length: 1", "Transfer-Encoding: chunked"),
        head("GET", "/version", "Bad Name: x"),
    ],
    ids=lambda value: value[:24].decode(errors="replace"),
)
async def test_what_is_no_request_is_answered_once_and_let_go(
    tmp_path: Path, request_head: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    async with running(tmp_path) as server:
        reader, writer = await connected(server)
        writer.write(request_head)
        found = await ended(reader)
        assert found.startswith(b"HTTP/1.")
        status = msgspec.json.decode(found.partition(b"\r\n\r\n")[2])
        assert (status["kind"], status["code"], status["reason"]) == ("Status", 400, "BadRequest")
        writer.close()
    assert "Traceback" not in caplog.text


@pytest.mark.parametrize(
    ("method", "query"),
    [
        ("GET", ""),
        ("GET", "?limit=1000000"),
        ("GET", "?limit=39"),
        ("GET", "?limit=1000000&labelSelector=!a"),
        ("DELETE", ""),
        ("DELETE", "?limit=39"),
    ],
)
@pytest.mark.parametrize("form", ["", ";as=Table;v=v1;g=meta.k8s.io"])
async def test_many_large_objects_are_listed_in_little_memory(
    tmp_path: Path, method: str, query: str, form: str
) -> None:
    """Others are answered in between."""
    accepted = {"Accept-Encoding": "", "Accept": f"application/json{form}"}
    async with running(tmp_path) as server, a_client() as client:
        await make_large_ones(server, client, 40)
        path = f"{MAPS}{query}{'&' if query else '?'}includeObject=Object"
        tracemalloc.start()
        try:
            async with client.request(method, server.url + path, headers=accepted) as answer:
                size = 0
                async for chunk in answer.content.iter_any():
                    size += len(chunk)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert size > 19_000_000
        assert peak < 14_000_000


# Deep ones

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
BOXES = "/apis/big.example/v1/namespaces/default/boxes"
ANYTHING = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
BOX_CRD = {
    "metadata": {"name": "boxes.big.example"},
    "spec": {
        "group": "big.example",
        "scope": "Namespaced",
        "names": {"plural": "boxes", "kind": "Box"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": ANYTHING},
                "subresources": {"status": {}},
            }
        ],
    },
}


def nested(depth: int, leaf: Any = 1) -> Any:
    for number in range(depth):
        leaf = [leaf] if number % 2 else {"a": leaf}
    return leaf


async def test_what_may_be_sent_can_be_handled_however_deep_it_is(tmp_path: Path) -> None:
    """A body as deep as can be, through every verb; and no way around the limit, piece by piece."""
    async with running(tmp_path) as server, a_client() as client:

        async def ask(
            method: str,
            path: str,
            body: Any = None,
            type_: str = "application/json",
            **headers: str,
        ) -> tuple[int, Any]:
            found = {"Content-Type": type_, **headers}
            text = None if body is None else msgspec.json.encode(body)
            async with client.request(
                method, server.url + path, data=text, headers=found
            ) as answer:
                return answer.status, await answer.json(content_type=None)

        await ask("POST", CRDS, BOX_CRD)

        async def is_served() -> bool:
            return (await ask("GET", BOXES))[0] == 200

        await waiting.until(is_served, limit_s=LIMIT_S, what="boxes are served")
        named = {"apiVersion": "big.example/v1", "kind": "Box"}
        box = {**named, "metadata": {"name": "one"}, "spec": nested(127)}
        code, made = await ask("POST", BOXES, box)
        assert code == 201, made
        assert (await ask("PUT", f"{BOXES}/one", {**made, "spec": nested(127, 2)}))[0] == 200
        merge, strategic = "application/merge-patch+json", "application/apply-patch+yaml"
        assert (await ask("PATCH", f"{BOXES}/one", {"spec": nested(126, 3)}, merge))[0] == 200
        path = f"{BOXES}/one?fieldManager=me&force=true"
        assert (await ask("PATCH", path, box, strategic))[0] == 200
        status = {"status": nested(127)}
        assert (await ask("PATCH", f"{BOXES}/one/status", status, merge))[0] == 200
        table = "application/json;as=Table;v=v1;g=meta.k8s.io"
        assert (await ask("GET", BOXES, Accept=table))[0] == 200
        assert (await ask("GET", f"{BOXES}/one"))[0] == 200
        json_patch = "application/json-patch+json"
        copied = [
            {"op": "add", "path": "/x", "value": nested(120)},
            *({"op": "copy", "from": "/x", "path": "/x/0/a/0"} for _ in range(4)),
        ]
        code, refused = await ask("PATCH", f"{BOXES}/one", copied, json_patch)
        assert (code, refused["reason"]) == (400, "BadRequest")
        assert "exceeded max depth" in refused["message"]
        assert (await ask("DELETE", f"{BOXES}/one"))[0] == 200


async def test_a_client_that_leaves_is_no_cause_for_a_stack_trace(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with running(tmp_path) as server:
        quiet = server.registry.store.watchers
        for _ in range(20):
            for path in (f"{MAPS}?watch=1", MAPS, "/openapi/v3"):
                _, writer = await connected(server)
                writer.write(head("GET", path))
                writer.transport.abort()
        async with a_client() as client, client.get(server.url + MAPS) as answer:
            assert answer.status == 200
        await waiting.until(has_watchers(server, quiet), limit_s=LIMIT_S, what="all have left")
    assert "Traceback" not in caplog.text
