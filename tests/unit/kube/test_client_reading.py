"""get, list and watch, against a server that answers as it is told."""

import asyncio
import gzip
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from typing import Annotated, Any

import msgspec
import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.kube.scripted_server import ScriptedServer, refuses, says, shows, streams

from kubevirt.api.meta import ObjectMeta
from kubevirt.api.resource import Resource
from kubevirt.api.struct import ATOMIC, NO_ENTRIES, Struct
from kubevirt.base.errors import Unreachable, UserError
from kubevirt.kube.access.config import Config
from kubevirt.kube.client import Client
from kubevirt.kube.errors import (
    Expired,
    Garbled,
    InternalError,
    NotAnApi,
    NotFound,
    UndecodableObject,
)
from kubevirt.kube.http import reading
from kubevirt.kube.http.lines import Lines
from kubevirt.kube.http.request import Limits
from kubevirt.kube.source import Source
from kubevirt.kube.watch import EventType, Undecodable, WatchEvent


class Lamp(msgspec.Struct, rename="camel"):
    metadata: ObjectMeta
    watts: int = 0


LAMPS = Resource("house.example", "v1", "lamps", "Lamp", True, Lamp)
PATH = "/apis/house.example/v1/namespaces/home/lamps"


def a_lamp(name: str, version: int = 1, **more: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "home", "uid": f"u-{name}"}
    return {"metadata": {**metadata, "resourceVersion": str(version)}, **more}


def a_page(*items: Any, token: str = "", version: str = "9", remaining: int = 0) -> dict[str, Any]:
    meta = {"resourceVersion": version, "continue": token, "remainingItemCount": remaining}
    return {"kind": "LampList", "metadata": meta, "items": list(items)}


def line(kind: str, obj: Any) -> bytes:
    return msgspec.json.encode({"type": kind, "object": obj}) + b"\n"


@pytest.fixture
async def server() -> AsyncIterator[ScriptedServer]:
    async with ScriptedServer().running() as server:
        yield server


@pytest.fixture
async def client(server: ScriptedServer) -> AsyncIterator[Client]:
    async with Client(Config(server=server.url)) as client:
        yield client


async def watch(client: Client, **options: Any) -> list[WatchEvent[Lamp]]:
    options.setdefault("resource_version", "1")
    return [event async for event in client.watch(LAMPS, "home", **options)]


# get


async def test_an_object_is_read_into_its_type(server: ScriptedServer, client: Client) -> None:
    server.on("GET", f"{PATH}/hall", says(a_lamp("hall", watts=40)))
    lamp = await client.get(LAMPS, "hall", "home")
    assert (lamp.metadata.name, lamp.watts) == ("hall", 40)
    assert server.last.headers["Accept"] == "application/json"
    assert server.last.headers["User-Agent"].startswith("kubevirt-py/")


async def test_raw_data_keeps_what_no_type_knows(server: ScriptedServer, client: Client) -> None:
    server.on("GET", f"{PATH}/hall", says(a_lamp("hall", shade="green")))
    assert (await client.get(LAMPS.raw, "hall", "home"))["shade"] == "green"


async def test_metadata_alone_is_asked_for_in_that_form(
    server: ScriptedServer, client: Client
) -> None:
    server.on("GET", f"{PATH}/hall", says(a_lamp("hall")))
    server.on("GET", PATH, says(a_page(a_lamp("hall"))))
    found = await client.get(LAMPS.metadata_only, "hall", "home")
    assert found.metadata.uid == "u-hall"
    form = "application/json;as={};g=meta.k8s.io;v=v1,application/json"
    assert server.last.headers["Accept"] == form.format("PartialObjectMetadata")
    await client.list(LAMPS.metadata_only, "home")
    assert server.last.headers["Accept"] == form.format("PartialObjectMetadataList")
    server.on("GET", PATH, streams())
    async for _ in client.watch(LAMPS.metadata_only, "home", resource_version="1"):
        pass
    assert server.last.headers["Accept"] == form.format("PartialObjectMetadata")


async def test_a_server_below_a_path_is_asked_below_it(server: ScriptedServer) -> None:
    server.on("GET", f"/k8s/clusters/c-1{PATH}/hall", says(a_lamp("hall")))
    async with Client(Config(server=f"{server.url}/k8s/clusters/c-1")) as client:
        assert (await client.get(LAMPS, "hall", "home")).metadata.name == "hall"


async def test_an_object_that_does_not_fit_is_named_without_its_content(
    server: ScriptedServer, client: Client
) -> None:
    server.on("GET", f"{PATH}/hall", says(a_lamp("hall", watts="s3cr3t")))
    with pytest.raises(UndecodableObject) as caught:
        await client.get(LAMPS, "hall", "home")
    assert 'lamps.house.example "hall" in namespace home cannot be read' in str(caught.value)
    assert "at `$.watts`" in str(caught.value)
    assert "s3cr3t" not in str(caught.value)


async def test_an_answer_that_is_cut_is_garbled(server: ScriptedServer, client: Client) -> None:
    server.on("GET", f"{PATH}/hall", shows('{"metadata": {', content_type="application/json"))
    with pytest.raises(Garbled, match="damaged on the way"):
        await client.get(LAMPS, "hall", "home")


async def test_a_web_page_is_no_api(server: ScriptedServer, client: Client) -> None:
    page = shows("<html>log in", content_type="text/html")
    server.on("GET", f"{PATH}/hall", page)
    server.on("GET", PATH, page)
    with pytest.raises(NotAnApi, match="it answered with a web page"):
        await client.get(LAMPS, "hall", "home")
    with pytest.raises(NotAnApi, match="it answered with a web page"):
        await watch(client)


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "../secrets/x", "%2e", "a%2fb"])
async def test_no_name_leads_to_another_object(
    server: ScriptedServer, client: Client, name: str
) -> None:
    with pytest.raises(UserError, match="cannot be a name"):
        await client.get(LAMPS, name, "home")
    if name:
        with pytest.raises(UserError, match="cannot be a name"):
            await client.list(LAMPS, name)
    assert server.seen == []


async def test_names_with_colons_and_the_like_arrive_as_they_are(
    server: ScriptedServer, client: Client
) -> None:
    server.on("GET", f"{PATH}/system:node?#x", says(a_lamp("a")))
    await client.get(LAMPS, "system:node?#x", "home")
    assert server.last.path == f"{PATH}/system:node?#x"


async def test_a_forgotten_namespace_is_a_mistake_in_the_program(client: Client) -> None:
    with pytest.raises(ValueError, match="live in namespaces"):
        await client.get(LAMPS, "hall")


# list


async def test_a_list_is_fetched_page_by_page(server: ScriptedServer, client: Client) -> None:
    server.on(
        "GET",
        PATH,
        says(a_page(a_lamp("a"), a_lamp("b"), token="t1", remaining=1)),
        says(a_page(a_lamp("c"))),
    )
    found = await client.list(
        LAMPS, "home", label_selector="room in (a,b),!dark", field_selector="x=y", limit=2
    )
    assert [lamp.metadata.name for lamp in found.items] == ["a", "b", "c"]
    assert found.resource_version == "9"
    assert found.remaining is None
    selectors = {"labelSelector": "room in (a,b),!dark", "fieldSelector": "x=y", "limit": "2"}
    assert server.seen[0].query == selectors
    assert server.seen[1].query == {**selectors, "continue": "t1"}


async def test_a_token_replaces_the_version_that_the_list_began_with(
    server: ScriptedServer, client: Client
) -> None:
    server.on("GET", PATH, says(a_page(token="t1")), says(a_page()))
    await client.list(LAMPS, "home", resource_version="5", resource_version_match="NotOlderThan")
    assert server.seen[0].query["resourceVersionMatch"] == "NotOlderThan"
    assert server.seen[1].query == {"limit": "500", "continue": "t1"}


async def test_a_list_that_the_server_forgot_begins_again_and_in_one_piece(
    server: ScriptedServer, client: Client
) -> None:
    server.on(
        "GET",
        PATH,
        says(a_page(a_lamp("old"), token="t1")),
        refuses(410, "Expired", "too old"),
        says(a_page(a_lamp("a"), a_lamp("b"), version="20")),
    )
    found = await client.list(LAMPS, "home", limit=1)
    assert [lamp.metadata.name for lamp in found.items] == ["a", "b"]
    assert found.resource_version == "20"
    assert server.last.query == {}


async def test_pages_say_when_the_list_begins_again(server: ScriptedServer, client: Client) -> None:
    server.on(
        "GET",
        PATH,
        says(a_page(token="t1")),
        says(a_page(token="t2")),
        refuses(410, "Expired"),
        says(a_page()),
    )
    assert [p.is_first async for p in client.pages(LAMPS, "home")] == [True, False, True]


async def test_a_list_that_cannot_even_begin_is_expired(
    server: ScriptedServer, client: Client
) -> None:
    server.on("GET", PATH, refuses(410, "Expired", "too old"))
    with pytest.raises(Expired, match="too old"):
        await client.list(LAMPS, "home", resource_version="1", resource_version_match="Exact")


async def test_objects_that_do_not_fit_are_set_apart(
    server: ScriptedServer, client: Client
) -> None:
    server.on("GET", PATH, says(a_page(a_lamp("a"), a_lamp("b", watts="many"), a_lamp("c"))))
    found = await client.list(LAMPS, "home")
    assert [lamp.metadata.name for lamp in found.items] == ["a", "c"]
    [broken] = found.undecodable
    assert (broken.metadata.name, broken.metadata.uid) == ("b", "u-b")
    assert broken.error == "Expected `int`, got `str` - at `$.watts`"


async def test_an_object_without_readable_metadata_is_set_apart_too(
    server: ScriptedServer, client: Client
) -> None:
    server.on("GET", PATH, says(a_page(7, {"metadata": {"name": 3}}, {"watts": 1})))
    found = await client.list(LAMPS, "home")
    assert [broken.metadata for broken in found.undecodable] == [ObjectMeta()] * 3


async def test_raw_items_say_what_they_are(server: ScriptedServer, client: Client) -> None:
    server.on("GET", PATH, says(a_page(a_lamp("a"))))
    [item] = (await client.list(LAMPS.raw, "home")).items
    assert (item["apiVersion"], item["kind"]) == ("house.example/v1", "Lamp")


async def test_an_empty_list_may_be_null(server: ScriptedServer, client: Client) -> None:
    server.on("GET", PATH, says({"metadata": {"resourceVersion": "3"}, "items": None}))
    assert (await client.list(LAMPS, "home")).items == []


class Shelf(Struct, frozen=True, kw_only=True):
    """As API types are: absent and empty are one thing."""

    metadata: ObjectMeta = ObjectMeta()
    lamps: Annotated[tuple[Lamp, ...], ATOMIC] = ()
    notes: Mapping[str, Any] = NO_ENTRIES
    colour: str = ""
    owner: str | None = None


SHELVES = LAMPS.read_as(Shelf)
BARE: dict[str, Any] = {"lamps": None, "notes": None, "colour": None, "owner": None}


async def test_what_go_writes_of_an_empty_list_does_not_make_an_object_unreadable(
    server: ScriptedServer, client: Client
) -> None:
    full = a_lamp("full", lamps=[a_lamp("one", watts=None)], notes={"any": [None]}, colour=None)
    server.on("GET", f"{PATH}/bare", says(a_lamp("bare", **BARE)))
    server.on("GET", PATH, says(a_page(a_lamp("bare", **BARE), full)))
    bare = await client.get(SHELVES, "bare", "home")
    assert (bare.lamps, bare.notes, bare.colour, bare.owner) == ((), {}, "", None)
    found = await client.list(SHELVES, "home")
    assert not found.undecodable
    assert found.items[0] == bare
    assert found.items[1].lamps[0].watts == 0
    assert found.items[1].notes == {"any": [None]}, "what is in free data stays as it is"


async def test_another_thing_that_does_not_fit_is_not_forgiven_for_a_null(
    server: ScriptedServer, client: Client
) -> None:
    server.on("GET", f"{PATH}/odd", says(a_lamp("odd", lamps=None, colour=7)))
    with pytest.raises(UndecodableObject, match="colour"):
        await client.get(SHELVES, "odd", "home")


async def test_answers_may_be_compressed(server: ScriptedServer, client: Client) -> None:
    async def compressed(request: web.Request) -> web.StreamResponse:
        assert "gzip" in request.headers["Accept-Encoding"]
        body = gzip.compress(msgspec.json.encode(a_page(a_lamp("a"))))
        return web.Response(
            body=body, headers={"Content-Encoding": "gzip", "Content-Type": "application/json"}
        )

    server.on("GET", PATH, compressed)
    assert len((await client.list(LAMPS, "home")).items) == 1


# watch


async def test_events_come_as_the_server_sends_them(server: ScriptedServer, client: Client) -> None:
    whole = (
        line("ADDED", a_lamp("a", 2))
        + line("MODIFIED", a_lamp("a", 3, watts=5))
        + b"\n"
        + line("DELETED", a_lamp("a", 4))
    )
    server.on("GET", PATH, streams(whole[:30], whole[30:31], whole[31:200], whole[200:]))
    events = await watch(client, label_selector="a=b", timeout_s=7)
    assert [(str(e.type), e.resource_version) for e in events] == [
        ("ADDED", "2"),
        ("MODIFIED", "3"),
        ("DELETED", "4"),
    ]
    assert isinstance(events[1].object, Lamp)
    assert events[1].object.watts == 5
    assert server.last.query == {
        "watch": "true",
        "resourceVersion": "1",
        "labelSelector": "a=b",
        "allowWatchBookmarks": "true",
        "timeoutSeconds": "7",
    }


async def test_a_streamed_list_ends_with_a_bookmark_that_says_so(
    server: ScriptedServer, client: Client
) -> None:
    def bookmark(version: str, **annotations: str) -> bytes:
        # No spec and no name: a type with required fields could not hold it.
        return line(
            "BOOKMARK", {"metadata": {"resourceVersion": version, "annotations": annotations}}
        )

    end = bookmark("7", **{"k8s.io/initial-events-end": "true"})
    bare = line("BOOKMARK", {"metadata": {"resourceVersion": "9", "creationTimestamp": None}})
    server.on("GET", PATH, streams(line("ADDED", a_lamp("a", 5)), end, bookmark("8"), bare))
    events = await watch(
        client,
        resource_version=None,
        send_initial_events=True,
        resource_version_match="NotOlderThan",
    )
    assert [(e.resource_version, e.initial_events_end) for e in events] == [
        ("5", False),
        ("7", True),
        ("8", False),
        ("9", False),
    ]
    assert events[1].type is EventType.BOOKMARK
    assert events[1].object is None
    assert server.last.query["sendInitialEvents"] == "true"
    assert "resourceVersion" not in server.last.query


async def test_a_watch_lasts_some_minutes_unless_told(
    server: ScriptedServer, client: Client
) -> None:
    server.on("GET", PATH, streams())
    assert await watch(client) == []
    assert 300 <= int(server.last.query["timeoutSeconds"]) <= 600


async def test_an_object_that_does_not_fit_does_not_end_the_stream(
    server: ScriptedServer, client: Client
) -> None:
    broken = a_lamp("b", 3, watts=[])
    broken["metadata"]["creationTimestamp"] = "yesterday"
    pieces = [line("ADDED", a_lamp("a", 2)), line("ADDED", broken), line("ADDED", a_lamp("c", 4))]
    server.on("GET", PATH, streams(*pieces))
    _, second, third = await watch(client)
    assert isinstance(second.object, Undecodable)
    assert second.object.metadata.name == "b"
    assert second.object.metadata.uid == "u-b"
    assert second.resource_version == "3"
    assert isinstance(third.object, Lamp)


async def test_events_of_raw_data_have_a_version_too(
    server: ScriptedServer, client: Client
) -> None:
    server.on("GET", PATH, streams(line("ADDED", a_lamp("a", 2))))
    events = [e async for e in client.watch(LAMPS.raw, "home", resource_version="1")]
    assert [e.resource_version for e in events] == ["2"]


@pytest.mark.parametrize("reason", ["Expired", "Gone", ""])
async def test_a_version_that_is_too_old_is_expired_whatever_its_reason(
    server: ScriptedServer, client: Client, reason: str
) -> None:
    status = {"kind": "Status", "code": 410, "reason": reason, "message": "too old"}
    server.on("GET", PATH, streams(line("ERROR", status)))
    with pytest.raises(Expired, match="too old"):
        await watch(client)


async def test_a_watch_that_is_refused_at_once_is_expired_too(
    server: ScriptedServer, client: Client
) -> None:
    server.on("GET", PATH, refuses(410, "Expired", "too old"))
    with pytest.raises(Expired):
        await watch(client)


async def test_another_error_event_is_raised_as_what_it_is(
    server: ScriptedServer, client: Client
) -> None:
    status = {"kind": "Status", "code": 500, "reason": "InternalError", "message": "broken"}
    server.on("GET", PATH, streams(line("ADDED", a_lamp("a")), line("ERROR", status)))
    with pytest.raises(InternalError, match="broken"):
        await watch(client)


async def test_a_stream_that_ends_within_an_event_is_cut_off(
    server: ScriptedServer, client: Client
) -> None:
    server.on("GET", PATH, streams(line("ADDED", a_lamp("a")), line("ADDED", a_lamp("b"))[:-20]))
    async with aclosing(client.watch(LAMPS, "home", resource_version="1")) as events:
        await anext(events)
        with pytest.raises(Unreachable, match="in the middle of an event of lamps"):
            await anext(events)


async def test_a_stream_that_breaks_is_unreachable(server: ScriptedServer, client: Client) -> None:
    server.on("GET", PATH, streams(line("ADDED", a_lamp("a")), hang_up=True))
    with pytest.raises(Unreachable, match="closed the connection in the middle"):
        await watch(client)


@pytest.mark.parametrize(
    "garbage", [b"<html>\n", b'{"type": "ADDED"}\n', b'{"type":"X","object":{}}\n']
)
async def test_a_line_that_is_no_event_is_garbled(
    server: ScriptedServer, client: Client, garbage: bytes
) -> None:
    server.on("GET", PATH, streams(garbage))
    with pytest.raises(Garbled):
        await watch(client)


async def test_an_event_without_end_is_not_collected_forever(
    server: ScriptedServer, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "EVENT_LIMIT", 1000)
    server.on("GET", PATH, streams(b"x" * 900, b"x" * 900))
    with pytest.raises(Garbled, match="an event has no end"):
        await watch(client)


async def test_a_watch_that_does_not_end_in_its_time_is_given_up(server: ScriptedServer) -> None:
    hang = asyncio.Event()

    async def hangs(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await hang.wait()
        return response

    server.on("GET", PATH, hangs)
    limits = Limits(watch_grace_s=-0.9)
    async with Client(Config(server=server.url), limits=limits) as client:
        with pytest.raises(Unreachable, match="fell silent: the watch of lamps"):
            await watch(client, timeout_s=1)
    hang.set()


async def test_what_a_reader_does_meanwhile_is_not_interrupted(server: ScriptedServer) -> None:
    server.on("GET", PATH, streams(*(line("ADDED", a_lamp(str(n), n)) for n in range(3))))
    limits = Limits(watch_grace_s=-2.0)
    seen = 0
    async with Client(Config(server=server.url), limits=limits) as client:
        async for _ in client.watch(LAMPS, "home", resource_version="1", timeout_s=1):
            await asyncio.sleep(0.05)
            seen += 1
    assert seen == 3


async def test_a_watch_can_be_left_and_cancelled_at_any_time(
    server: ScriptedServer, client: Client
) -> None:
    left = asyncio.Event()

    async def waits(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(line("ADDED", a_lamp("a")))
        try:
            await asyncio.sleep(60)
        finally:
            left.set()
        return response

    server.on("GET", PATH, waits)
    async with aclosing(client.watch(LAMPS, "home", resource_version="1")) as events:
        await anext(events)
        reading = asyncio.ensure_future(anext(events))
        await asyncio.sleep(0.05)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
    async with aclosing(client.watch(LAMPS, "home", resource_version="1")) as events:
        await anext(events)


async def test_a_missing_kind_is_named_by_a_watch_too(
    server: ScriptedServer, client: Client
) -> None:
    with pytest.raises(NotFound, match=r"no lamps\.house\.example in version v1"):
        await watch(client)


def test_a_client_is_a_source_for_informers(client: Client) -> None:
    source: Source = client
    assert source is client


@given(st.lists(st.binary(max_size=8).map(lambda b: b.replace(b"\n", b"")), max_size=8), st.data())
def test_lines_are_the_same_however_the_pieces_fall(
    words: list[bytes], data: st.DataObject
) -> None:
    whole = b"\n".join(words)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=5)))
    lines = Lines()
    found: list[bytes] = []
    for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True):
        found += lines.feed(whole[start:end])
    assert [*found, lines.rest] == [
        *(word for word in words[:-1] if word.strip()),
        words[-1] if words else b"",
    ]
