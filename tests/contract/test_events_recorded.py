"""Events on a real server: stored, counted and combined as kubectl shows them."""

import pytest

from clusterup import waiting
from kubevirt.api.core.event import Event
from kubevirt.api.core.namespace import ConfigMap
from kubevirt.api.core.references import ObjectReference
from kubevirt.api.meta import ObjectMeta
from kubevirt.api.scheme import CONFIG_MAPS, EVENTS, NAMESPACES
from kubevirt.base.clock import Clock
from kubevirt.base.tasks import background
from kubevirt.kube.client import Client
from kubevirt.kube.events import EventRecorder, reference


@pytest.fixture
def recorder(client: Client, clock: Clock) -> EventRecorder:
    return EventRecorder(client, component="contract-test", host="node01", clock=clock)


@pytest.fixture
async def thing(client: Client, namespace: str) -> ObjectReference:
    made = await client.create(CONFIG_MAPS, ConfigMap(metadata=ObjectMeta(name="thing")), namespace)
    return reference(CONFIG_MAPS, made)


async def events(client: Client, about: ObjectReference, namespace: str) -> list[Event]:
    found = await client.list(EVENTS, namespace, field_selector=f"involvedObject.uid={about.uid}")
    return sorted(found.items, key=lambda event: event.metadata.name)


async def wait_for_counts(
    client: Client, about: ObjectReference, namespace: str, counts: list[int]
) -> list[Event]:
    found: list[Event] = []

    async def are_told() -> bool:
        found[:] = await events(client, about, namespace)
        return [event.count for event in found] == counts

    await waiting.until(are_told, limit_s=120, what=f"events with counts {counts}")
    return found


async def test_an_event_is_stored_and_counted(
    client: Client, recorder: EventRecorder, thing: ObjectReference, namespace: str
) -> None:
    async with background(recorder.run()):
        recorder.warning(thing, "FailedCreate", "no room")
        [first] = await wait_for_counts(client, thing, namespace, [1])
        recorder.warning(thing, "FailedCreate", "no room")
        [again] = await wait_for_counts(client, thing, namespace, [2])
    assert first.involved_object == thing
    assert (first.type, first.reason, first.message) == ("Warning", "FailedCreate", "no room")
    assert first.reporting_component == "contract-test"
    assert first.reporting_instance == "node01"
    assert first.source is not None
    assert (first.source.component, first.source.host) == ("contract-test", "node01")
    assert again.metadata.name == first.metadata.name
    assert again.first_timestamp == first.first_timestamp


async def test_similar_events_are_combined_on_the_server(
    client: Client, recorder: EventRecorder, thing: ObjectReference, namespace: str
) -> None:
    async with background(recorder.run()):
        for n in range(12):
            recorder.normal(thing, "Probed", f"attempt {n}")
        *_, combined = await wait_for_counts(client, thing, namespace, [1] * 9 + [3])
    assert combined.message == "(combined from similar events): attempt 11"


async def test_an_event_that_was_deleted_comes_back_when_it_happens_again(
    client: Client, recorder: EventRecorder, thing: ObjectReference, namespace: str
) -> None:
    async with background(recorder.run()):
        recorder.normal(thing, "Started", "hello")
        [first] = await wait_for_counts(client, thing, namespace, [1])
        await client.delete(EVENTS, first.metadata.name, namespace)
        recorder.normal(thing, "Started", "hello")
        await wait_for_counts(client, thing, namespace, [2])


async def test_events_about_cluster_wide_objects_are_taken(
    client: Client, clock: Clock, namespace: str
) -> None:
    recorder = EventRecorder(client, component="contract-test", clock=clock)
    place = await client.get(NAMESPACES, namespace)
    about = reference(NAMESPACES, place)
    async with background(recorder.run()):
        recorder.normal(about, "Seen", "x" * 5000)
        [event] = await wait_for_counts(client, about, "default", [1])
    assert len(event.message or "") == 1024
