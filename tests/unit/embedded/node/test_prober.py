"""Asking a container by its probes, for hours in no time."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kubevirt.api.core.container import Container
from kubevirt.api.core.probes import Probe
from kubevirt.base.virtual_time import EPOCH, VirtualClock
from kubevirt.embedded.node.probes.asking import Asked, Asking, Target
from kubevirt.embedded.node.probes.prober import Prober
from kubevirt.embedded.node.probes.schedule import Answer
from kubevirt.embedded.node.seen import Probed
from kubevirt.embedded.node.standpoint import Standpoint
from kubevirt.embedded.runtime.attempt import Attempt
from kubevirt.embedded.runtime.keeper import Keeper

pytestmark = pytest.mark.virtual_time

HERE = Standpoint("")
EXEC = {"exec": {"command": ["true"]}}


class Scripted(Asking):
    """Answers by the second that has come, and remembers when it was asked."""

    def __init__(self, is_good: Callable[[float], bool], clock: VirtualClock) -> None:
        super().__init__(Keeper(-1), HERE)
        self.asked: list[float] = []
        self._is_good = is_good
        self._clock = clock

    async def ask(self, asked: Asked, target: Target, timeout_s: float) -> Answer:
        self.asked.append(self._clock.monotonic())
        return Answer(self._is_good(self.asked[-1]), "what it says")


class Found:
    def __init__(self) -> None:
        self.changes: list[Probed] = []
        self.failures: list[tuple[str, str]] = []

    def prober(
        self, asking: Asking, clock: VirtualClock, before: Probed | None = None, **probes: Any
    ) -> Prober:
        container = msgspec.convert({"name": "main", **probes}, Container)
        return Prober(
            asking,
            Target(container=container, attempt=Attempt(Path("/none")), address="10.0.0.1"),
            clock=clock,
            started_at=EPOCH,
            before=before or Probed(),
            on_found=self.changes.append,
            on_told=lambda kind, answer: self.failures.append((kind, answer.said)),
        )


async def run(prober: Prober, seconds: float, clock: VirtualClock) -> None:
    try:
        async with clock.timeout(seconds):
            await prober.run()
    except TimeoutError:
        pass


async def test_a_container_is_asked_after_its_delay_and_then_every_period(
    virtual_clock: VirtualClock,
) -> None:
    asking, found = Scripted(lambda _: True, virtual_clock), Found()
    probe = {**EXEC, "initialDelaySeconds": 5, "periodSeconds": 20}

    await run(found.prober(asking, virtual_clock, readinessProbe=probe), 50, virtual_clock)

    assert asking.asked == [5, 25, 45]
    assert found.changes == [Probed(has_started=True, is_ready=True)]
    assert found.failures == []


async def test_a_container_that_is_given_up_is_asked_no_more(virtual_clock: VirtualClock) -> None:
    asking, found = Scripted(lambda _: False, virtual_clock), Found()
    probe = {**EXEC, "failureThreshold": 3, "periodSeconds": 10}

    await found.prober(asking, virtual_clock, livenessProbe=probe).run()

    assert asking.asked == [0, 10, 20]
    assert found.failures == [("liveness", "what it says")] * 3
    assert [each.unhealthy for each in found.changes] == ["liveness"]


async def test_others_begin_when_the_start_is_over(virtual_clock: VirtualClock) -> None:
    asking, found = Scripted(lambda second: second >= 30, virtual_clock), Found()
    startup = {**EXEC, "failureThreshold": 10, "periodSeconds": 10}
    readiness = {**EXEC, "periodSeconds": 100}

    prober = found.prober(asking, virtual_clock, startupProbe=startup, readinessProbe=readiness)
    await run(prober, 60, virtual_clock)

    assert asking.asked == [0, 10, 20, 30, 30]
    assert found.changes == [
        Probed(has_started=True),
        Probed(has_started=True, is_ready=True),
    ]


async def test_what_was_found_before_stands_until_the_contrary_is(
    virtual_clock: VirtualClock,
) -> None:
    asking, found = Scripted(lambda second: second < 100, virtual_clock), Found()
    readiness = {**EXEC, "failureThreshold": 1, "periodSeconds": 60}
    before = Probed(has_started=True, is_ready=True)

    prober = found.prober(
        asking, virtual_clock, before, startupProbe=EXEC, readinessProbe=readiness
    )
    await run(prober, 130, virtual_clock)

    assert asking.asked == [0, 60, 120]
    assert found.changes == [Probed(has_started=True)]


async def test_a_clock_that_is_set_back_makes_nobody_wait_for_long(
    virtual_clock: VirtualClock,
) -> None:
    virtual_clock.jump_wall_clock(-3600)
    asking, found = Scripted(lambda _: True, virtual_clock), Found()

    prober = found.prober(asking, virtual_clock, livenessProbe={**EXEC, "periodSeconds": 10})
    await run(prober, 35, virtual_clock)

    assert asking.asked == [10, 20, 30]


async def test_a_probe_that_nobody_here_can_ask_says_so(virtual_clock: VirtualClock) -> None:
    target = Target(container=Container(name="main"), attempt=Attempt(Path("/none")), address="")
    probe = msgspec.convert({"grpc": {"port": 1}}, Probe)

    answer = await Asking(Keeper(-1), HERE).ask(probe, target, 1)

    assert answer == Answer(is_good=False, said="this node does not speak gRPC to its pods")


async def test_a_port_that_has_no_such_name_is_told(virtual_clock: VirtualClock) -> None:
    target = Target(container=Container(name="main"), attempt=Attempt(Path("/none")), address="")
    for probe in ({"httpGet": {"port": "web"}}, {"tcpSocket": {"port": "web"}}):
        answer = await Asking(Keeper(-1), HERE).ask(msgspec.convert(probe, Probe), target, 1)
        assert answer == Answer(is_good=False, said="couldn't find port: web")
