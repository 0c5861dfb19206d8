"""Events as users of client-go know them: counted, combined, limited, and never in the way."""

import asyncio
import random
from typing import Any

import pytest
from msgspec import structs

from kubevirt.api.core.references import ObjectReference
from kubevirt.api.meta import ObjectMeta, PartialObjectMetadata, Status, StatusCause, StatusDetails
from kubevirt.api.scheme import EVENTS, NODES, VIRTUAL_MACHINES
from kubevirt.base.clock import Clock
from kubevirt.base.errors import Unreachable
from kubevirt.base.tasks import background
from kubevirt.kube.correlation import CorrelationSettings
from kubevirt.kube.errors import Forbidden
from kubevirt.kube.events import FAREWELL_S, EventRecorder, EventSettings, reference
from kubevirt.kube.key import Key
from kubevirt.testing.faulty_client import FaultyClient
from kubevirt.testing.faulty_server import FaultyServer, overloaded

pytestmark = pytest.mark.virtual_time

VM = reference(
    VIRTUAL_MACHINES,
    PartialObjectMetadata(
        metadata=ObjectMeta(name="testvm", namespace="demo", uid="1", resource_version="5")
    ),
)


@pytest.fixture
def server(clock: Clock) -> FaultyServer:
    return FaultyServer(clock)


@pytest.fixture
def client(server: FaultyServer, clock: Clock) -> FaultyClient:
    return FaultyClient(server, clock)


def a_recorder(client: FaultyClient, clock: Clock, **settings: Any) -> EventRecorder:
    return EventRecorder(
        client,
        component="virtualmachine-controller",
        host="node01",
        clock=clock,
        settings=EventSettings(**settings),
        randomness=random.Random(1),
    )


@pytest.fixture
def recorder(client: FaultyClient, clock: Clock) -> EventRecorder:
    return a_recorder(client, clock)


def events_on(server: FaultyServer) -> list[dict[str, Any]]:
    """In the order they were first told."""
    return sorted(
        server.history.state(EVENTS).values(), key=lambda event: event["metadata"]["name"]
    )


def told(server: FaultyServer) -> list[tuple[str, int]]:
    return [(event["message"], event["count"]) for event in events_on(server)]


async def test_an_event_says_what_happened_to_what_when_and_who_says_so(
    server: FaultyServer, recorder: EventRecorder, clock: Clock
) -> None:
    async with background(recorder.run()):
        await clock.sleep(1.25)
        recorder.normal(VM, "SuccessfulCreate", "Created virtual machine instance testvm")
        await clock.sleep(1)
    [event] = events_on(server)
    name = event["metadata"].pop("name")
    metadata = event.pop("metadata")
    assert metadata["namespace"] == "demo"
    assert name == f"testvm.{1893456001250000 * 1000:x}"
    assert event == {
        "apiVersion": "v1",
        "kind": "Event",
        "involvedObject": {
            "apiVersion": "kubevirt.io/v1",
            "kind": "VirtualMachine",
            "namespace": "demo",
            "name": "testvm",
            "uid": "1",
            "resourceVersion": "5",
        },
        "type": "Normal",
        "reason": "SuccessfulCreate",
        "message": "Created virtual machine instance testvm",
        "count": 1,
        "firstTimestamp": "2030-01-01T00:00:01Z",
        "lastTimestamp": "2030-01-01T00:00:01Z",
        "source": {"component": "virtualmachine-controller", "host": "node01"},
        "reportingComponent": "virtualmachine-controller",
        "reportingInstance": "node01",
    }


async def test_events_about_cluster_wide_objects_are_in_the_default_namespace(
    server: FaultyServer, recorder: EventRecorder, clock: Clock
) -> None:
    node = reference(NODES, PartialObjectMetadata(metadata=ObjectMeta(name="node01", uid="2")))
    async with background(recorder.run()):
        recorder.warning(node, "NodeUnresponsive", "no heartbeat")
        await clock.sleep(1)
    [event] = events_on(server)
    assert event["metadata"]["namespace"] == "default"
    assert event["type"] == "Warning"


async def test_the_same_again_is_the_same_event_with_a_higher_count(
    server: FaultyServer, client: FaultyClient, recorder: EventRecorder, clock: Clock
) -> None:
    async with background(recorder.run()):
        for _ in range(3):
            recorder.warning(VM, "FailedCreate", "quota exceeded")
            await clock.sleep(60)
        recorder.normal(VM, "FailedCreate", "quota exceeded")
        await clock.sleep(1)
    assert told(server) == [("quota exceeded", 3), ("quota exceeded", 1)]
    first = events_on(server)[0]
    assert first["firstTimestamp"] == "2030-01-01T00:00:00Z"
    assert first["lastTimestamp"] == "2030-01-01T00:02:00Z"
    assert [request.split()[0] for request in client.requests] == [
        "create",
        "patch",
        "patch",
        "create",
    ]


async def test_what_happens_again_while_it_waits_to_be_written_is_one_write(
    server: FaultyServer, client: FaultyClient, recorder: EventRecorder, clock: Clock
) -> None:
    for _ in range(20):
        recorder.warning(VM, "FailedCreate", "quota exceeded")
    async with background(recorder.run()):
        await clock.sleep(1)
    assert told(server) == [("quota exceeded", 20)]
    assert client.requests == ["create events"]


async def test_an_event_that_the_server_forgot_is_told_anew_with_its_count(
    server: FaultyServer, recorder: EventRecorder, clock: Clock
) -> None:
    async with background(recorder.run()):
        recorder.warning(VM, "FailedCreate", "quota exceeded")
        await clock.sleep(3600)
        server.delete(EVENTS, Key("demo", events_on(server)[0]["metadata"]["name"]))
        recorder.warning(VM, "FailedCreate", "quota exceeded")
        await clock.sleep(1)
    assert told(server) == [("quota exceeded", 2)]


async def test_ten_similar_events_are_combined(
    server: FaultyServer, recorder: EventRecorder, clock: Clock
) -> None:
    async with background(recorder.run()):
        for n in range(12):
            recorder.warning(VM, "FailedCreate", f"try {n} failed")
            await clock.sleep(10)
    assert told(server) == [
        *((f"try {n} failed", 1) for n in range(9)),
        ("(combined from similar events): try 11 failed", 3),
    ]


async def test_similar_events_are_combined_as_long_as_they_keep_coming(
    server: FaultyServer, recorder: EventRecorder, clock: Clock
) -> None:
    async with background(recorder.run()):
        for n in range(12):
            recorder.warning(VM, "FailedCreate", f"try {n} failed")
            await clock.sleep(590)
    assert told(server)[-1] == ("(combined from similar events): try 11 failed", 3)


async def test_a_known_message_among_many_similar_ones_is_told_as_itself(
    server: FaultyServer, recorder: EventRecorder, clock: Clock
) -> None:
    async with background(recorder.run()):
        for n in (*range(10), 5):
            recorder.warning(VM, "FailedCreate", f"try {n} failed")
            await clock.sleep(10)
    assert ("try 5 failed", 2) in told(server)


async def test_similar_events_with_a_long_pause_are_not_combined(
    server: FaultyServer, recorder: EventRecorder, clock: Clock
) -> None:
    async with background(recorder.run()):
        for n in range(9):
            recorder.warning(VM, "FailedCreate", f"try {n} failed")
        await clock.sleep(601)
        for n in range(9, 18):
            recorder.warning(VM, "FailedCreate", f"try {n} failed")
        await clock.sleep(1)
    assert told(server) == [(f"try {n} failed", 1) for n in range(18)]


async def test_other_reasons_are_not_similar(
    server: FaultyServer, recorder: EventRecorder, clock: Clock
) -> None:
    async with background(recorder.run()):
        for n in range(20):
            recorder.warning(VM, f"Reason{n}", f"message {n}")
        await clock.sleep(1)
    assert told(server) == [(f"message {n}", 1) for n in range(20)]


async def test_an_object_has_a_budget_of_events_that_refills_slowly(
    server: FaultyServer, recorder: EventRecorder, clock: Clock
) -> None:
    other = reference(
        VIRTUAL_MACHINES,
        PartialObjectMetadata(metadata=ObjectMeta(name="other", namespace="demo", uid="7")),
    )
    async with background(recorder.run()):
        for _ in range(100):
            recorder.warning(VM, "FailedCreate", "quota exceeded")
            await clock.sleep(0.1)
        assert told(server) == [("quota exceeded", 25)], "the rest is only counted"
        recorder.warning(other, "FailedCreate", "quota exceeded")
        await clock.sleep(1)
        assert ("quota exceeded", 1) in told(server), "another object has its own budget"
        await clock.sleep(300)
        recorder.warning(VM, "FailedCreate", "quota exceeded")
        recorder.warning(VM, "FailedCreate", "quota exceeded")
        await clock.sleep(1)
        assert ("quota exceeded", 102) in told(server), "the write tells what was only counted"
        recorder.warning(VM, "FailedCreate", "quota exceeded")
        await clock.sleep(1)
        assert ("quota exceeded", 102) in told(server)


async def test_a_long_silence_does_not_save_up_a_larger_budget(
    server: FaultyServer, recorder: EventRecorder, clock: Clock
) -> None:
    async with background(recorder.run()):
        recorder.normal(VM, "Started", "hello")
        await clock.sleep(30 * 86_400)
        for _ in range(100):
            recorder.warning(VM, "FailedCreate", "quota exceeded")
            await clock.sleep(0.1)
    assert ("quota exceeded", 25) in told(server)


async def test_another_object_of_the_same_name_has_events_of_its_own(
    server: FaultyServer, recorder: EventRecorder, clock: Clock
) -> None:
    async with background(recorder.run()):
        recorder.normal(VM, "Started", "hello")
        recorder.normal(structs.replace(VM, uid="2"), "Started", "hello")
        await clock.sleep(1)
    assert told(server) == [("hello", 1), ("hello", 1)]


async def test_what_was_not_heard_of_for_long_is_forgotten(
    server: FaultyServer, client: FaultyClient, clock: Clock
) -> None:
    recorder = a_recorder(client, clock, correlation=CorrelationSettings(remembered=2))
    async with background(recorder.run()):
        for reason in ["One", "Two", "One", "Three", "One", "Two"]:
            recorder.normal(VM, reason, "hello")
            await clock.sleep(1)
    told_reasons = [(event["reason"], event["count"]) for event in events_on(server)]
    assert told_reasons == [("One", 3), ("Two", 1), ("Three", 1), ("Two", 1)]


async def test_a_long_message_is_cut_between_characters(
    server: FaultyServer, recorder: EventRecorder, clock: Clock
) -> None:
    async with background(recorder.run()):
        recorder.normal(VM, "Exact", "é" * 512)
        recorder.normal(VM, "Long", "é" * 513)
        await clock.sleep(1)
    exact, long = (event["message"] for event in events_on(server))
    assert exact == "é" * 512
    assert long == "é" * 510 + "..."
    assert len(long.encode()) <= 1024


async def test_an_event_about_an_object_with_a_long_name_has_a_name_that_fits(
    server: FaultyServer, recorder: EventRecorder, clock: Clock
) -> None:
    async with background(recorder.run()):
        recorder.normal(ObjectReference(name="x" * 253, namespace="demo"), "Created", "hello")
        await clock.sleep(1)
    assert len(events_on(server)[0]["metadata"]["name"]) == 253


async def test_recording_never_waits_and_what_does_not_fit_is_dropped(
    server: FaultyServer, client: FaultyClient, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    recorder = a_recorder(client, clock, waiting=10)
    client.hang()
    async with background(recorder.run()):
        for n in range(24):
            recorder.normal(VM, f"Reason{n}", "hello")
        assert recorder.dropped == 14
        recorder.normal(VM, "Reason3", "hello")
        assert recorder.dropped == 14, "that one waits already"
    assert len(caplog.records) == 4, "for the 1st, 2nd, 4th and 8th"
    assert events_on(server) == []


async def test_a_server_that_was_away_is_told_what_happened_meanwhile(
    server: FaultyServer, client: FaultyClient, recorder: EventRecorder, clock: Clock
) -> None:
    client.cut_off()
    async with background(recorder.run()):
        recorder.normal(VM, "Created", "first")
        recorder.normal(VM, "Started", "second")
        await clock.sleep(60)
        client.restore()
        await clock.sleep(11)
    assert told(server) == [("first", 1), ("second", 1)]


async def test_an_event_is_given_up_after_twelve_tries(
    server: FaultyServer,
    client: FaultyClient,
    recorder: EventRecorder,
    clock: Clock,
    caplog: pytest.LogCaptureFixture,
) -> None:
    client.fail_next(*(overloaded(503) for _ in range(12)))
    async with background(recorder.run()):
        recorder.normal(VM, "Created", "first")
        recorder.normal(VM, "Started", "second")
        await clock.sleep(5)
        assert len(client.requests) == 2, "the first wait is a random part of ten seconds"
        await clock.sleep(200)
    assert told(server) == [("second", 1)]
    assert len(caplog.records) == 1


async def test_a_server_that_names_a_time_is_not_asked_before(
    client: FaultyClient, recorder: EventRecorder, clock: Clock
) -> None:
    client.fail_next(overloaded(429, after_s=100))
    async with background(recorder.run()):
        recorder.normal(VM, "Created", "first")
        await clock.sleep(99)
        assert len(client.requests) == 1
        await clock.sleep(2)
        assert len(client.requests) == 2


async def test_an_event_whose_answer_was_lost_is_not_told_twice(
    server: FaultyServer, client: FaultyClient, recorder: EventRecorder, clock: Clock
) -> None:
    client.lose_answers(1)
    async with background(recorder.run()):
        recorder.normal(VM, "Created", "hello")
        await clock.sleep(60)
        recorder.normal(VM, "Created", "hello")
        await clock.sleep(60)
    assert told(server) == [("hello", 2)]


NAMESPACE_ENDS = Forbidden(
    Status(details=StatusDetails(causes=(StatusCause(reason="NamespaceTerminating"),)))
)


@pytest.mark.parametrize(
    ("error", "lines"), [(Forbidden(Status()), 1), (NAMESPACE_ENDS, 0), (KeyError("bug"), 1)]
)
async def test_a_server_that_refuses_is_not_asked_again(
    server: FaultyServer,
    client: FaultyClient,
    recorder: EventRecorder,
    clock: Clock,
    caplog: pytest.LogCaptureFixture,
    error: Exception,
    lines: int,
) -> None:
    client.fail_next(error)
    async with background(recorder.run()):
        recorder.normal(VM, "Created", "first")
        recorder.normal(VM, "Started", "second")
        await clock.sleep(1000)
    assert told(server) == [("second", 1)]
    assert len(client.requests) == 2
    assert len(caplog.records) == lines


async def test_closing_writes_what_waits_and_ends(
    server: FaultyServer, recorder: EventRecorder, clock: Clock
) -> None:
    recorder.normal(VM, "Stopped", "last words")
    recorder.close()
    recorder.normal(VM, "Late", "too late")
    await recorder.run()
    assert told(server) == [("last words", 1)]


async def test_closing_does_not_wait_for_a_server_that_is_away(
    client: FaultyClient, recorder: EventRecorder, clock: Clock
) -> None:
    client.fail_next(*(Unreachable("refused") for _ in range(100)))
    recorder.normal(VM, "Stopped", "last words")
    recorder.normal(VM, "Left", "very last words")

    async def close() -> None:
        await clock.sleep(15)
        recorder.close()

    async with background(close()):
        await recorder.run()
    assert clock.monotonic() == 15
    assert len(client.requests) == 5, "three before, and one last try for each"


async def test_what_was_told_just_before_the_end_is_written(
    server: FaultyServer, client: FaultyClient, recorder: EventRecorder
) -> None:
    client.latency_s = 0.5

    async def work() -> None:
        async with recorder.running():
            recorder.normal(VM, "Stopped", "last words")
            recorder.normal(VM, "Left", "very last words")
            is_told.set()
            await asyncio.Event().wait()

    is_told = asyncio.Event()
    async with background(work()):
        await is_told.wait()
    assert told(server) == [("last words", 1), ("very last words", 1)]


async def test_the_end_is_not_held_up_by_a_server_that_does_not_answer(
    client: FaultyClient, recorder: EventRecorder, clock: Clock
) -> None:
    client.hang()
    async with recorder.running():
        recorder.normal(VM, "Stopped", "last words")
    assert clock.monotonic() == FAREWELL_S


async def test_closing_an_idle_recorder_ends_it(recorder: EventRecorder, clock: Clock) -> None:
    async def close() -> None:
        await clock.sleep(15)
        recorder.close()

    async with background(close()):
        await recorder.run()
