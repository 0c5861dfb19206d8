"""Any pod, whatever happens to it: its life keeps its promises.

The runtime here is a few lines that do what they are told and note it. Containers crash, hooks fail,
images cannot be had, probes change their minds, the node's process dies and forgets what it can forget,
somebody deletes the pod: in any order, at any time.
"""

from datetime import datetime, timedelta
from typing import Any

import msgspec
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from kubevirt.api.core.pod import ContainerStatus, Pod, PodStatus
from kubevirt.base.virtual_time import EPOCH
from kubevirt.embedded.node import actions, policy
from kubevirt.embedded.node.life import Plan, decide
from kubevirt.embedded.node.seen import (
    ContainerSeen,
    Ended,
    Hook,
    PodSeen,
    Probed,
    Setback,
    Stopping,
    Tried,
    Verdict,
)

PROBE = {"exec": {"command": ["true"]}}
GRACE_S = 30
LITTLE_S = 5


def a_container(name: str) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {"name": st.just(name), "image": st.just("tool")},
        optional={
            "startupProbe": st.just(PROBE),
            "readinessProbe": st.just(PROBE),
            "livenessProbe": st.just(PROBE),
            "lifecycle": st.just({"postStart": PROBE, "preStop": PROBE}),
        },
    )


def an_init_container(name: str) -> st.SearchStrategy[dict[str, Any]]:
    always = a_container(name).map(lambda each: each | {"restartPolicy": "Always"})
    return st.one_of(st.just({"name": name, "image": "tool"}), always)


SPECS = st.fixed_dictionaries(
    {
        "containers": st.tuples(a_container("one"), a_container("two")).map(list),
        "initContainers": st.tuples(an_init_container("a"), an_init_container("b")).map(list),
        "restartPolicy": st.sampled_from(["Always", "OnFailure", "Never"]),
        "terminationGracePeriodSeconds": st.just(GRACE_S),
    },
    optional={"activeDeadlineSeconds": st.integers(1, 900)},
)
NAMES = st.sampled_from(["a", "b", "one", "two"])


class PodLife(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.now = EPOCH
        self.seen = PodSeen(host_addresses=("192.0.2.1",))
        self.history: list[PodStatus] = []
        self.deleted_at: datetime | None = None
        self.is_gone = False

    @initialize(spec=SPECS)
    def create(self, spec: dict[str, Any]) -> None:
        metadata = {"name": "web", "namespace": "home", "uid": "u1"}
        self.pod = msgspec.convert({"metadata": metadata, "spec": spec}, Pod)
        self.node_works(20)

    # What the node does.

    @precondition(lambda self: not self.is_gone)
    @rule(rounds=st.sampled_from([1, 20]))
    def node_works(self, rounds: int) -> None:
        """Until nothing is left to do, or not quite: something may happen in between."""
        for _ in range(rounds):
            todo = self.plan().actions
            for action in todo:
                self.carry_out(action)
            if self.is_gone or not todo:
                return
        assert rounds == 1, "it does not come to rest"

    def plan(self) -> Plan:
        plan = decide(self.pod, self.seen, self.now)
        self.pod = msgspec.structs.replace(self.pod, status=plan.status)
        self.history.append(plan.status)
        return plan

    def carry_out(self, action: actions.Action) -> None:
        match action:
            case actions.PrepareVolumes():
                self.see(has_volumes=True)
            case actions.SetUpNetwork():
                assert self.seen.has_volumes
                self.see(addresses=("10.0.0.5",))
            case actions.GetImage(name, number):
                self.see_container(name, image_at_hand_for=number, setback=None)
            case actions.Start(name, number):
                self.start(name, number)
            case actions.RunPostStart(name, number):
                self.see_try(name, number, post_start=Hook.RUNNING)
            case actions.TearDown():
                assert not self.running()
                self.see(is_torn_down=True)
            case actions.Delete():
                assert self.deleted_at is not None
                assert self.pod.status.phase in policy.FINAL_PHASES
                self.is_gone = True
            case _:
                self.carry_on_stopping(action)

    def carry_on_stopping(self, action: actions.Action) -> None:
        match action:
            case actions.BeginToStop(name, number):
                assert self.its(name, number).stopping is None
                self.see_try(name, number, stopping=Stopping(since=self.now))
            case actions.RunPreStop(name, number):
                self.see_stopping(name, number, pre_stop=Hook.RUNNING)
            case actions.Terminate(name, number):
                self.see_stopping(name, number, asked_at=self.now)
            case actions.Kill(name, number):
                self.see_stopping(name, number, is_killed=True)
                self.end(name, 137)
            case _:
                raise AssertionError(f"nobody knows how to do {action}")

    def start(self, name: str, number: int) -> None:
        its = self.seen.of(name)
        assert its.running is None, "two tries of one container at once"
        assert number == its.next_number
        assert its.image_at_hand_for == number
        assert self.pod.status.phase not in policy.FINAL_PHASES
        assert self.deleted_at is None
        container = next(each for each in policy.all_containers(self.pod) if each.name == name)
        hook = Hook.NOT_RUN if container.lifecycle else Hook.DONE
        tried = Tried(number=number, started_at=self.now, post_start=hook)
        self.see_container(name, tries=(*its.tries, tried)[-7:])

    # What happens meanwhile.

    @rule(seconds=st.sampled_from([0.1, 1, 9, 30, 301, 601]))
    def time_passes(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    @rule(name=NAMES, code=st.sampled_from([0, 0, 1, 137]))
    def container_ends(self, name: str, code: int) -> None:
        if self.seen.of(name).running:
            self.end(name, code)

    @rule(name=NAMES, hook=st.sampled_from([Hook.DONE, Hook.DONE, Hook.FAILED]))
    def hook_ends(self, name: str, hook: Hook) -> None:
        tried = self.seen.of(name).running
        if tried and tried.post_start is Hook.RUNNING:
            self.see_try(name, tried.number, post_start=hook)
        elif tried and tried.stopping and tried.stopping.pre_stop is Hook.RUNNING:
            self.see_stopping(name, tried.number, pre_stop=hook)

    @rule(name=NAMES, started=st.booleans(), ready=st.booleans(), sick=st.booleans())
    def probes_tell(self, name: str, *, started: bool, ready: bool, sick: bool) -> None:
        if tried := self.seen.of(name).running:
            probed = Probed(
                has_started=started or tried.probed.has_started,
                is_ready=ready,
                unhealthy="liveness" if sick else "",
            )
            self.see_try(name, tried.number, probed=probed)

    @rule(name=NAMES)
    def image_is_not_to_be_had(self, name: str) -> None:
        before = self.seen.of(name).setback
        times = before.times + 1 if before else 1
        failed = Setback(reason="ErrImagePull", message="no", at=self.now, times=times)
        self.see_container(name, image_at_hand_for=-1, setback=failed)

    @rule()
    def process_dies_and_forgets(self) -> None:
        for name, its in self.seen.containers.items():
            self.see_container(name, setback=None, image_at_hand_for=-1)
            if tried := its.running:
                self.see_try(name, tried.number, stopping=None, post_start=Hook.DONE)

    @precondition(lambda self: self.history and self.history[-1].phase in policy.FINAL_PHASES)
    @rule()
    def records_of_a_pod_that_has_ended_are_cleared_away(self) -> None:
        self.see(containers={})

    @rule()
    def somebody_evicts(self) -> None:
        self.see(verdict=Verdict(reason="Evicted", message="low on memory"))

    @precondition(lambda self: self.deleted_at is None)
    @rule()
    def somebody_deletes(self) -> None:
        self.deleted_at = self.now
        metadata = msgspec.structs.replace(
            self.pod.metadata,
            deletion_timestamp=self.now + timedelta(seconds=GRACE_S),
            deletion_grace_period_seconds=GRACE_S,
        )
        self.pod = msgspec.structs.replace(self.pod, metadata=metadata)

    # What is promised.

    @precondition(lambda self: self.deleted_at is not None and not self.is_gone)
    @rule()
    def left_alone_a_deleted_pod_is_gone_within_its_grace_period(self) -> None:
        began = self.now
        for _ in range(100):
            plan = self.plan()
            for action in plan.actions:
                self.carry_out(action)
            if self.is_gone:
                break
            if not plan.actions:
                assert plan.look_again is not None, "a pod that ends has nothing to wait for"
                self.now = max(self.now, plan.look_again)
        assert self.is_gone
        assert self.now - began <= timedelta(seconds=GRACE_S + LITTLE_S)

    @invariant()
    def asking_again_at_once_says_the_same(self) -> None:
        if not hasattr(self, "pod"):
            return
        first = decide(self.pod, self.seen, self.now)
        pod = msgspec.structs.replace(self.pod, status=first.status)
        again = decide(pod, self.seen, self.now)
        assert again.status == first.status
        assert again.look_again is None or again.look_again > self.now

    @invariant()
    def nothing_is_asked_for_twice_in_one_plan(self) -> None:
        if hasattr(self, "pod"):
            asked = [
                name
                for each in decide(self.pod, self.seen, self.now).actions
                if (name := getattr(each, "container", None))
            ]
            assert len(asked) == len(set(asked))

    @invariant()
    def the_status_never_goes_back(self) -> None:
        for before, after in zip(self.history[-2:], self.history[-1:], strict=False):
            if before.phase in policy.FINAL_PHASES:
                assert after.phase == before.phase
                assert after.container_statuses == before.container_statuses
            if before.reason:
                assert after.reason == before.reason
            assert after.start_time == before.start_time
            counts = {each.name: each.restart_count for each in statuses(before)}
            for each in statuses(after):
                assert each.restart_count >= counts.get(each.name, 0)

    @invariant()
    def a_final_phase_is_told_only_when_nothing_runs(self) -> None:
        if self.history and self.history[-1].phase in policy.FINAL_PHASES:
            assert not self.running()

    def running(self) -> list[str]:
        return [name for name, its in self.seen.containers.items() if its.running]

    def its(self, name: str, number: int) -> Tried:
        tried = self.seen.of(name).running
        assert tried is not None
        assert tried.number == number
        return tried

    def end(self, name: str, code: int) -> None:
        tried = self.seen.of(name).running
        assert tried is not None
        self.see_try(name, tried.number, ended=Ended(code=code, at=self.now))

    def see(self, **changes: Any) -> None:
        self.seen = msgspec.structs.replace(self.seen, **changes)

    def see_container(self, name: str, **changes: Any) -> None:
        its: ContainerSeen = msgspec.structs.replace(self.seen.of(name), **changes)
        self.see(containers={**self.seen.containers, name: its})

    def see_try(self, name: str, number: int, **changes: Any) -> None:
        tried = msgspec.structs.replace(self.its(name, number), **changes)
        self.see_container(name, tries=(*self.seen.of(name).tries[:-1], tried))

    def see_stopping(self, name: str, number: int, **changes: Any) -> None:
        stopping = self.its(name, number).stopping
        assert stopping is not None
        self.see_try(name, number, stopping=msgspec.structs.replace(stopping, **changes))


def statuses(status: PodStatus) -> tuple[ContainerStatus, ...]:
    return (*status.init_container_statuses, *status.container_statuses)


PodLife.TestCase.settings = settings(max_examples=60, stateful_step_count=40)
TestPodLife = PodLife.TestCase
