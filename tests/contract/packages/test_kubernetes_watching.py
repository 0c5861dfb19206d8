"""Watches and the informer of the `kubernetes` package."""

import queue
from collections.abc import Callable
from contextlib import closing
from itertools import islice
from typing import Any

import pytest
from kubernetes import client, config, watch
from kubernetes.client import exceptions
from kubernetes.informer import ADDED, DELETED, MODIFIED, SharedInformer
from tests.contract.conftest import Mortal, config_of
from tests.contract.forgetting import until_forgotten
from tests.contract.lamps import CONFIG_MAPS, a_lamp
from tests.contract.lamps import a_config_map as a_raw_config_map

from kubevirt.api.resource import Resource
from kubevirt.kube.client import Client

LIMIT_S = 120
INITIAL_EVENTS_END = "k8s.io/initial-events-end"


def a_config_map(name: str, **data: str) -> Any:
    return client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name), data=data)


def take(count: int, function: Callable[..., Any], *where: str, **options: Any) -> list[Any]:
    """As many events as that, and no more."""
    limit = {"timeout_seconds": LIMIT_S, "_request_timeout": LIMIT_S}
    stream = watch.Watch().stream(function, *where, **limit, **options)
    with closing(stream):
        return list(islice(stream, count))


def told(events: list[Any]) -> list[tuple[str, str]]:
    return [(each["type"], each["object"].metadata.name) for each in events]


def test_a_watch_tells_what_happens_and_resumes(core: Any, namespace: str) -> None:
    before = core.list_namespaced_config_map(namespace).metadata.resource_version
    core.create_namespaced_config_map(namespace, a_config_map("one"))
    core.create_namespaced_config_map(namespace, a_config_map("two"))
    core.patch_namespaced_config_map("one", namespace, {"data": {"a": "1"}})
    core.delete_namespaced_config_map("two", namespace)

    def taken(count: int, version: str) -> list[Any]:
        return take(
            count,
            core.list_namespaced_config_map,
            namespace,
            field_selector="metadata.name!=kube-root-ca.crt",
            resource_version=version,
        )

    first = taken(2, before)
    assert told(first) == [("ADDED", "one"), ("ADDED", "two")]
    seen = first[-1]["object"].metadata.resource_version
    rest = taken(2, seen)
    assert told(rest) == [("MODIFIED", "one"), ("DELETED", "two")]
    assert rest[0]["object"].data == {"a": "1"}


def test_a_watch_without_a_version_begins_with_what_is_there(core: Any, namespace: str) -> None:
    for name in ("one", "two"):
        core.create_namespaced_config_map(namespace, a_config_map(name))
    events = take(
        2,
        core.list_namespaced_config_map,
        namespace,
        field_selector="metadata.name!=kube-root-ca.crt",
    )
    assert sorted(told(events)) == [("ADDED", "one"), ("ADDED", "two")]


def test_a_watch_that_streams_its_list_marks_the_end_of_it(core: Any, namespace: str) -> None:
    core.create_namespaced_config_map(namespace, a_config_map("one"))
    events = take(
        2,
        core.list_namespaced_config_map,
        namespace,
        field_selector="metadata.name=one",
        send_initial_events=True,
        allow_watch_bookmarks=True,
        resource_version_match="NotOlderThan",
    )
    assert [each["type"] for each in events] == ["ADDED", "BOOKMARK"]
    metadata = events[1]["raw_object"]["metadata"]
    assert metadata["annotations"] == {INITIAL_EVENTS_END: "true"}
    assert int(metadata["resourceVersion"]) > 0


def test_a_watch_ends_when_its_time_is_over(core: Any, namespace: str) -> None:
    stream = watch.Watch().stream(
        core.list_namespaced_config_map,
        namespace,
        field_selector="metadata.name=nobody",
        timeout_seconds=1,
    )
    assert list(stream) == []


def test_custom_objects_are_watched(
    api: Any, namespace: str, lamps: Resource[dict[str, Any]]
) -> None:
    custom = client.CustomObjectsApi(api)
    where = (lamps.group, lamps.version, namespace, lamps.plural)
    before = custom.list_namespaced_custom_object(*where)["metadata"]["resourceVersion"]
    head = {"apiVersion": lamps.api_version, "kind": lamps.kind}
    for name, labels in (("seen", {"watched": "yes"}), ("unseen", {})):
        body = {**head, **a_lamp(name)}
        body["metadata"]["labels"] = labels
        custom.create_namespaced_custom_object(*where, body)
    gone = {"metadata": {"labels": {"watched": None}}}
    custom.patch_namespaced_custom_object(*where, "seen", gone)
    events = take(
        2,
        custom.list_namespaced_custom_object,
        *where,
        label_selector="watched=yes",
        resource_version=before,
    )
    assert [(each["type"], each["object"]["metadata"]["name"]) for each in events] == [
        ("ADDED", "seen"),
        ("DELETED", "seen"),
    ]


@pytest.mark.timeout(600)  # two starts of a server of its own
async def test_history_that_is_gone_is_410(forgetful: Mortal) -> None:
    async with Client(config_of(forgetful.kubeconfig)) as own:
        version = (await own.list(CONFIG_MAPS, "default")).resource_version
        await own.create(CONFIG_MAPS, a_raw_config_map("later"), "default")
        await until_forgotten(own, version)
    await forgetful.kill_apiserver()
    await forgetful.start_apiserver()
    with config.new_client_from_config(config_file=str(forgetful.kubeconfig)) as api:
        core = client.CoreV1Api(api)
        with pytest.raises(exceptions.ApiException, match="too old resource version") as refused:
            take(1, core.list_namespaced_config_map, "default", resource_version=version)
        assert refused.value.status == 410


def test_the_informer_holds_what_the_server_has(core: Any, namespace: str) -> None:
    heard: queue.Queue[tuple[str, str]] = queue.Queue()
    core.create_namespaced_config_map(namespace, a_config_map("early"))
    informer = SharedInformer(
        list_func=core.list_namespaced_config_map,
        namespace=namespace,
        field_selector="metadata.name!=kube-root-ca.crt",
    )
    for kind in (ADDED, MODIFIED, DELETED):
        informer.add_event_handler(kind, lambda it, kind=kind: heard.put((kind, it.metadata.name)))
    informer.start()
    try:
        assert heard.get(timeout=LIMIT_S) == (ADDED, "early")
        core.create_namespaced_config_map(namespace, a_config_map("late"))
        assert heard.get(timeout=LIMIT_S) == (ADDED, "late")
        core.patch_namespaced_config_map("late", namespace, {"data": {"a": "1"}})
        assert heard.get(timeout=LIMIT_S) == (MODIFIED, "late")
        assert informer.cache.get_by_key(f"{namespace}/late").data == {"a": "1"}
        core.delete_namespaced_config_map("early", namespace)
        assert heard.get(timeout=LIMIT_S) == (DELETED, "early")
        assert [each.metadata.name for each in informer.cache.list()] == ["late"]
    finally:
        informer.stop()
