"""A small world for machines: an API that counts writes, caches that lag, and a node that plays along.

What virt-controller decides is carried out here as its plans say it is to be: the status first, then the
actions; a write on what has changed meanwhile is refused; what was created or deleted is expected to be
seen before anything else is done.
"""

from datetime import datetime, timedelta
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace
from tests.unit.virt.machine.objects import a_compute

from kubevirt.api.core.pod import (
    ContainerStateTerminated,
    Pod,
    PodCondition,
    PodSpec,
    PodStatus,
)
from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.machine import (
    VirtualMachine,
    VirtualMachineSpec,
    VirtualMachineStateChangeRequest,
)
from kubevirt.api.meta import ObjectMeta
from kubevirt.base.virtual_time import EPOCH
from kubevirt.virt.instance import actions as instance_actions
from kubevirt.virt.instance import guest, names, phases, pods
from kubevirt.virt.instance import life as instance_life
from kubevirt.virt.instance.domain import DomainSeen, GuestSeen
from kubevirt.virt.instance.seen import InstanceSeen
from kubevirt.virt.machine import actions, noting, revision
from kubevirt.virt.machine import life as machine_life
from kubevirt.virt.machine.seen import MachineSeen
from kubevirt.virt.ownership import controller_of, is_owned_by, reference_to

T = TypeVar("T", VirtualMachine, VirtualMachineInstance, Pod)

ALIVE = DomainSeen(state="Running", reason="Booted")


class Refused(Exception):  # noqa: N818  # an answer, not a mistake
    """The object is not as the writer believed."""


class World:
    def __init__(self, vm: VirtualMachine, *, has_gate: bool = False) -> None:
        self.now = EPOCH
        self.vm: VirtualMachine | None = vm
        self.vmi: VirtualMachineInstance | None = None
        self.pods: dict[str, Pod] = {}
        self.revisions: dict[str, VirtualMachineSpec] = {}
        self.domain: DomainSeen | None = None
        self.has_gate = has_gate
        self.writes: list[str] = []
        self.reconciles = 0
        self.born = 0
        self.cached_vm: VirtualMachine | None = vm
        self.cached_vmi: VirtualMachineInstance | None = None
        self.cached_pods: dict[str, Pod] = {}
        self.expected: set[str] = set()
        """UIDs that were created, and are not seen yet."""
        self.ended: dict[str, str] = {}
        """How instances ended, by UID, in that order."""

    # The API.

    def changed(self, thing: T) -> T:
        metadata = thing.metadata
        version = int(metadata.resource_version or "0") + 1
        return replace(thing, metadata=replace(metadata, resource_version=str(version)))

    def uid(self, kind: str) -> str:
        self.born += 1
        return f"{kind}-{self.born}"

    def check(self, believed: VirtualMachine | VirtualMachineInstance | None) -> None:
        now = self.vm if isinstance(believed, VirtualMachine) else self.vmi
        if believed is None or now is None or believed.metadata != now.metadata:
            raise Refused

    def store_instance(self, vmi: VirtualMachineInstance) -> None:
        self.vmi = self.changed(vmi)
        if phases.is_final(vmi):
            before = self.ended.setdefault(vmi.metadata.uid, vmi.status.phase or "")
            assert before == vmi.status.phase, "an instance ended twice"
        if phases.is_ending(vmi) and not vmi.metadata.finalizers:
            self.vmi = None
            self.collect_garbage(vmi)

    def delete_instance(self) -> None:
        assert self.vmi is not None
        if not phases.is_ending(self.vmi):
            metadata = replace(self.vmi.metadata, deletion_timestamp=self.second())
            self.store_instance(replace(self.vmi, metadata=metadata))

    def collect_garbage(self, owner: VirtualMachineInstance) -> None:
        for uid, pod in list(self.pods.items()):
            if is_owned_by(pod, owner):
                assert pods.is_finished(pod), "an instance was let go whose pod is alive"
                del self.pods[uid]

    def collect_orphans(self) -> None:
        """What belongs to a machine that is gone is deleted."""
        owner = controller_of(self.vmi) if self.vmi else None
        if owner and (self.vm is None or owner.uid != self.vm.metadata.uid):
            self.delete_instance()

    def second(self) -> datetime:
        return self.now.replace(microsecond=0)

    def ask(self, action: str, *, uid: str | None = None, **data: str) -> None:
        """As virt-api does for `virtctl start` and `stop`."""
        assert self.vm is not None
        request = VirtualMachineStateChangeRequest(action=action, uid=uid, data=data)
        asked = (*self.vm.status.state_change_requests, request)
        self.vm = self.changed(
            replace(self.vm, status=replace(self.vm.status, state_change_requests=asked))
        )

    def edit(self, **spec: Any) -> None:
        assert self.vm is not None
        generation = (self.vm.metadata.generation or 0) + 1
        metadata = replace(self.vm.metadata, generation=generation)
        self.vm = self.changed(
            replace(self.vm, metadata=metadata, spec=replace(self.vm.spec, **spec))
        )

    def delete_machine(self) -> None:
        assert self.vm is not None
        if self.vm.metadata.deletion_timestamp is None:
            metadata = replace(self.vm.metadata, deletion_timestamp=self.second())
            self.vm = self.changed(replace(self.vm, metadata=metadata))

    @property
    def word(self) -> str:
        """The machine's state; empty if it is gone."""
        return (self.vm.status.printable_status or "Stopped") if self.vm else ""

    @property
    def phase(self) -> str:
        """Of the instance; empty if it is gone."""
        return (self.vmi.status.phase or "") if self.vmi else ""

    # virt-controller.

    def deliver(self) -> None:
        self.cached_vm, self.cached_vmi, self.cached_pods = self.vm, self.vmi, dict(self.pods)
        self.expected.clear()

    def work(self) -> None:
        """Until there is nothing left to do at this moment."""
        for _ in range(30):
            before = len(self.writes)
            self.deliver()
            self.look_at_machine()
            self.deliver()
            self.look_at_instance()
            if len(self.writes) == before:
                self.deliver()
                return
        raise AssertionError("it does not come to rest")

    def look_at_machine(self) -> datetime | None:
        vm = self.cached_vm
        if vm is None or self.expected:
            return None
        self.reconciles += 1
        seen = MachineSeen(instance=self.cached_vmi, revisions=self.revisions)
        plan = machine_life.decide(vm, seen, self.now)
        try:
            if plan.status != vm.status:
                self.check(vm)
                self.writes.append(f"VM status {plan.status.printable_status}")
                self.vm = self.cached_vm = self.changed(replace(vm, status=plan.status))
            for action in plan.actions:
                self.do_for_machine(action, self.cached_vm or vm)
        except Refused:
            return self.now
        return plan.look_again

    def do_for_machine(self, action: actions.Action, believed: VirtualMachine) -> None:
        """Children can be made for a machine that has changed meanwhile, and even for one that is gone."""
        self.writes.append(type(action).__name__)
        match action:
            case actions.CreateRevision(copy):
                spec = revision.spec_in(copy)
                assert spec == believed.spec
                self.revisions[copy.metadata.name] = spec
            case actions.DeleteRevision(name):
                self.revisions.pop(name, None)
            case actions.CreateInstance(vmi):
                self.create_instance(vmi)
            case actions.DeleteInstance(_, uid, version):
                if self.vmi is None or self.vmi.metadata.uid != uid:
                    raise Refused
                if version not in (None, self.vmi.metadata.resource_version):
                    raise Refused
                self.delete_instance()
            case actions.Adopt(uid):
                if self.vmi is None or self.vmi.metadata.uid != uid:
                    raise Refused
                owners = (reference_to(believed, "VirtualMachine"),)
                metadata = replace(self.vmi.metadata, owner_references=owners)
                self.store_instance(replace(self.vmi, metadata=metadata))
            case _:
                self.change_machine(action, believed)

    def change_machine(self, action: actions.Action, believed: VirtualMachine) -> None:
        self.check(believed)
        assert self.vm is not None
        metadata = self.vm.metadata
        match action:
            case actions.SetAlways():
                self.edit(run_strategy="Always", running=None)
            case actions.RemoveFinalizer():
                assert metadata.deletion_timestamp is not None
                self.vm = self.cached_vm = None
            case actions.AddFinalizer():
                metadata = replace(
                    metadata, finalizers=(*metadata.finalizers, names.MACHINE_FINALIZER)
                )
                self.vm = self.changed(replace(self.vm, metadata=metadata))
            case _:
                raise AssertionError(f"nobody knows how to do {action}")

    def create_instance(self, vmi: VirtualMachineInstance) -> None:
        if self.vmi is not None:
            raise Refused
        assert not self.alive_pods(), "an instance is created while a launcher of another lives"
        uid = self.uid("vmi")
        finalizers = (*vmi.metadata.finalizers, names.FINALIZER)
        metadata = replace(
            vmi.metadata,
            uid=uid,
            finalizers=finalizers,
            resource_version="1",
            creation_timestamp=self.second(),
        )
        status = phases.with_phase(vmi.status, phases.PENDING, self.second())
        self.vmi = replace(vmi, metadata=metadata, status=status)
        self.expected.add(uid)

    def look_at_instance(self) -> datetime | None:
        vmi = self.cached_vmi
        if vmi is None or self.expected:
            return None
        self.reconciles += 1
        vm = self.cached_vm
        seen = InstanceSeen(
            pods=tuple(each for each in self.cached_pods.values() if is_owned_by(each, vmi)),
            is_noted=noting.is_noted(vm if vm and is_owned_by(vmi, vm) else None, vmi, self.now),
        )
        plan = instance_life.decide(vmi, seen, self.now)
        wanted = plan.applied_to(vmi)
        try:
            if wanted != vmi:
                self.check(vmi)
                self.writes.append(f"VMI {wanted.status.phase}")
                self.store_instance(wanted)
            for action in plan.actions:
                self.do_for_instance(action, vmi)
        except Refused:
            return self.now
        return plan.look_again

    def do_for_instance(self, action: instance_actions.Action, vmi: VirtualMachineInstance) -> None:
        match action:
            case instance_actions.CreatePod():
                self.create_pod(vmi)
            case instance_actions.DeletePod(_, uid):
                if uid not in self.pods:
                    raise Refused
                pod = self.pods[uid]
                metadata = replace(pod.metadata, deletion_timestamp=self.second())
                self.pods[uid] = self.changed(replace(pod, metadata=metadata))
            case instance_actions.SetGate(_, uid, is_open):
                if uid not in self.pods:
                    raise Refused
                self.set_pod_condition(uid, names.UNPAUSED_GATE, is_true=is_open)
                self.set_pod_condition(uid, "Ready", is_true=is_open)
        self.writes.append(type(action).__name__)

    def create_pod(self, vmi: VirtualMachineInstance) -> None:
        uid = self.uid("pod")
        metadata = ObjectMeta(
            name=f"virt-launcher-testvm-{uid}",
            uid=uid,
            creation_timestamp=self.second(),
            owner_references=(reference_to(vmi, "VirtualMachineInstance"),),
        )
        gates = [{"conditionType": names.UNPAUSED_GATE}] if self.has_gate else []
        spec = msgspec.convert(
            {"containers": [{"name": "compute", "image": "launcher"}], "readinessGates": gates},
            PodSpec,
        )
        self.pods[uid] = Pod(metadata=metadata, spec=spec, status=PodStatus(phase="Pending"))
        self.expected.add(uid)

    # The node.

    def alive_pods(self) -> list[Pod]:
        return [each for each in self.pods.values() if not pods.is_finished(each)]

    def set_pod_condition(self, uid: str, name: str, *, is_true: bool) -> None:
        pod = self.pods[uid]
        others = tuple(each for each in pod.status.conditions if each.type != name)
        reason = None if is_true else "ReadinessGatesNotReady"
        condition = PodCondition(type=name, status="True" if is_true else "False", reason=reason)
        status = replace(pod.status, conditions=(*others, condition))
        self.pods[uid] = replace(pod, status=status)

    def start_pods(self) -> None:
        for uid, pod in self.pods.items():
            if pod.status.phase == "Pending" and not pods.is_ending(pod):
                self.pods[uid] = replace(
                    pod,
                    spec=replace(pod.spec or PodSpec(containers=()), node_name="node01"),
                    status=PodStatus(phase="Running", container_statuses=(a_compute(),)),
                )
                self.set_pod_condition(uid, "Ready", is_true=not self.has_gate)

    def end_pod(self, uid: str, code: int = 0) -> None:
        pod = self.pods[uid]
        if pods.is_finished(pod):
            return
        ended = ContainerStateTerminated(exit_code=code, finished_at=self.second())
        compute = a_compute(ended)
        status = PodStatus(phase="Failed" if code else "Succeeded", container_statuses=(compute,))
        self.pods[uid] = replace(pod, status=status)
        self.domain = None

    def remove_deleted_pods(self) -> None:
        """A kubelet ends what is deleted, then lets go of it."""
        for uid, pod in list(self.pods.items()):
            if pods.is_ending(pod):
                self.end_pod(uid)
                del self.pods[uid]

    def handle(self, *, launcher_ends: bool = True) -> None:
        """virt-handler looks at the instance, and does what it says."""
        vmi = self.vmi
        if vmi is None or vmi.status.phase in phases.UNSCHEDULED:
            return
        alive = [each.metadata.uid for each in self.alive_pods() if is_owned_by(each, vmi)]
        if vmi.status.phase == phases.SCHEDULED and not phases.is_ending(vmi) and alive:
            assert self.domain is None or self.domain == ALIVE
            self.domain = ALIVE
        if phases.is_ending(vmi) and self.domain is not None:
            self.domain = replace(self.domain, state="Shutoff", reason="Shutdown")
        status = guest.told(vmi, GuestSeen(domain=self.domain), self.now)
        if status != vmi.status:
            self.store_instance(replace(vmi, status=status))
        if status.phase in phases.FINAL:
            self.domain = None
            for uid in alive if launcher_ends and phases.has_run(vmi) else ():
                self.end_pod(uid)

    def guest_ends(self, state: str = "Shutoff", reason: str = "Shutdown") -> None:
        if self.domain is not None:
            self.domain = replace(self.domain, state=state, reason=reason)

    def live(self, rounds: int = 12) -> None:
        """Everybody does what is theirs until nothing changes."""
        for _ in range(rounds):
            before = (self.vm, self.vmi, dict(self.pods))
            self.work()
            self.start_pods()
            self.handle()
            self.remove_deleted_pods()
            self.collect_orphans()
            self.work()
            if before == (self.vm, self.vmi, self.pods):
                return
        raise AssertionError("it does not come to rest")

    def pass_time(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)
