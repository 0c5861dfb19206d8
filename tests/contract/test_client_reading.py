"""get, list and watch as a server really does them."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import pytest
from tests.contract.conftest import NAMESPACES, Mortal, Server, config_of
from tests.contract.counted_way import counted_way
from tests.contract.forgetting import until_forgotten
from tests.contract.lamps import CONFIG_MAPS, TYPED_CONFIG_MAPS, a_config_map, a_lamp

from kubevirt.api.resource import Resource
from kubevirt.kube.client import Client
from kubevirt.kube.errors import BadRequest, Expired, NoSuchResource, NotFound, ServerTimeout
from kubevirt.kube.patches import MergePatch
from kubevirt.kube.watch import EventType, WatchEvent


async def fill(client: Client, namespace: str, count: int) -> None:
    """Config maps cm-00, cm-01 … beside the one that every namespace has."""
    for number in range(count):
        labels = {"parity": "odd" if number % 2 else "even"}
        await client.create(CONFIG_MAPS, a_config_map(f"cm-{number:02}", labels), namespace)


OURS = "parity in (odd,even)"


# get


async def test_an_object_is_read_into_its_type(client: Client, namespace: str) -> None:
    await client.create(CONFIG_MAPS, a_config_map("one", colour="red"), namespace)
    found = await client.get(TYPED_CONFIG_MAPS, "one", namespace)
    assert found.data == {"colour": "red"}
    assert found.metadata.namespace == namespace
    assert found.metadata.creation_timestamp is not None


async def test_metadata_alone_leaves_the_rest_on_the_server(client: Client, namespace: str) -> None:
    await client.create(CONFIG_MAPS, a_config_map("one", {"a": "b"}, colour="red"), namespace)
    one = await client.get(CONFIG_MAPS.metadata_only, "one", namespace)
    assert one.kind == "PartialObjectMetadata"
    assert one.metadata.labels == {"a": "b"}
    [listed] = (await client.list(CONFIG_MAPS.metadata_only, namespace, label_selector="a")).items
    assert listed.metadata.name == "one"
    watch = client.watch(
        CONFIG_MAPS.metadata_only, namespace, resource_version=None, label_selector="a", timeout_s=9
    )
    async with aclosing(watch) as events:
        event = await anext(events)
    assert getattr(event.object, "kind", "") == "PartialObjectMetadata"


async def test_a_missing_object_is_told_from_a_missing_kind(client: Client, namespace: str) -> None:
    with pytest.raises(NotFound, match='configmaps "none" not found') as caught:
        await client.get(CONFIG_MAPS, "none", namespace)
    assert not isinstance(caught.value, NoSuchResource)
    for group, version in [("no.such.group", "v1"), ("apps", "v9"), ("apps", "v1"), ("", "v1")]:
        ghosts = Resource(group, version, "ghosts", "Ghost", True, dict[str, Any])
        calls: list[Callable[[], Awaitable[Any]]] = [
            lambda ghosts=ghosts: client.get(ghosts, "x", namespace),  # type: ignore[misc]  # mypy issue 15459
            lambda ghosts=ghosts: client.list(ghosts),  # type: ignore[misc]
            lambda ghosts=ghosts: client.create(ghosts, {}, namespace),  # type: ignore[misc]
            lambda ghosts=ghosts: anext(client.watch(ghosts, resource_version="1")),  # type: ignore[misc]
        ]
        for call in calls:
            with pytest.raises(NoSuchResource, match=rf"has no {ghosts.group_resource} in version"):
                await call()


async def test_a_missing_subresource_is_named(client: Client, namespace: str) -> None:
    await client.create(CONFIG_MAPS, a_config_map("one"), namespace)
    with pytest.raises(NoSuchResource, match="no subresource scale of configmaps"):
        await client.get_scale(CONFIG_MAPS, "one", namespace)


async def test_any_path_can_be_read(client: Client) -> None:
    assert b"gitVersion" in await client.raw("GET", "/version")
    with pytest.raises(NoSuchResource, match="has no /nowhere"):
        await client.raw("GET", "/nowhere")


# list


async def test_a_list_in_chunks_is_the_whole_list(client: Client, namespace: str) -> None:
    await fill(client, namespace, 10)
    pages = [
        page async for page in client.pages(CONFIG_MAPS, namespace, label_selector=OURS, limit=4)
    ]
    assert [len(page.items) for page in pages] == [4, 4, 2]
    assert [page.is_first for page in pages] == [True, False, False]
    assert len({page.resource_version for page in pages}) == 1
    whole = await client.list(CONFIG_MAPS, namespace, label_selector=OURS, limit=3)
    assert [item["metadata"]["name"] for item in whole.items] == [f"cm-{n:02}" for n in range(10)]
    assert all(item["kind"] == "ConfigMap" for item in whole.items)


async def test_remaining_objects_are_counted_where_the_server_can(
    client: Client, namespace: str
) -> None:
    await fill(client, namespace, 3)  # and one that every namespace has
    async with aclosing(client.pages(CONFIG_MAPS, namespace, limit=1)) as pages:
        assert (await anext(pages)).remaining in (2, 3)


async def test_selectors_pick(client: Client, namespace: str) -> None:
    await fill(client, namespace, 4)
    odd = await client.list(TYPED_CONFIG_MAPS, namespace, label_selector="parity=odd")
    assert [each.metadata.name for each in odd.items] == ["cm-01", "cm-03"]
    one = await client.list(
        TYPED_CONFIG_MAPS, namespace, field_selector="metadata.name=cm-02,metadata.name!=x"
    )
    assert [each.metadata.name for each in one.items] == ["cm-02"]
    with pytest.raises(BadRequest):
        await client.list(CONFIG_MAPS, namespace, label_selector="((")
    with pytest.raises(BadRequest):
        await client.list(CONFIG_MAPS, namespace, field_selector="data.x=y")


async def test_all_namespaces_and_kinds_without_namespaces_are_listed(
    client: Client, namespace: str
) -> None:
    await client.create(CONFIG_MAPS, a_config_map("lonely"), namespace)
    found = await client.list(TYPED_CONFIG_MAPS, field_selector="metadata.name=lonely")
    assert namespace in [each.metadata.namespace for each in found.items]
    names = [each["metadata"]["name"] for each in (await client.list(NAMESPACES)).items]
    assert namespace in names


async def test_a_long_list_comes_compressed(client: Client, namespace: str, server: Server) -> None:
    for number in range(3):
        filling = {"data": {str(n): "x" * 1000 for n in range(200)}}
        await client.create(CONFIG_MAPS, {**a_config_map(f"big-{number}"), **filling}, namespace)
    received = []
    for is_plain in (False, True):
        asking = replace(config_of(server.kubeconfig), disable_compression=is_plain)
        async with counted_way(asking) as way, Client(way.config) as other:
            found = await other.list(TYPED_CONFIG_MAPS, namespace)
            assert sum(len("".join(each.data.values())) for each in found.items) >= 600_000
            received.append(way.received)
    compressed, plain = received
    assert plain >= 600_000
    assert compressed < plain / 10


async def test_a_version_of_the_future_is_waited_for_and_then_given_up(
    client: Client, namespace: str
) -> None:
    future = str(10**15)
    with pytest.raises(ServerTimeout) as caught:
        await client.list(
            CONFIG_MAPS,
            namespace,
            resource_version=future,
            resource_version_match="NotOlderThan",
        )
    assert caught.value.has_cause("ResourceVersionTooLarge")


# watch


async def take(
    client: Client, count: int, namespace: str, **options: Any
) -> list[WatchEvent[dict[str, Any]]]:
    taken: list[WatchEvent[dict[str, Any]]] = []
    async with aclosing(client.watch(CONFIG_MAPS, namespace, timeout_s=20, **options)) as events:
        async for event in events:
            taken.append(event)
            if len(taken) == count:
                break
    return taken


def name_of(event: WatchEvent[dict[str, Any]]) -> str:
    assert isinstance(event.object, dict)
    return str(event.object["metadata"]["name"])


async def test_a_watch_continues_a_list_without_a_gap(client: Client, namespace: str) -> None:
    before = await client.list(CONFIG_MAPS, namespace)
    await client.create(CONFIG_MAPS, a_config_map("one"), namespace)
    await client.patch(CONFIG_MAPS, "one", MergePatch({"data": {"a": "b"}}), namespace)
    await client.delete(CONFIG_MAPS, "one", namespace)
    events = await take(client, 3, namespace, resource_version=before.resource_version)
    assert [event.type for event in events] == [
        EventType.ADDED,
        EventType.MODIFIED,
        EventType.DELETED,
    ]
    assert isinstance(events[1].object, dict)
    assert events[1].object["data"] == {"a": "b"}
    versions = [int(event.resource_version) for event in events]
    assert versions == sorted(versions)
    assert versions[0] > int(before.resource_version)


async def test_a_watch_sees_only_what_its_selector_picks(client: Client, namespace: str) -> None:
    before = await client.list(CONFIG_MAPS, namespace)
    await client.create(CONFIG_MAPS, a_config_map("in", {"a": "b"}), namespace)
    await client.create(CONFIG_MAPS, a_config_map("out"), namespace)
    await client.patch(
        CONFIG_MAPS, "in", MergePatch({"metadata": {"labels": {"a": None}}}), namespace
    )
    events = await take(
        client, 2, namespace, resource_version=before.resource_version, label_selector="a=b"
    )
    names = [(str(event.type), name_of(event)) for event in events]
    assert names == [("ADDED", "in"), ("DELETED", "in")]


async def test_a_watch_ends_normally_when_its_time_is_over(client: Client, namespace: str) -> None:
    version = (await client.list(CONFIG_MAPS, namespace)).resource_version
    # Kubernetes puts a ConfigMap of its own into every new namespace, sooner or later.
    watch = client.watch(
        CONFIG_MAPS, namespace, resource_version=version, label_selector=OURS, timeout_s=1
    )
    events = [event async for event in watch]
    assert all(event.type is EventType.BOOKMARK for event in events)


async def test_a_streamed_list_begins_with_what_is_there(client: Client, namespace: str) -> None:
    await fill(client, namespace, 3)
    watch = client.watch(
        CONFIG_MAPS,
        namespace,
        resource_version=None,
        label_selector=OURS,
        send_initial_events=True,
        resource_version_match="NotOlderThan",
        timeout_s=20,
    )
    async with aclosing(watch) as events:
        initial = [await anext(events) for _ in range(3)]
        assert sorted(map(name_of, initial)) == ["cm-00", "cm-01", "cm-02"]
        assert {event.type for event in initial} == {EventType.ADDED}
        end = await anext(events)
        assert (end.type, end.object, end.initial_events_end) == (EventType.BOOKMARK, None, True)
        assert int(end.resource_version) >= max(int(event.resource_version) for event in initial)
        await client.create(CONFIG_MAPS, a_config_map("later", {"parity": "odd"}), namespace)
        assert name_of(await anext(events)) == "later"


async def test_custom_resources_are_watched_like_all_others(
    client: Client, namespace: str, lamps: Resource[dict[str, Any]]
) -> None:
    before = await client.list(lamps, namespace)
    await client.create(lamps, a_lamp("hall"), namespace)
    async with aclosing(
        client.watch(lamps, namespace, resource_version=before.resource_version)
    ) as events:
        event = await anext(events)
    assert isinstance(event.object, dict)
    assert event.object["spec"] == {"watts": 40}


async def test_many_watches_run_side_by_side(client: Client, namespace: str) -> None:
    """No connection limit of the client stands in the way."""
    version = (await client.list(CONFIG_MAPS, namespace)).resource_version
    async with asyncio.TaskGroup() as group:
        waiting = [
            group.create_task(take(client, 1, namespace, resource_version=version))
            for _ in range(120)
        ]
        await client.create(CONFIG_MAPS, a_config_map("one"), namespace)
    assert all(task.result()[0].type is EventType.ADDED for task in waiting)


# History that is gone


async def test_a_list_begins_again_when_the_server_forgot_it(forgetful: Mortal) -> None:
    async with Client(config_of(forgetful.kubeconfig)) as client:
        await fill(client, "default", 6)
        seen = []
        async for page in client.pages(CONFIG_MAPS, "default", label_selector=OURS, limit=2):
            seen.append((page.is_first, len(page.items)))
            if len(seen) == 1:
                await until_forgotten(client, page.resource_version)
        assert seen == [(True, 2), (True, 6)]


async def test_a_watch_of_forgotten_history_is_expired(forgetful: Mortal) -> None:
    async with Client(config_of(forgetful.kubeconfig)) as client:
        version = (await client.list(CONFIG_MAPS, "default")).resource_version
        await fill(client, "default", 3)
        await until_forgotten(client, version)
        # What the server holds in memory it still knows; a new start has only what is on disk.
        await forgetful.kill_apiserver()
        await forgetful.start_apiserver()
        # It may have been killed before it took from the disk what it had declared forgotten.
        await until_forgotten(client, version)
        with pytest.raises(Expired, match="too old resource version"):
            await take(client, 1, "default", resource_version=version)
