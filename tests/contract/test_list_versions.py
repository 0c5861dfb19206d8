"""resourceVersion and resourceVersionMatch of a list: any, not older than, exactly."""

from typing import Any

import msgspec
import pytest
from tests.contract.conftest import Mortal, config_of
from tests.contract.forgetting import until_forgotten
from tests.contract.lamps import CONFIG_MAPS, a_config_map
from tests.contract.test_refusals import refusal

from kubevirt.kube.client import Client
from kubevirt.kube.errors import Expired
from kubevirt.kube.patches import MergePatch

MAPS = "/api/v1/namespaces/{namespace}/configmaps"
OURS = "kept=yes"


async def listed(client: Client, namespace: str, **params: str) -> dict[str, Any]:
    asked = {"labelSelector": OURS, **params}
    text = await client.raw("GET", MAPS.format(namespace=namespace), params=asked)
    found: dict[str, Any] = msgspec.json.decode(text)
    return found


def data(found: dict[str, Any]) -> dict[str, str]:
    return {each["metadata"]["name"]: each["data"]["x"] for each in found["items"]}


def continued(found: dict[str, Any]) -> str:
    token: str = found["metadata"]["continue"]
    return token


def version(thing: dict[str, Any]) -> str:
    found: str = thing["metadata"]["resourceVersion"]
    return found


async def made(client: Client, namespace: str, name: str, value: str = "old") -> dict[str, Any]:
    body = a_config_map(name, {"kept": "yes"}, x=value)
    return await client.create(CONFIG_MAPS, body, namespace=namespace)


@pytest.fixture
async def past(client: Client, namespace: str) -> str:
    """The version at which there were `a` and `b`; since then one went, one changed and one came."""
    await made(client, namespace, "a")
    await made(client, namespace, "b")
    then = version(await listed(client, namespace))
    await client.delete(CONFIG_MAPS, "a", namespace)
    await client.patch(CONFIG_MAPS, "b", MergePatch({"data": {"x": "new"}}), namespace)
    await made(client, namespace, "c")
    return then


NOW = {"b": "new", "c": "old"}
THEN = {"a": "old", "b": "old"}


async def test_a_list_says_nothing_of_a_version_and_is_of_the_present(
    client: Client, namespace: str, past: str
) -> None:
    for params in ({}, {"resourceVersion": ""}):
        found = await listed(client, namespace, **params)
        assert data(found) == NOW
        assert int(version(found)) > int(past)


async def test_any_version_will_do(client: Client, namespace: str, past: str) -> None:
    newest = version(await made(client, namespace, "d"))
    await listed(client, namespace, resourceVersion=newest, resourceVersionMatch="NotOlderThan")
    for params in ({}, {"resourceVersionMatch": "NotOlderThan"}):
        found = await listed(client, namespace, resourceVersion="0", **params)
        assert data(found) == {**NOW, "d": "old"}, "who has seen it once does not forget it"
        assert int(version(found)) >= int(newest)


async def test_of_any_version_there_are_no_pages(client: Client, namespace: str, past: str) -> None:
    newest = version(await made(client, namespace, "d"))
    await listed(client, namespace, resourceVersion=newest, resourceVersionMatch="NotOlderThan")
    found = await listed(client, namespace, resourceVersion="0", limit="1")
    assert data(found) == {**NOW, "d": "old"}
    assert "continue" not in found["metadata"]


@pytest.mark.parametrize("match", [{}, {"resourceVersionMatch": "NotOlderThan"}], ids=str)
async def test_not_older_than_is_the_present_or_near_it(
    client: Client, namespace: str, past: str, match: dict[str, str]
) -> None:
    newest = version(await made(client, namespace, "d"))
    found = await listed(client, namespace, resourceVersion=newest, **match)
    assert data(found) == {**NOW, "d": "old"}
    assert int(version(found)) >= int(newest)
    found = await listed(client, namespace, resourceVersion=past, **match)
    assert int(version(found)) >= int(past)


async def test_not_older_than_may_come_in_pages(client: Client, namespace: str, past: str) -> None:
    newest = version(await made(client, namespace, "d"))
    match = {"resourceVersion": newest, "resourceVersionMatch": "NotOlderThan"}
    found = await listed(client, namespace, limit="2", **match)
    assert data(found) == NOW
    assert int(version(found)) >= int(newest)
    rest = await listed(client, namespace, limit="2", **{"continue": continued(found)})
    assert data(rest) == {"d": "old"}
    assert version(rest) == version(found)


async def test_exactly_is_the_past_as_it_was(client: Client, namespace: str, past: str) -> None:
    match = {"resourceVersion": past, "resourceVersionMatch": "Exact"}
    found = await listed(client, namespace, **match)
    assert data(found) == THEN
    assert version(found) == past
    one = await listed(client, namespace, fieldSelector="metadata.name=a", **match)
    assert (data(one), version(one)) == ({"a": "old"}, past)
    none = await listed(client, namespace, fieldSelector="metadata.name=c", **match)
    assert (data(none), version(none)) == ({}, past)


@pytest.mark.parametrize("match", [{}, {"resourceVersionMatch": "Exact"}], ids=str)
async def test_pages_of_a_version_are_of_exactly_that(
    client: Client, namespace: str, past: str, match: dict[str, str]
) -> None:
    first = await listed(client, namespace, resourceVersion=past, limit="1", **match)
    assert (data(first), version(first)) == ({"a": "old"}, past)
    rest = await listed(client, namespace, limit="1", **{"continue": continued(first)})
    assert (data(rest), version(rest)) == ({"b": "old"}, past)


async def test_an_object_is_read_not_older_than(client: Client, namespace: str, past: str) -> None:
    newest = version(await made(client, namespace, "d"))
    path = f"{MAPS.format(namespace=namespace)}/d"
    for at in (newest, "0"):
        found = msgspec.json.decode(await client.raw("GET", path, params={"resourceVersion": at}))
        assert version(found) == newest
    code, reason, message = await refusal(client, "GET", path, resourceVersion="999999999")
    assert (code, reason) == (504, "Timeout")
    assert message.startswith("Timeout: Too large resource version: 999999999, current: ")


async def test_pages_of_a_forgotten_past_may_go_on_in_the_present(forgetful: Mortal) -> None:
    async with Client(config_of(forgetful.kubeconfig)) as client:
        for name in ("a", "b"):
            await made(client, "default", name)
        first = await listed(client, "default", limit="1")
        await client.patch(CONFIG_MAPS, "b", MergePatch({"data": {"x": "new"}}), "default")
        await until_forgotten(client, version(first))
        with pytest.raises(Expired) as caught:
            await listed(client, "default", limit="1", **{"continue": continued(first)})
        status = caught.value.status
        assert "use the continue token in this response" in status.message
        token = status.metadata.continue_ or ""
        assert token not in ("", continued(first))
        assert data(await listed(client, "default", limit="1", **{"continue": token})) == {
            "b": "new"
        }


async def test_a_past_that_is_forgotten_is_gone_for_exactly_and_good_for_not_older(
    forgetful: Mortal,
) -> None:
    async with Client(config_of(forgetful.kubeconfig)) as client:
        await made(client, "default", "a")
        then = version(await listed(client, "default"))
        await client.patch(CONFIG_MAPS, "a", MergePatch({"data": {"x": "new"}}), "default")
        await until_forgotten(client, then)
        path = MAPS.format(namespace="default")
        gone = "The resourceVersion for the provided list is too old."
        for params in ({"resourceVersionMatch": "Exact"}, {"limit": "1"}):
            code, reason, message = await refusal(
                client, "GET", path, resourceVersion=then, **params
            )
            assert (code, reason) == (410, "Expired")
            assert message == gone
        match = {"resourceVersion": then, "resourceVersionMatch": "NotOlderThan"}
        assert data(await listed(client, "default", **match)) == {"a": "new"}
        assert data(await listed(client, "default", resourceVersion="0")) == {"a": "new"}
