"""When a probe asks, and what its answers come to.

    schedule = Schedule.of(probe, started_at)
    schedule.next_at        when to ask
    schedule.after(answer, now)

One answer means little: `successThreshold` good ones in a row make a success, `failureThreshold` bad
ones a failure, and what was found stands until the contrary is. A startup probe that has succeeded is
done, and only then the others begin.
"""

from datetime import datetime, timedelta
from typing import Final, Self

import msgspec

from kubevirt.api.core.container import Container
from kubevirt.api.core.probes import Probe
from kubevirt.embedded.node.seen import Probed

PERIOD_S: Final = 10
FAILURES: Final = 3
TIMEOUT_S: Final = 1


class Answer(msgspec.Struct, frozen=True):
    is_good: bool
    said: str = ""
    is_warning: bool = False
    """Good, and something about it is told all the same."""


class Schedule(msgspec.Struct, frozen=True, kw_only=True):
    """One probe of one try of a container, between two questions."""

    probe: Probe
    next_at: datetime
    is_good: bool | None = None
    """What it has found; None before it has found anything."""
    was_good: bool | None = None
    """The last answer."""
    in_a_row: int = 0

    @classmethod
    def of(cls, probe: Probe, started_at: datetime) -> Self:
        """`started_at`: of the container. One whose delay is over is asked at once."""
        delay = timedelta(seconds=probe.initial_delay_seconds or 0)
        return cls(probe=probe, next_at=started_at + delay)

    def after(self, answer: Answer, now: datetime) -> Self:
        in_a_row = self.in_a_row + 1 if self.was_good == answer.is_good else 1
        is_enough = in_a_row >= self._threshold(is_good=answer.is_good)
        return msgspec.structs.replace(
            self,
            next_at=now + timedelta(seconds=self.probe.period_seconds or PERIOD_S),
            is_good=answer.is_good if is_enough else self.is_good,
            was_good=answer.is_good,
            in_a_row=in_a_row,
        )

    def _threshold(self, *, is_good: bool) -> int:
        if is_good:
            return self.probe.success_threshold or 1
        return self.probe.failure_threshold or FAILURES

    @property
    def timeout_s(self) -> int:
        return self.probe.timeout_seconds or TIMEOUT_S

    @property
    def longest_wait_s(self) -> int:
        """For the next question, though somebody may have set the clock."""
        return max(self.probe.initial_delay_seconds or 0, self.probe.period_seconds or PERIOD_S)


class Probing(msgspec.Struct, frozen=True, kw_only=True):
    """All probes of one try."""

    startup: Schedule | None = None
    liveness: Schedule | None = None
    readiness: Schedule | None = None

    @classmethod
    def of(cls, container: Container, started_at: datetime) -> Self:
        return cls(
            startup=_schedule(container.startup_probe, started_at),
            liveness=_schedule(container.liveness_probe, started_at),
            readiness=_schedule(container.readiness_probe, started_at),
        )

    @property
    def has_started(self) -> bool:
        return self.startup is None or self.startup.is_good is True

    def due(self) -> dict[str, datetime]:
        """When each probe that is on asks next, by its kind. A container that was given up is left alone."""
        if self.found().unhealthy:
            return {}
        on = (
            {"liveness": self.liveness, "readiness": self.readiness}
            if self.has_started
            else {"startup": self.startup}
        )
        return {kind: each.next_at for kind, each in on.items() if each is not None}

    def after(self, kind: str, answer: Answer, now: datetime) -> Self:
        schedule: Schedule | None = getattr(self, kind)
        if schedule is None:
            return self
        return msgspec.structs.replace(self, **{kind: schedule.after(answer, now)})

    def found(self) -> Probed:
        return Probed(
            has_started=self.has_started,
            is_ready=self.has_started
            and (self.readiness is None or self.readiness.is_good is True),
            unhealthy=self._given_up_by(),
        )

    def _given_up_by(self) -> str:
        if self.startup is not None and self.startup.is_good is False:
            return "startup"
        if self.liveness is not None and self.liveness.is_good is False:
            return "liveness"
        return ""


def _schedule(probe: Probe | None, started_at: datetime) -> Schedule | None:
    return Schedule.of(probe, started_at) if probe is not None else None
