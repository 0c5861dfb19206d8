"""Leader election between processes that share nothing but a server that sometimes fails."""

import asyncio
import random
from contextlib import AbstractAsyncContextManager
from itertools import pairwise
from typing import Any

import pytest

from kubevirt.api.meta import Status
from kubevirt.api.scheme import LEASES
from kubevirt.base.clock import Clock
from kubevirt.base.errors import Unreachable
from kubevirt.base.tasks import background
from kubevirt.base.virtual_time import VirtualClock, VirtualTimeLoop
from kubevirt.kube.errors import NotFound
from kubevirt.kube.key import Key
from kubevirt.kube.leader import ElectionSettings, LeaderElector, LeadershipLost
from kubevirt.testing.faulty_client import FaultyClient
from kubevirt.testing.faulty_server import FaultyServer

pytestmark = pytest.mark.virtual_time

LEASE = Key("kubevirt", "virt-controller")


class Process:
    """One that wants to lead, and writes down from when to when it did."""

    def __init__(
        self, name: str, server: FaultyServer, clock: Clock, *, wind_down_s: float = 0.0
    ) -> None:
        self.client = FaultyClient(server, clock)
        self.elector = LeaderElector(
            self.client,
            namespace=LEASE.namespace,
            name=LEASE.name,
            identity=name,
            clock=clock,
            randomness=random.Random(name),
        )
        self.started: list[float] = []
        self.ended: list[float] = []
        self._clock = clock
        self._wind_down_s = wind_down_s

    async def lead(self) -> None:
        self.started.append(self._clock.monotonic())
        try:
            await asyncio.Event().wait()
        finally:
            await self._clock.sleep(self._wind_down_s)
            self.ended.append(self._clock.monotonic())

    async def run(self) -> None:
        await self.elector.run(self.lead)

    def running(self) -> AbstractAsyncContextManager[None]:
        return background(self.run())


@pytest.fixture
def server(clock: Clock) -> FaultyServer:
    return FaultyServer(clock)


def leads(process: Process) -> bool:
    return process.elector.is_leader


def lease_on(server: FaultyServer) -> dict[str, Any]:
    spec: dict[str, Any] = server.history.get(LEASES, LEASE)["spec"]
    return spec


async def test_the_first_to_come_leads_at_once_and_says_so_in_the_lease(
    server: FaultyServer, clock: Clock
) -> None:
    one = Process("one", server, clock)
    assert not leads(one)
    async with one.running():
        await clock.sleep(1)
        assert leads(one)
        assert one.elector.leader == "one"
        one.elector.assert_leader()
        assert lease_on(server) == {
            "holderIdentity": "one",
            "leaseDurationSeconds": 15,
            "leaseTransitions": 0,
            "acquireTime": "2030-01-01T00:00:00.000000Z",
            "renewTime": "2030-01-01T00:00:00.000000Z",
        }


async def test_a_holder_renews_and_keeps_the_time_since_when_it_leads(
    server: FaultyServer, clock: Clock
) -> None:
    one = Process("one", server, clock)
    async with one.running():
        await clock.sleep(3600.5)
        assert one.started == [0]
        spec = lease_on(server)
        assert spec["acquireTime"] == "2030-01-01T00:00:00.000000Z"
        assert spec["renewTime"] == "2030-01-01T01:00:00.000000Z"
        assert one.client.requests.count("get leases virt-controller") == 1, (
            "renewing needs no read"
        )


async def test_a_candidate_waits_while_the_holder_lives(server: FaultyServer, clock: Clock) -> None:
    one, two = Process("one", server, clock), Process("two", server, clock)
    async with one.running():
        await clock.sleep(1)
        async with two.running():
            await clock.sleep(600)
            assert two.started == []
            assert not leads(two)
            assert two.elector.leader == "one"
            with pytest.raises(LeadershipLost):
                two.elector.assert_leader()


async def test_a_candidate_takes_over_when_the_holder_falls_silent(
    server: FaultyServer, clock: Clock
) -> None:
    server.create(LEASES, a_lease(holder="dead", transitions=4))
    two = Process("two", server, clock)
    async with two.running():
        await clock.sleep(30)
        # It has seen the lease for its whole duration without a renewal; not a moment earlier.
        assert 15 <= two.started[0] <= 15 + 2 * 2.2
        assert lease_on(server)["holderIdentity"] == "two"
        assert lease_on(server)["leaseTransitions"] == 5


async def test_a_candidate_goes_by_the_duration_that_the_holder_chose(
    server: FaultyServer, clock: Clock
) -> None:
    server.create(LEASES, a_lease(holder="dead", duration_s=120))
    two = Process("two", server, clock)
    async with two.running():
        await clock.sleep(200)
        assert 120 <= two.started[0] <= 120 + 2 * 2.2


async def test_clocks_that_differ_do_no_harm(
    server: FaultyServer, virtual_clock: VirtualClock
) -> None:
    clock = virtual_clock
    one = Process("one", server, clock)
    async with one.running():
        await clock.sleep(1)
        skewed = VirtualClock()
        skewed.jump_wall_clock(86_400)
        two = Process("two", server, skewed)
        async with two.running():
            clock.jump_wall_clock(-3_600)
            await clock.sleep(300)
            assert (one.started, two.started) == ([0], [])


async def test_the_lease_is_renewed_until_the_work_has_wound_down(
    server: FaultyServer, clock: Clock
) -> None:
    one, two = Process("one", server, clock, wind_down_s=100), Process("two", server, clock)
    async with asyncio.TaskGroup() as group:
        first = group.create_task(one.run())
        await clock.sleep(1)
        second = group.create_task(two.run())
        await clock.sleep(1)
        first.cancel()
        await clock.sleep(99)
        assert leads(one)
        assert two.started == []
        await clock.sleep(10)
        assert one.ended == [102]
        assert not leads(one)
        assert 102 < two.started[0] < 107, "it took what was given back; it did not wait for expiry"
        second.cancel()


async def test_work_that_ends_by_itself_ends_the_leadership(
    server: FaultyServer, clock: Clock
) -> None:
    async def lead() -> str:
        await clock.sleep(60)
        return "migrated everything"

    one = Process("one", server, clock)
    assert await one.elector.run(lead) == "migrated everything"
    assert not leads(one)
    spec = lease_on(server)
    assert (spec["holderIdentity"], spec["leaseDurationSeconds"]) == ("", 1), "free for the next"


async def test_work_that_fails_gives_the_lease_back_and_its_error_comes_out(
    server: FaultyServer, clock: Clock
) -> None:
    async def lead() -> None:
        await clock.sleep(60)
        raise ZeroDivisionError

    one = Process("one", server, clock)
    with pytest.raises(ZeroDivisionError):
        await one.elector.run(lead)
    assert lease_on(server)["holderIdentity"] == ""


@pytest.mark.parametrize("fault", ["cut_off", "hang"])
async def test_a_holder_that_cannot_renew_stops_its_work_before_another_starts(
    server: FaultyServer, clock: Clock, fault: str
) -> None:
    one, two = Process("one", server, clock), Process("two", server, clock)
    async with asyncio.TaskGroup() as group:
        first = group.create_task(_lost(one))
        await clock.sleep(1)
        second = group.create_task(two.run())
        await clock.sleep(59.5)
        getattr(one.client, fault)()
        await clock.sleep(60)
        assert first.done()
        assert one.ended[0] < 60.5 + 12.1
        assert two.started[0] > one.ended[0] + 2, "time enough for what takes long to stop"
        second.cancel()


async def _lost(process: Process) -> None:
    with pytest.raises(LeadershipLost):
        await process.run()
    assert process.ended, "run returned before its work had ended"
    assert not leads(process)


async def test_a_short_outage_of_the_server_is_survived(server: FaultyServer, clock: Clock) -> None:
    one = Process("one", server, clock)
    async with one.running():
        await clock.sleep(61)
        one.client.cut_off()
        await clock.sleep(9)
        assert leads(one)
        one.client.restore()
        await clock.sleep(60)
        assert (one.started, one.ended) == ([0], [])


async def test_a_renewal_whose_answer_was_lost_is_recognised(
    server: FaultyServer, clock: Clock
) -> None:
    one = Process("one", server, clock)
    async with one.running():
        await clock.sleep(61)
        one.client.lose_answers(1)
        await clock.sleep(60)
        assert (one.started, one.ended) == ([0], [])


async def test_somebody_who_labels_the_lease_does_not_depose_the_holder(
    server: FaultyServer, clock: Clock
) -> None:
    one = Process("one", server, clock)
    async with one.running():
        await clock.sleep(61)
        server.update(LEASES, LEASE, {"metadata": {"labels": {"team": "virt"}}})
        await clock.sleep(60)
        assert (one.started, one.ended) == ([0], [])
        assert server.history.get(LEASES, LEASE)["metadata"]["labels"] == {"team": "virt"}


async def test_a_holder_whose_lease_was_deleted_makes_a_new_one(
    server: FaultyServer, clock: Clock
) -> None:
    one = Process("one", server, clock)
    async with one.running():
        await clock.sleep(61)
        server.delete(LEASES, LEASE)
        await clock.sleep(10)
        assert leads(one)
        spec = lease_on(server)
        assert spec["holderIdentity"] == "one"
        assert spec["acquireTime"] == "2030-01-01T00:00:00.000000Z", "it has led all the time"
        assert spec["leaseTransitions"] == 0
        assert one.ended == []


async def test_a_holder_whose_lease_was_deleted_does_not_take_it_from_who_was_faster(
    server: FaultyServer, clock: Clock
) -> None:
    one = Process("one", server, clock)
    async with asyncio.TaskGroup() as group:
        first = group.create_task(_lost(one))
        await clock.sleep(60.5)
        server.delete(LEASES, LEASE)
        server.create(LEASES, a_lease(holder="faster"))
        # It still sees the deletion, and its attempt to make a new lease gets lost.
        one.client.fail_next(NotFound(Status()), Unreachable("cut off"))
        await clock.sleep(5)
        assert first.done()
    assert lease_on(server)["holderIdentity"] == "faster"


async def test_work_is_stopped_by_the_time_the_lease_expires_whatever_the_settings(
    server: FaultyServer, clock: Clock
) -> None:
    one = Process("one", server, clock)
    settings = ElectionSettings(lease_duration_s=11, renew_deadline_s=10, retry_period_s=8)
    one.elector._settings = settings
    async with asyncio.TaskGroup() as group:
        group.create_task(_lost(one))
        await clock.sleep(0.5)
        one.client.hang()
    assert one.ended == [11]


async def test_a_holder_that_was_deposed_stops_as_soon_as_it_notices(
    server: FaultyServer, clock: Clock
) -> None:
    one = Process("one", server, clock)
    async with asyncio.TaskGroup() as group:
        first = group.create_task(_lost(one))
        await clock.sleep(60.5)
        server.update(LEASES, LEASE, {"spec": {"holderIdentity": "usurper"}})
        await clock.sleep(2)
        assert first.done()
    assert lease_on(server)["holderIdentity"] == "usurper", "what one does not hold stays untouched"


async def test_a_process_that_was_paused_knows_it_before_it_does_anything(
    server: FaultyServer, clock: Clock
) -> None:
    one = Process("one", server, clock)
    async with asyncio.TaskGroup() as group:
        first = group.create_task(_lost(one))
        await clock.sleep(60.5)
        assert leads(one)
        pause(20)  # SIGSTOP: nothing of this process runs, and nothing tells it
        assert not leads(one)
        with pytest.raises(LeadershipLost):
            one.elector.assert_leader()
        writes = len(one.client.requests)
        await clock.sleep(1)
        assert first.done()
        assert len(one.client.requests) == writes, "an expired lease is not renewed"


async def test_a_short_pause_is_no_loss(server: FaultyServer, clock: Clock) -> None:
    one = Process("one", server, clock)
    async with one.running():
        await clock.sleep(60.5)
        pause(9)
        assert leads(one)
        await clock.sleep(60)
        assert one.ended == []


async def test_a_restart_under_the_same_identity_continues_at_once(
    server: FaultyServer, clock: Clock
) -> None:
    server.create(LEASES, a_lease(holder="one", transitions=4))
    one = Process("one", server, clock)
    async with one.running():
        await clock.sleep(1)
        assert one.started == [0]
        assert lease_on(server)["leaseTransitions"] == 4


async def test_an_outage_while_waiting_to_lead_is_survived(
    server: FaultyServer, clock: Clock
) -> None:
    one = Process("one", server, clock)
    one.client.cut_off()
    async with one.running():
        await clock.sleep(300)
        one.client.hang()
        await clock.sleep(300)
        one.client.restore()
        await clock.sleep(10)
        assert len(one.started) == 1


async def test_of_many_candidates_never_two_lead_whatever_happens_to_their_lines(
    server: FaultyServer, clock: Clock
) -> None:
    fate = random.Random(7)
    processes = [Process(f"p{n}", server, clock) for n in range(5)]

    async def live(process: Process) -> None:
        while True:
            try:
                await process.run()
            except LeadershipLost:
                continue

    async def trouble(process: Process) -> None:
        while True:
            await clock.sleep(fate.uniform(1, 60))
            getattr(process.client, fate.choice(["cut_off", "hang"]))()
            process.client.latency_s = fate.uniform(0, 1)
            await clock.sleep(fate.uniform(1, 30))
            process.client.restore()
            process.client.lose_answers(fate.randint(0, 1))

    async with background(*map(live, processes), *map(trouble, processes)):
        for _ in range(5_000):
            await clock.sleep(2)
            assert sum(map(leads, processes)) <= 1
    terms = sorted(
        term for each in processes for term in zip(each.started, each.ended, strict=True)
    )
    assert all(end <= start for (_, end), (start, _) in pairwise(terms)), "two led at once"
    assert len(terms) > 50, "leadership went round"


async def test_work_that_fails_while_being_stopped_does_not_hide_the_loss(
    server: FaultyServer, clock: Clock
) -> None:
    async def lead() -> None:
        try:
            await clock.sleep(1000)
        finally:
            raise ZeroDivisionError

    one = Process("one", server, clock)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(_raises_lost(one.elector, lead))
        await clock.sleep(5)
        one.client.cut_off()
    assert running.result().__cause__ is not None


async def _raises_lost(elector: LeaderElector, lead: Any) -> LeadershipLost:
    with pytest.raises(LeadershipLost) as caught:
        await elector.run(lead)
    return caught.value


async def test_a_lease_that_cannot_be_given_back_does_not_hold_up_the_end(
    server: FaultyServer, clock: Clock
) -> None:
    one = Process("one", server, clock)
    async with one.running():
        await clock.sleep(5.5)
        one.client.hang()
    assert clock.monotonic() < 5.5 + 5.1
    assert not leads(one)


@pytest.mark.parametrize(
    "numbers", [{"lease_duration_s": 10}, {"renew_deadline_s": 2.3}, {"retry_period_s": 0}]
)
def test_settings_that_would_make_two_leaders_are_refused(numbers: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="lease_duration_s > renew_deadline_s"):
        ElectionSettings(**numbers)


def a_lease(holder: str, *, transitions: int = 0, duration_s: int = 15) -> dict[str, Any]:
    """As client-go writes it, by a holder whose clock is years behind."""
    return {
        "metadata": {"name": LEASE.name, "namespace": LEASE.namespace},
        "spec": {
            "holderIdentity": holder,
            "leaseDurationSeconds": duration_s,
            "leaseTransitions": transitions,
            "acquireTime": "2020-01-01T00:00:00.000000Z",
            "renewTime": "2020-01-01T00:00:01.000000Z",
        },
    }


def pause(seconds: float) -> None:
    """What SIGSTOP and SIGCONT do: time goes on, this process does not."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualTimeLoop)
    loop._jumping.elapsed += seconds
