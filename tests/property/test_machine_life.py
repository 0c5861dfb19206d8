"""Any machine, whatever happens to it: its life keeps its promises.

Guests end, launchers crash, pods and instances are deleted behind everybody's back, users change their
minds, caches lag, writes are lost, virt-controller dies and comes back: in any order, at any time.
"""

from typing import Any

import msgspec
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from msgspec.structs import replace
from tests.unit.virt.machine.objects import TEMPLATE, a_machine
from tests.unit.virt.machine.world import World

from kubevirt.api.instance import VirtualMachineInstanceTemplateSpec
from kubevirt.virt.instance import phases, pods
from kubevirt.virt.machine.noting import RERUN
from kubevirt.virt.ownership import is_owned_by

STRATEGIES = ["Always", "Halted", "Manual", "RerunOnFailure", "Once"]
LONG_S = 1000
OTHER_TEMPLATE = msgspec.convert(
    {"spec": {**TEMPLATE["spec"], "hostname": "other"}}, VirtualMachineInstanceTemplateSpec
)


class MachineLife(RuleBasedStateMachine):
    @initialize(strategy=st.sampled_from(STRATEGIES), has_gate=st.booleans())
    def create(self, strategy: str, *, has_gate: bool) -> None:
        self.world = World(a_machine(runStrategy=strategy), has_gate=has_gate)
        self.stopped: set[str] = set()
        """Instances that somebody asked to stop."""
        self.is_constant = True
        """Whether nobody has changed the strategy."""
        self.strategy = strategy
        """Which nobody has changed but by a start."""

    # virt-controller, which may be behind, and may be interrupted.

    @rule(which=st.sampled_from(["machine", "instance", "pods"]))
    def one_cache_catches_up(self, which: str) -> None:
        world = self.world
        if which == "machine":
            world.cached_vm = world.vm
        elif which == "instance":
            world.cached_vmi = world.vmi
            world.expected = {each for each in world.expected if not each.startswith("vmi")}
        else:
            world.cached_pods = dict(world.pods)
            world.expected = {each for each in world.expected if not each.startswith("pod")}

    @rule(is_behind=st.booleans())
    def machine_is_looked_at(self, *, is_behind: bool) -> None:
        if not is_behind:
            self.world.deliver()
        self.world.look_at_machine()

    @rule(is_behind=st.booleans())
    def instance_is_looked_at(self, *, is_behind: bool) -> None:
        if not is_behind:
            self.world.deliver()
        self.world.look_at_instance()

    @rule()
    def everybody_does_what_is_theirs(self) -> None:
        self.world.live()

    @rule()
    def virt_controller_dies_and_comes_back(self) -> None:
        """It has forgotten what it expected, and has listed everything anew."""
        self.world.deliver()

    # The node.

    @rule()
    def kubelet_looks(self) -> None:
        self.world.start_pods()
        self.world.remove_deleted_pods()

    @rule(launcher_ends=st.booleans())
    def handler_looks(self, *, launcher_ends: bool) -> None:
        self.world.handle(launcher_ends=launcher_ends)

    @precondition(lambda self: self.world.domain is not None)
    @rule(
        how=st.sampled_from([("Shutoff", "Shutdown"), ("Crashed", "Panicked")]),
        is_seen=st.booleans(),
    )
    def guest_ends(self, how: tuple[str, str], *, is_seen: bool) -> None:
        self.world.guest_ends(*how)
        if is_seen:
            self.world.handle()

    @precondition(lambda self: self.world.alive_pods())
    @rule(code=st.sampled_from([0, 1, 137]))
    def launchers_end(self, code: int) -> None:
        for uid in list(self.world.pods):
            self.world.end_pod(uid, code)

    # People.

    @rule(seconds=st.sampled_from([0.3, 1, 6, 60, 400]))
    def time_passes(self, seconds: float) -> None:
        self.world.pass_time(seconds)

    @precondition(lambda self: self.world.vm is not None)
    @rule(strategy=st.sampled_from(STRATEGIES))
    def somebody_changes_the_strategy(self, strategy: str) -> None:
        self.is_constant = False
        assert self.world.vm is not None
        waiting = [
            each
            for each in self.world.vm.status.state_change_requests
            if each.action == "Start" and each != RERUN
        ]
        self.strategy = "" if waiting else strategy
        self.world.edit(run_strategy=strategy)

    @precondition(lambda self: self.world.vm is not None)
    @rule()
    def somebody_changes_the_template(self) -> None:
        self.world.edit(template=OTHER_TEMPLATE)

    @precondition(lambda self: self.world.vm and not self.world.vm.status.state_change_requests)
    @rule(is_paused=st.booleans())
    def somebody_asks_for_a_start(self, *, is_paused: bool) -> None:
        data: dict[str, Any] = {"paused": "true"} if is_paused else {}
        self.strategy = ""
        self.world.ask("Start", **data)

    @precondition(lambda self: self.world.vm and self.world.vmi)
    @rule(again=st.booleans())
    def somebody_asks_for_a_stop(self, *, again: bool) -> None:
        assert self.world.vmi is not None
        self.stopped.add(self.world.vmi.metadata.uid)
        self.world.ask("Stop", uid=self.world.vmi.metadata.uid)
        if again:
            self.strategy = ""
            self.world.ask("Start")

    @precondition(lambda self: self.world.vmi is not None)
    @rule()
    def somebody_deletes_the_instance(self) -> None:
        self.world.delete_instance()

    @precondition(lambda self: self.world.alive_pods())
    @rule()
    def somebody_deletes_pods(self) -> None:
        for uid, pod in self.world.pods.items():
            if not pods.is_ending(pod):
                metadata = replace(pod.metadata, deletion_timestamp=self.world.second())
                self.world.pods[uid] = replace(pod, metadata=metadata)

    @precondition(lambda self: self.world.vm is not None)
    @rule()
    def somebody_deletes_the_machine(self) -> None:
        self.world.delete_machine()

    @precondition(lambda self: self.world.vm is None and self.world.vmi is None)
    @rule(strategy=st.sampled_from(STRATEGIES))
    def somebody_creates_another_of_its_name(self, strategy: str) -> None:
        self.strategy = strategy
        vm = a_machine(runStrategy=strategy)
        metadata = replace(vm.metadata, uid=self.world.uid("vm"))
        self.world.vm = replace(vm, metadata=metadata)

    # What is promised.

    @rule()
    def left_alone_it_comes_to_rest_and_the_strategy_is_obeyed(self) -> None:
        world = self.world
        self.settle()
        world.writes.clear()
        for _ in range(3):
            world.pass_time(LONG_S)
            world.work()
        assert world.writes == [], "it is written to at rest"
        if world.vm is None:
            assert world.vmi is None
            return
        assert world.vm.metadata.deletion_timestamp is None
        status, strategy = world.vm.status, world.vm.spec.run_strategy
        assert bool(status.created) == (world.vmi is not None)
        assert bool(status.ready) == (world.phase == phases.RUNNING)
        assert (world.word == "Running") == (world.phase == phases.RUNNING)
        assert world.word in {"Running", "Stopped"}
        assert strategy == self.strategy or not self.strategy
        if strategy == "Always":
            assert world.phase == phases.RUNNING
        if strategy == "Halted":
            assert world.vmi is None
        if strategy == "Once":
            assert world.vmi is not None
        if strategy == "RerunOnFailure":
            assert world.phase in {phases.RUNNING, ""}
            if self.is_constant and not world.phase:
                uid, how = next(reversed(world.ended.items()))
                assert how == phases.SUCCEEDED or uid in self.stopped
        requests = status.state_change_requests
        assert not requests or strategy == "Once"

    def settle(self) -> None:
        for _ in range(12):
            self.world.live(30)
            self.world.pass_time(LONG_S)
        self.world.live(30)

    @invariant()
    def no_two_launchers_of_a_machine_live(self) -> None:
        assert len(self.world.alive_pods()) <= 1

    @invariant()
    def every_launcher_has_its_instance(self) -> None:
        vmi = self.world.vmi
        for pod in self.world.pods.values():
            assert vmi is not None
            assert is_owned_by(pod, vmi)


MachineLife.TestCase.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
TestMachineLife = MachineLife.TestCase
