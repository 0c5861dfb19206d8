"""A controller must not act on a cache that does not show what it has just done."""

from typing import Any

import pytest
from msgspec import convert
from tests.lamps import Lamp, lamp

from kubevirt.api.meta import Status
from kubevirt.base.clock import Clock
from kubevirt.base.errors import Unreachable
from kubevirt.kube.cache.store import Change
from kubevirt.kube.errors import AlreadyExists, Forbidden, ServerTimeout, TooManyRequests
from kubevirt.kube.expectations import Expectations

pytestmark = pytest.mark.virtual_time

VM = "default/vm"


@pytest.fixture
def expectations(clock: Clock) -> Expectations[str]:
    return Expectations(clock)


def child(uid: str, **metadata: Any) -> Lamp:
    return convert(lamp(f"pod-{uid}", uid=uid, **metadata), Lamp)


def appears(expectations: Expectations[str], uid: str, owner: str = VM) -> None:
    expectations.observe(owner, Change(None, child(uid)))


def create(expectations: Expectations[str], uid: str) -> None:
    with expectations.creation(VM) as creation:
        creation.uid = uid


async def test_nothing_is_expected_of_an_owner_that_did_nothing(
    expectations: Expectations[str],
) -> None:
    assert expectations.are_met(VM)
    assert expectations.remaining_s(VM) == 0
    appears(expectations, "1")
    assert expectations.are_met(VM)


async def test_a_created_child_is_expected_until_the_cache_shows_it(
    expectations: Expectations[str],
) -> None:
    create(expectations, "1")
    assert expectations.remaining_s(VM) == 300
    appears(expectations, "2")
    assert not expectations.are_met(VM), "that was another one"
    appears(expectations, "1", owner="default/other")
    assert not expectations.are_met(VM), "that was another owner's"
    appears(expectations, "1")
    assert expectations.are_met(VM)


async def test_the_cache_may_show_the_child_before_the_server_answers(
    expectations: Expectations[str],
) -> None:
    with expectations.creation(VM) as creation:
        appears(expectations, "1")
        assert not expectations.are_met(VM), "nobody knows yet whose that is"
        creation.uid = "1"
    assert expectations.are_met(VM)


async def test_a_stranger_that_appears_during_a_creation_is_not_mistaken_for_the_child(
    expectations: Expectations[str],
) -> None:
    with expectations.creation(VM) as creation:
        appears(expectations, "stranger")
        creation.uid = "1"
    assert not expectations.are_met(VM)
    appears(expectations, "1")
    assert expectations.are_met(VM)


async def test_each_of_several_children_is_expected(expectations: Expectations[str]) -> None:
    with expectations.creation(VM) as one, expectations.creation(VM) as two:
        appears(expectations, "1")
        one.uid, two.uid = "1", "2"
    assert not expectations.are_met(VM)
    appears(expectations, "2")
    assert expectations.are_met(VM)


async def test_a_child_that_came_and_went_before_the_answer_was_seen_nevertheless(
    expectations: Expectations[str],
) -> None:
    with expectations.creation(VM) as creation:
        appears(expectations, "1")
        expectations.observe(VM, Change(child("1"), None))
        creation.uid = "1"
    assert expectations.are_met(VM)


async def test_a_child_that_is_seen_dying_has_been_seen(expectations: Expectations[str]) -> None:
    create(expectations, "1")
    expectations.observe(VM, Change(child("1"), None))
    assert expectations.are_met(VM)


@pytest.mark.parametrize("error", [Forbidden, AlreadyExists, TooManyRequests])
async def test_a_refused_creation_expects_nothing(
    expectations: Expectations[str], error: type[Exception]
) -> None:
    with pytest.raises(error), expectations.creation(VM):
        raise error(Status())
    assert expectations.are_met(VM)


@pytest.mark.parametrize("error", [Unreachable("cut off"), ServerTimeout(Status()), KeyError()])
async def test_a_creation_without_an_answer_may_have_happened_so_a_second_one_waits(
    expectations: Expectations[str], clock: Clock, error: Exception
) -> None:
    with pytest.raises(type(error)), expectations.creation(VM):
        raise error
    assert expectations.remaining_s(VM) == 30
    await clock.sleep(29)
    assert not expectations.are_met(VM)
    await clock.sleep(1)
    assert expectations.are_met(VM)


async def test_a_new_child_settles_the_doubt_about_a_creation_without_an_answer(
    expectations: Expectations[str],
) -> None:
    with pytest.raises(Unreachable), expectations.creation(VM):
        raise Unreachable("cut off")
    expectations.observe(VM, Change(child("old"), child("old", labels={"a": "b"})))
    assert not expectations.are_met(VM), "an update of a known child settles nothing"
    appears(expectations, "1")
    assert expectations.are_met(VM)


async def test_a_child_that_appeared_before_the_connection_broke_leaves_no_doubt(
    expectations: Expectations[str],
) -> None:
    def create() -> None:
        with expectations.creation(VM):
            appears(expectations, "1")
            raise Unreachable("cut off")

    with pytest.raises(Unreachable):
        create()
    assert expectations.are_met(VM)


async def test_an_earlier_stranger_does_not_settle_a_later_doubt(
    expectations: Expectations[str],
) -> None:
    with expectations.creation(VM) as creation:
        appears(expectations, "stranger")
        creation.uid = "1"
    with pytest.raises(Unreachable), expectations.creation(VM):
        raise Unreachable("cut off")
    appears(expectations, "1")
    assert not expectations.are_met(VM)


async def test_a_child_with_an_answer_does_not_settle_the_doubt_about_its_sibling(
    expectations: Expectations[str],
) -> None:
    def create_both() -> None:
        with expectations.creation(VM), expectations.creation(VM) as answered:
            appears(expectations, "1")
            answered.uid = "1"

    create_both()  # the first of them ended without saying a UID
    assert expectations.remaining_s(VM) == 30


async def test_a_deleted_child_is_expected_to_go_by_its_uid(
    expectations: Expectations[str],
) -> None:
    with expectations.deletion(VM, "1"):
        pass
    expectations.observe(VM, Change(child("2"), None))
    expectations.observe(VM, Change(child("1"), child("1", labels={"a": "b"})))
    assert not expectations.are_met(VM)
    expectations.observe(VM, Change(child("1"), None))
    assert expectations.are_met(VM)


async def test_a_child_that_is_being_deleted_gracefully_counts_as_gone(
    expectations: Expectations[str],
) -> None:
    with expectations.deletion(VM, "1"):
        dying = child("1", deletionTimestamp="2030-01-01T00:00:00Z")
        expectations.observe(VM, Change(child("1"), dying))
    assert expectations.are_met(VM)


async def test_a_deletion_that_failed_expects_nothing(expectations: Expectations[str]) -> None:
    with pytest.raises(Unreachable), expectations.deletion(VM, "1"):
        raise Unreachable("cut off")
    assert expectations.are_met(VM)


async def test_what_never_appears_is_given_up_after_five_minutes(
    expectations: Expectations[str], clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    create(expectations, "1")
    await clock.sleep(100)
    with expectations.deletion(VM, "2"):
        pass
    assert expectations.remaining_s(VM) == 300
    await clock.sleep(200)
    assert expectations.remaining_s(VM) == 100
    await clock.sleep(100)
    assert expectations.are_met(VM)
    assert [record.getMessage().split(" uid=")[1] for record in caplog.records] == ["1", "2"]


async def test_a_forgotten_owner_expects_nothing(expectations: Expectations[str]) -> None:
    create(expectations, "1")
    expectations.forget(VM)
    assert expectations.are_met(VM)
    with expectations.creation(VM) as creation:
        expectations.forget(VM)
        creation.uid = "2"
    assert expectations.are_met(VM)


async def test_what_ends_for_a_forgotten_owner_leaves_its_successor_alone(
    expectations: Expectations[str],
) -> None:
    def fail() -> None:
        with expectations.creation(VM):
            expectations.forget(VM)
            create(expectations, "2")
            raise Forbidden(Status())

    with pytest.raises(Forbidden):
        fail()
    assert not expectations.are_met(VM)


async def test_met_expectations_take_no_memory(expectations: Expectations[str]) -> None:
    for uid in map(str, range(100)):
        create(expectations, uid)
        appears(expectations, uid)
        with expectations.deletion(VM, uid):
            pass
        expectations.observe(VM, Change(child(uid), None))
    assert expectations._owners == {}


async def test_a_trigger_of_children_lets_the_expectations_know_first(
    expectations: Expectations[str],
) -> None:
    create(expectations, "1")

    def trigger(change: Change[Lamp]) -> list[str]:
        return [VM]

    assert list(expectations.followed_by(trigger)(Change(None, child("1")))) == [VM]
    assert expectations.are_met(VM)
