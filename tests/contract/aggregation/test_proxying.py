"""Requests to an API that somebody else serves: passed on whole, with who asks, and back again."""

import asyncio
from typing import Any
from urllib.parse import parse_qsl

import aiohttp
import pytest
from tests.contract.aggregation.conftest import Registry, Start, bundle, external_name
from tests.contract.aggregation.door import Door, opened
from tests.contract.aggregation.extension import CHUNK, Extension
from tests.contract.conftest import People
from yarl import URL

from clusterup import certificates, waiting
from kubevirt.base.tasks import background

MANY = 64 << 20
FEW = 24 << 20
"""What may be on the way, in the buffers of four sockets, when nobody reads."""


def values(told: dict[str, Any], name: str) -> list[str]:
    return [value for each, value in told["headers"] if each == name]


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE"])
async def test_a_request_arrives_as_it_was_sent(toys: Extension, door: Door, method: str) -> None:
    body = None if method == "GET" else '{"color": "red"}'
    path = f"{toys.toy('ball', 'echo')}?a=1&a=2&q=x%20y%2Fz"
    headers = {"Content-Type": "application/json", "X-Any": "thing", "Accept": "a/b"}
    async with door.request(method, path, data=body, headers=headers) as answer:
        told = await answer.json()
    assert (told["method"], told["body"]) == (method, body or "")
    assert told["path"] == toys.toy("ball", "echo")
    assert sorted(parse_qsl(told["query"])) == [("a", "1"), ("a", "2"), ("q", "x y/z")]
    assert values(told, "x-any") == ["thing"]
    assert values(told, "accept") == ["a/b"]
    assert values(told, "x-forwarded-for") == ["127.0.0.1"]


async def test_the_callee_learns_who_asks(toys: Extension, door: Door) -> None:
    headers = {
        "Impersonate-User": "bob",
        "Impersonate-Uid": "7",
        "Impersonate-Group": "system:masters",
        "Impersonate-Extra-example.org%2fwhy": "fun",
    }
    told = await door.json(toys.toy("ball", "echo"), headers=headers)
    assert values(told, "x-remote-user") == ["bob"]
    assert values(told, "x-remote-group") == ["system:masters", "system:authenticated"]
    assert values(told, "x-remote-extra-example.org%2fwhy") == ["fun"]
    assert not [name for name, _ in told["headers"] if name.startswith("impersonate-")]


async def test_nobody_says_in_the_servers_place_who_they_are(toys: Extension, door: Door) -> None:
    headers = {
        "X-Remote-User": "root",
        "X-Remote-Group": "gods",
        "X-Remote-Uid": "0",
        "X-Remote-Extra-Why": "because",
        "Connection": "X-Secret",
        "X-Secret": "1",
    }
    told = await door.json(toys.toy("ball", "echo"), headers=headers)
    assert values(told, "x-remote-user") == ["kubernetes-admin"]
    assert values(told, "x-remote-group") == ["system:masters", "system:authenticated"]
    assert not values(told, "x-remote-uid")
    assert not values(told, "x-remote-extra-why")
    assert not values(told, "x-secret")


async def test_a_token_is_for_the_server_alone(
    toys: Extension, door: Door, registry: Registry, robot: str
) -> None:
    headers = {"Authorization": f"Bearer {robot}"}
    path = toys.toy("ball", "echo", registry.namespace)
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"{door.url}{path}", headers=headers, ssl=False) as answer,
    ):
        told = await answer.json()
    account = f"system:serviceaccount:{registry.namespace}:robot"
    assert values(told, "x-remote-user") == [account]
    assert not values(told, "authorization")


async def test_an_answer_comes_back_as_it_was_given(toys: Extension, door: Door) -> None:
    async with door.get(toys.toy("ball", "echo")) as answer:
        assert answer.headers["X-Toy"] == "yes"
        assert "Access-Control-Allow-Origin" not in answer.headers
        assert "X-Hop" not in answer.headers
    async with door.get(toys.toy("ball", "teapot")) as answer:
        assert (answer.status, await answer.text()) == (418, "tea")
    async with door.request("HEAD", toys.toy("ball", "teapot")) as answer:
        assert answer.status == 418


async def test_who_may_not_is_refused_before_the_callee_hears_of_it(
    toys: Extension, people: People
) -> None:
    async with (
        opened(people.kubeconfig_for("eve")) as eve,
        eve.get(toys.toy("ball", "echo")) as answer,
    ):
        assert answer.status == 403
        status = await answer.json()
    assert status["message"] == (
        f'toys.{toys.group} "ball" is forbidden: User "eve" cannot get resource "toys/echo" in API group '
        f'"{toys.group}" in the namespace "default"'
    )
    assert toys.seen == []


async def test_a_slash_by_another_name_opens_no_other_door(
    toys: Extension, door: Door, registry: Registry, people: People
) -> None:
    """Somebody who may see toys may not, by that, see the echo of one."""
    access = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{registry.namespace}"
    rule = {"apiGroups": [toys.group], "resources": ["toys"], "verbs": ["get"]}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "seer"}
    eve = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "eve"}
    named = {"metadata": {"name": "seer"}}
    await registry.client.raw("POST", f"{access}/roles", {**named, "rules": [rule]})
    binding = {**named, "roleRef": role, "subjects": [eve]}
    await registry.client.raw("POST", f"{access}/rolebindings", binding)
    ball = toys.toy("ball", "", registry.namespace)
    async with opened(people.kubeconfig_for("eve")) as client:

        async def may() -> bool:
            async with client.get(ball) as answer:
                return bool(answer.status == 200)

        await waiting.until(may, limit_s=120, what="eve may see a ball")
        for slash in ("/", "%2F", "%2f"):
            url = URL(f"{client.url}{ball}{slash}echo", encoded=True)
            async with client.session.get(url) as answer:
                assert answer.status == 403
    assert toys.seen == []
    url = URL(f"{door.url}{ball}%2Fecho", encoded=True)
    async with door.session.get(url) as answer:
        assert (await answer.json())["path"] == f"{ball}/echo"


async def test_a_large_body_goes_through_in_pieces(toys: Extension, door: Door) -> None:
    async def pieces() -> Any:
        for _ in range(FEW // len(CHUNK)):
            yield CHUNK

    async with door.request("POST", toys.toy("ball", "upload"), data=pieces()) as answer:
        assert await answer.json() == {"size": FEW}


async def test_a_callee_waits_for_a_client_that_does_not_read(toys: Extension, door: Door) -> None:
    async with door.get(f"{toys.toy('ball', 'large')}?size={MANY}") as answer:
        await answer.content.readexactly(len(CHUNK))
        await settled(toys)
        assert toys.sent < MANY
        rest = 0
        async for part in answer.content.iter_any():
            rest += len(part)
    assert rest == MANY - len(CHUNK)


async def settled(toys: Extension) -> None:
    """Until nothing more can be sent."""
    before = -1
    while before != toys.sent:
        before = toys.sent
        await asyncio.sleep(0.5)


async def test_a_watch_tells_each_event_when_it_happens(toys: Extension, door: Door) -> None:
    async with door.get(f"{toys.toy()}?watch=true") as answer:
        for number in range(3):
            event = {"type": "ADDED", "object": {"metadata": {"name": f"toy-{number}"}}}
            toys.events.put_nowait(event)
            async with asyncio.timeout(120):
                line = await answer.content.readline()
            assert f"toy-{number}".encode() in line
        toys.events.put_nowait(None)
        assert await answer.content.read() == b""


async def test_half_an_answer_does_not_look_like_a_whole_one(toys: Extension, door: Door) -> None:
    with pytest.raises(aiohttp.ClientError):
        async with door.get(toys.toy("ball", "half")) as answer:
            await answer.read()


async def test_a_client_that_leaves_takes_its_request_with_it(toys: Extension, door: Door) -> None:
    async def has_arrived() -> bool:
        return bool(toys.seen)

    async with background(door.json(toys.toy("ball", "slow"))):
        await waiting.until(has_arrived, limit_s=120, what="the request arrives")
    async with asyncio.timeout(120):
        await toys.left.wait()


async def test_a_callee_sends_nobody_elsewhere(toys: Extension, door: Door) -> None:
    async with door.get(toys.toy("ball", "elsewhere")) as answer:
        assert answer.status == 502
        words = "the backend attempted to redirect this request, which is not permitted"
        assert (await answer.text()).strip() == words
        assert "Location" not in answer.headers


async def test_who_is_not_there_is_said_to_be_unavailable(registry: Registry, door: Door) -> None:
    group = f"nobody.{registry.namespace}.example"
    name = await registry.register(group, 443, "nobody")
    await registry.until(name, "ServiceNotFound")
    for path in (f"/apis/{group}/v1", f"/apis/{group}/v1/things/a"):
        async with door.get(path) as answer:
            assert (answer.status, await answer.text()) == (503, "service unavailable\n")
            assert answer.content_type == "text/plain"


async def test_a_callee_with_a_certificate_of_others_is_not_believed(
    registry: Registry, start: Start, door: Door
) -> None:
    """It is there, which needs no trust; but nothing is told to it."""
    extension = await start()
    await registry.create_service("toys", external_name())
    other = Extension(extension.group)
    other.authority = certificates.Authority.create("another").pair.certificate
    name = await registry.register(extension.group, extension.port, caBundle=bundle(other))
    await registry.until(name, "Passed")
    async with door.get(extension.toy("ball", "echo")) as answer:
        assert answer.status == 503
        assert "x509: certificate signed by unknown authority" in await answer.text()
    assert extension.seen == []


async def test_a_certificate_for_another_name_is_not_believed(
    registry: Registry, start: Start, door: Door
) -> None:
    extension = await start("others")
    await registry.create_service("toys", external_name())
    group = extension.group
    name = await registry.register(group, extension.port, caBundle=bundle(extension))
    await registry.until(name, "Passed")
    async with door.get(extension.toy("ball", "echo")) as answer:
        assert answer.status == 503
        assert "tls: failed to verify certificate: x509: certificate is" in await answer.text()
    assert extension.seen == []


async def test_any_certificate_will_do_if_that_is_said(
    registry: Registry, start: Start, door: Door
) -> None:
    extension = await start("others")
    await registry.create_service("toys", external_name())
    name = await registry.register(extension.group, extension.port, insecureSkipTLSVerify=True)
    await registry.until(name, "Passed")
    assert await door.json(extension.toy("ball", "echo"))


async def test_who_is_registered_anew_is_reached_anew(
    registry: Registry, toys: Extension, start: Start, door: Door
) -> None:
    """A change takes effect without a restart."""
    assert await door.json(toys.toy("ball", "echo"))
    other = await start("others")
    other_spec = {
        "spec": {
            "caBundle": None,
            "insecureSkipTLSVerify": True,
            "service": {"port": other.port},
        }
    }
    path = f"/apis/apiregistration.k8s.io/v1/apiservices/v1.{toys.group}"
    await registry.client.raw(
        "PATCH", path, other_spec, content_type="application/merge-patch+json"
    )
    seen = len(toys.seen)
    async with asyncio.timeout(120):
        while True:  # the other one knows no such group
            async with door.get(toys.toy("ball", "echo")) as answer:
                if answer.status == 404:
                    break
    assert len(toys.seen) >= seen


async def test_a_service_that_leads_elsewhere_is_followed_there(
    registry: Registry, toys: Extension, start: Start, door: Door
) -> None:
    """Though there are connections to where it led before."""
    await door.json(toys.toy("ball", "echo"))
    other = await start(beside=toys)
    change = {"spec": {"externalName": "127.0.0.2"}}
    path = f"/api/v1/namespaces/{registry.namespace}/services/toys"
    await registry.client.raw("PATCH", path, change, content_type="application/merge-patch+json")

    async def is_there() -> bool:
        await door.json(toys.toy("ball", "echo"))
        return bool(other.seen)

    await waiting.until(is_there, limit_s=120, what="the other one is asked")
    seen = len(toys.seen)
    await door.json(toys.toy("ball", "echo"))
    assert len(toys.seen) == seen
