"""Writing the status of a pod: the newest one, in few writes, whatever the server says."""

from collections.abc import Iterator
from typing import Any, cast

import pytest
from msgspec.structs import replace
from tests.unit.embedded.node.objects import a_pod

from kubevirt.api.core.pod import Pod, PodStatus
from kubevirt.api.meta import Status
from kubevirt.base.errors import Unreachable
from kubevirt.base.tasks import background
from kubevirt.base.virtual_time import VirtualClock
from kubevirt.embedded.node.status_writer import StatusWriter
from kubevirt.kube.client import Client
from kubevirt.kube.errors import Invalid
from kubevirt.kube.patches import StrategicMergePatch

pytestmark = pytest.mark.virtual_time

PENDING = PodStatus(phase="Pending")
RUNNING = PodStatus(phase="Running")


class Server:
    """Takes what it is given, or answers with what it was told to."""

    def __init__(self, answers: list[Exception] | None = None) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.pod = a_pod(metadata={"resourceVersion": "1"})
        self._answers: Iterator[Exception] = iter(answers or [])

    async def patch_status(self, _: object, name: str, patch: StrategicMergePatch, __: str) -> Pod:
        if error := next(self._answers, None):
            raise error
        assert isinstance(patch.body, dict)
        self.bodies.append(patch.body)
        self.at(len(self.bodies) + 1)
        return self.pod

    def at(self, version: int, status: PodStatus | None = None) -> None:
        metadata = replace(self.pod.metadata, resource_version=str(version))
        self.pod = replace(self.pod, metadata=metadata, status=status or self.pod.status)


def writer(server: Server, clock: VirtualClock) -> StatusWriter:
    return StatusWriter(cast("Client", server), clock, server.pod, 0.5)


async def test_changes_that_nobody_waits_for_are_written_together(
    virtual_clock: VirtualClock,
) -> None:
    server = Server()
    writing = writer(server, virtual_clock)
    async with background(writing.run()):
        writing.want(PENDING, is_urgent=False)
        await virtual_clock.sleep(0.2)
        writing.want(replace(PENDING, pod_ip="10.0.0.5"), is_urgent=False)
        await virtual_clock.sleep(0.1)
        assert server.bodies == []
        writing.want(RUNNING, is_urgent=True)
        await virtual_clock.sleep(0.01)

    assert server.bodies == [{"metadata": {"uid": "u1"}, "status": {"phase": "Running"}}]


async def test_nothing_is_written_that_the_server_has(virtual_clock: VirtualClock) -> None:
    server = Server()
    writing = writer(server, virtual_clock)
    async with background(writing.run()):
        writing.want(RUNNING, is_urgent=True)
        await writing.flush()
        server.at(2, RUNNING)
        writing.learn(server.pod)
        writing.want(RUNNING, is_urgent=True)
        await virtual_clock.sleep(5)

    assert len(server.bodies) == 1


async def test_what_somebody_else_changed_is_put_right(virtual_clock: VirtualClock) -> None:
    server = Server()
    writing = writer(server, virtual_clock)
    async with background(writing.run()):
        writing.want(RUNNING, is_urgent=True)
        await writing.flush()
        server.at(7, PodStatus(phase="Unknown"))
        writing.learn(server.pod)
        writing.want(RUNNING, is_urgent=True)
        await writing.flush()

    assert len(server.bodies) == 2


async def test_a_server_that_does_not_answer_is_asked_again(virtual_clock: VirtualClock) -> None:
    server = Server([Unreachable("nobody there"), Unreachable("nobody there")])
    writing = writer(server, virtual_clock)
    async with background(writing.run()):
        writing.want(RUNNING, is_urgent=True)
        await writing.flush()

    assert len(server.bodies) == 1
    assert virtual_clock.monotonic() == pytest.approx(2)


async def test_a_server_that_does_not_want_it_holds_up_nobody(virtual_clock: VirtualClock) -> None:
    server = Server([Invalid(Status(code=422, message="no")) for _ in range(3)])
    writing = writer(server, virtual_clock)
    async with background(writing.run()):
        writing.want(RUNNING, is_urgent=True)
        await writing.flush()
        assert virtual_clock.monotonic() < 1
        await virtual_clock.sleep(60)

    assert len(server.bodies) == 1


async def test_of_a_pod_that_is_gone_nothing_is_written(virtual_clock: VirtualClock) -> None:
    server = Server()
    writing = writer(server, virtual_clock)
    async with background(writing.run()):
        writing.want(RUNNING, is_urgent=False)
        writing.forget()
        await writing.flush()
        await virtual_clock.sleep(5)

    assert server.bodies == []
