"""The heartbeat of a node: few writes, and a goodbye."""

from typing import Any

import pytest

from kubevirt.base.clock import Clock
from kubevirt.base.errors import Unreachable
from kubevirt.components.handler.heartbeat import Heartbeat
from kubevirt.virt.nodes import HEARTBEAT
from kubevirt.virt.pod.names import SCHEDULABLE

pytestmark = pytest.mark.virtual_time


class Server:
    def __init__(self) -> None:
        self.labels: list[str] = []
        self.failures = 0

    async def patch(self, _: Any, name: str, patch: Any) -> None:
        assert name == "node01"
        if self.failures:
            self.failures -= 1
            raise Unreachable("away")
        metadata = patch.body["metadata"]
        assert metadata["annotations"][HEARTBEAT].endswith("Z")
        self.labels.append(metadata["labels"][SCHEDULABLE])


async def beating(server: Server, clock: Clock, seconds: float) -> Heartbeat:
    heartbeat = Heartbeat(server, "node01", clock)  # type: ignore[arg-type]
    with pytest.raises(TimeoutError):
        async with clock.timeout(seconds):
            await heartbeat.run()
    return heartbeat


async def test_an_hour_costs_a_write_a_minute_at_most(clock: Clock) -> None:
    server = Server()
    heartbeat = await beating(server, clock, 3600)
    assert 50 <= heartbeat.writes <= 62
    assert set(server.labels[:-1]) == {"true"}


async def test_a_handler_that_ends_says_goodbye(clock: Clock) -> None:
    server = Server()
    await beating(server, clock, 1)
    assert server.labels == ["true", "false"]


async def test_a_server_that_is_away_is_asked_again_soon(clock: Clock) -> None:
    server = Server()
    server.failures = 3
    await beating(server, clock, 40)
    assert server.labels == ["true", "false"]


async def test_no_guest_is_sent_before_devices_are_offered(clock: Clock) -> None:
    server, began = Server(), clock.monotonic()
    heartbeat = Heartbeat(
        server,  # type: ignore[arg-type]
        "node01",
        clock,
        is_ready=lambda: clock.monotonic() - began > 25,
    )
    with pytest.raises(TimeoutError):
        async with clock.timeout(45):
            await heartbeat.run()
    assert server.labels == ["false", "false", "true", "false"]
