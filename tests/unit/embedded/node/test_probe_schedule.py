"""When probes ask, and what their answers come to."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.embedded.node.objects import at

from kubevirt.api.core.container import Container
from kubevirt.api.core.probes import Probe
from kubevirt.embedded.node.probes.schedule import Answer, Probing, Schedule
from kubevirt.embedded.node.seen import Probed

GOOD, BAD = Answer(is_good=True), Answer(is_good=False, said="no")


def a_schedule(**probe: int) -> Schedule:
    return Schedule.of(msgspec.convert(probe, Probe), at(0))


def probing(**probes: dict[str, int]) -> Probing:
    named: dict[str, Any] = {f"{kind}Probe": probe for kind, probe in probes.items()}
    return Probing.of(msgspec.convert({"name": "main", **named}, Container), at(0))


def test_the_first_question_comes_after_the_delay_and_the_next_after_the_period() -> None:
    schedule = a_schedule(initialDelaySeconds=5, periodSeconds=3)

    assert schedule.next_at == at(5)
    assert schedule.after(GOOD, at(5.5)).next_at == at(8.5)


def test_what_is_not_said_is_as_in_kubernetes() -> None:
    schedule = a_schedule()

    assert schedule.next_at == at(0)
    assert schedule.timeout_s == 1
    assert schedule.after(BAD, at(0)).next_at == at(10)


@pytest.mark.parametrize(
    ("answers", "found"),
    [
        ("", None),
        ("+", None),
        ("++", True),
        ("--", None),
        ("---", False),
        ("--+-", None),
        ("+-+", None),
        ("++--", True),
        ("++---", False),
        ("---+", False),
        ("---++", True),
    ],
)
def test_so_many_answers_in_a_row_make_a_finding(answers: str, found: bool | None) -> None:  # noqa: FBT001  # a column of the table
    schedule = a_schedule(successThreshold=2, failureThreshold=3)

    for second, each in enumerate(answers):
        schedule = schedule.after(GOOD if each == "+" else BAD, at(second))

    assert schedule.is_good is found


@given(st.lists(st.booleans(), max_size=30), st.integers(1, 4), st.integers(1, 4))
def test_a_finding_changes_only_with_the_answer_that_completes_a_row(
    answers: list[bool], success: int, failure: int
) -> None:
    schedule = a_schedule(successThreshold=success, failureThreshold=failure)

    for second, is_good in enumerate(answers):
        before = schedule
        schedule = schedule.after(Answer(is_good), at(second))
        if schedule.is_good != before.is_good:
            needed = success if is_good else failure
            assert answers[: second + 1][-needed:] == [is_good] * needed


def test_the_other_probes_begin_when_the_startup_probe_has_succeeded() -> None:
    fresh = probing(startup={}, liveness={}, readiness={})

    assert set(fresh.due()) == {"startup"}
    assert fresh.found() == Probed()
    started = fresh.after("startup", GOOD, at(1))
    assert set(started.due()) == {"liveness", "readiness"}
    assert started.found() == Probed(has_started=True)
    ready = started.after("readiness", GOOD, at(2))
    assert ready.found() == Probed(has_started=True, is_ready=True)


@pytest.mark.parametrize("kind", ["startup", "liveness"])
def test_a_container_that_a_probe_gave_up_is_asked_no_more(kind: str) -> None:
    given_up = probing(**{kind: {"failureThreshold": 1}}).after(kind, BAD, at(0))

    assert given_up.found().unhealthy == kind
    assert given_up.due() == {}


def test_a_container_that_is_not_ready_is_asked_on() -> None:
    found = probing(readiness={"failureThreshold": 1}).after("readiness", BAD, at(1))

    assert found.found() == Probed(has_started=True)
    assert found.due() == {"readiness": at(11)}


def test_a_container_without_probes_is_ready_and_never_asked() -> None:
    found = probing()

    assert found.found() == Probed(has_started=True, is_ready=True)
    assert found.due() == {}
