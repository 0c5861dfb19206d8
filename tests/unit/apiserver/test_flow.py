"""Who gets in when many want to, and how much of what they bring."""

import asyncio
from contextlib import ExitStack
from types import SimpleNamespace
from typing import Any

import pytest

from kubevirt.apiserver.http.asked import read
from kubevirt.apiserver.http.flow import Flow, is_stream
from kubevirt.apiserver.http.limits import Limits
from kubevirt.apiserver.http.room import Room
from kubevirt.apiserver.refusals import Refusal
from kubevirt.apiserver.registry.identity import MASTERS, Identity

ANN, BOB = Identity(user="ann"), Identity(user="bob")
ROOT = Identity(user="root", groups=(MASTERS,))


def test_each_user_has_a_share_of_their_own() -> None:
    flow = Flow(Limits(requests_of_user=1))
    with flow.entered(ANN, is_stream=False):
        with pytest.raises(Refusal) as caught, flow.entered(ANN, is_stream=False):
            pass
        assert caught.value.status.code == 429
        with flow.entered(BOB, is_stream=False), flow.entered(ANN, is_stream=True):
            pass
    with flow.entered(ANN, is_stream=False):
        pass


def test_administrators_get_through_when_all_is_taken() -> None:
    flow = Flow(Limits(requests=2, requests_of_masters=2))
    with ExitStack() as inside:
        for each in (ANN, BOB, ROOT, ROOT):
            inside.enter_context(flow.entered(each, is_stream=False))
        for each in (Identity(user="eve"), ROOT):
            with pytest.raises(Refusal), flow.entered(each, is_stream=False):
                pass


def test_whoever_has_left_is_forgotten() -> None:
    flow = Flow(Limits())
    for number in range(1000):
        with flow.entered(Identity(user=str(number)), is_stream=number % 2 == 0):
            pass
    assert not flow._requests
    assert not flow._streams


@pytest.mark.parametrize(
    ("path", "query", "streams"),
    [
        ("/api/v1/pods", {"watch": "1"}, True),
        ("/api/v1/pods", {}, False),
        ("/api/v1/namespaces/a/pods/b/log", {}, True),
        ("/api/v1/namespaces/a/pods/b/exec", {}, True),
        ("/api/v1/namespaces/a/pods/b/status", {}, False),
    ],
)
def test_watches_and_connections_are_streams(
    path: str, query: dict[str, str], *, streams: bool
) -> None:
    assert is_stream(read("GET", path, query)) is streams


def sent(size: int | None, *, has_body: bool = True) -> Any:
    """As much of a request as is looked at."""
    return SimpleNamespace(can_read_body=has_body, content_length=size)


async def test_large_bodies_wait_for_room_in_their_order() -> None:
    room = Room(Limits(bodies_bytes=200_000))
    order: list[str] = []
    done = asyncio.Event()

    async def come(name: str, size: int | None) -> None:
        async with room.for_body_of(sent(size)):
            order.append(name)
            await done.wait()

    async with asyncio.timeout(10), asyncio.TaskGroup() as tasks:
        tasks.create_task(come("first", 150_000))
        await asyncio.sleep(0)
        second = tasks.create_task(come("second", 100_000))
        gone = tasks.create_task(come("gone", 190_000))
        tasks.create_task(come("third", 80_000))
        await asyncio.sleep(0)
        async with room.for_body_of(sent(1000)), room.for_body_of(sent(None, has_body=False)):
            order.append("small")
        gone.cancel()
        await asyncio.sleep(0)
        assert order == ["first", "small"]
        done.set()
        await second
    assert order == ["first", "small", "second", "third"]
    async with asyncio.timeout(10), room.for_body_of(sent(200_000)):
        pass


async def test_a_body_of_unknown_length_counts_as_the_largest() -> None:
    room = Room(Limits(bodies_bytes=4 << 20))
    async with asyncio.timeout(10), room.for_body_of(sent(None)):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01), room.for_body_of(sent(None)):
                pass
    async with asyncio.timeout(10), room.for_body_of(sent(10 << 30)):
        pass
