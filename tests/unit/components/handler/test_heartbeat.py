"""The heartbeat of a node: few writes, and a goodbye."""

from typing import Any

import pytest

from kubevirt.api.meta import ObjectMeta, PartialObjectMetadata
from kubevirt.base.clock import Clock
from kubevirt.base.errors import Unreachable
from kubevirt.components.handler.heartbeat import Heartbeat
from kubevirt.components.handler.node_labels import SKIP
from kubevirt.virt.nodes import HEARTBEAT
from kubevirt.virt.pod.names import SCHEDULABLE

pytestmark = pytest.mark.virtual_time


class Server:
    """One node. It takes patches, and answers with how the node is then."""

    def __init__(self) -> None:
        self.said: list[str] = []
        """Whether the node takes guests, beat by beat."""
        self.labels: dict[str, str] = {}
        self.annotations: dict[str, str] = {}
        self.failures = 0

    async def patch(self, _: Any, name: str, patch: Any) -> PartialObjectMetadata:
        assert name == "node01"
        if self.failures:
            self.failures -= 1
            raise Unreachable("away")
        metadata = patch.body["metadata"]
        if SCHEDULABLE in metadata["labels"]:
            assert metadata["annotations"][HEARTBEAT].endswith("Z")
            self.said.append(metadata["labels"][SCHEDULABLE])
        merged = {**self.labels, **metadata["labels"]}
        self.labels = {name: value for name, value in merged.items() if value is not None}
        self.annotations |= metadata.get("annotations", {})
        return PartialObjectMetadata(
            metadata=ObjectMeta(labels=self.labels, annotations=self.annotations)
        )


async def beating(server: Server, clock: Clock, seconds: float, **given: Any) -> Heartbeat:
    heartbeat = Heartbeat(server, "node01", clock, **given)  # type: ignore[arg-type]
    with pytest.raises(TimeoutError):
        async with clock.timeout(seconds):
            await heartbeat.run()
    return heartbeat


async def test_an_hour_costs_a_write_a_minute_at_most(clock: Clock) -> None:
    server = Server()
    heartbeat = await beating(server, clock, 3600)
    assert 50 <= heartbeat.writes <= 62
    assert set(server.said[:-1]) == {"true"}


async def test_a_handler_that_ends_says_goodbye(clock: Clock) -> None:
    server = Server()
    await beating(server, clock, 1)
    assert server.said == ["true", "false"]


async def test_a_server_that_is_away_is_asked_again_soon(clock: Clock) -> None:
    server = Server()
    server.failures = 3
    await beating(server, clock, 40)
    assert server.said == ["true", "false"]


async def test_no_guest_is_sent_before_devices_are_offered(clock: Clock) -> None:
    server, began = Server(), clock.monotonic()
    await beating(server, clock, 45, is_ready=lambda: clock.monotonic() - began > 25)
    assert server.said == ["false", "false", "true", "false"]


LABELS = {"cpu-model.node.kubevirt.io/Nehalem": "true"}


async def test_a_node_is_labelled_once_and_again_when_somebody_takes_labels_off(
    clock: Clock,
) -> None:
    server = Server()
    server.labels = {"cpu-model.node.kubevirt.io/Haswell": "true", "other": "stays"}
    heartbeat = await beating(server, clock, 1, labels=LABELS)
    assert heartbeat.writes == 3  # the labels, between the first beat and the goodbye
    assert server.labels.items() >= {**LABELS, "other": "stays"}.items()
    assert "cpu-model.node.kubevirt.io/Haswell" not in server.labels
    assert (await beating(server, clock, 1, labels=LABELS)).writes == 2
    server.labels.clear()
    await beating(server, clock, 1, labels=LABELS)
    assert server.labels.items() >= LABELS.items()


async def test_a_node_that_an_administrator_labels_is_left_to_them(clock: Clock) -> None:
    server = Server()
    server.annotations = {SKIP: "true"}
    server.labels = {"cpu-model.node.kubevirt.io/Haswell": "true"}
    heartbeat = await beating(server, clock, 1, labels=LABELS)
    assert heartbeat.writes == 2
    assert "cpu-model.node.kubevirt.io/Haswell" in server.labels
    assert not LABELS.items() & server.labels.items()
