"""What a machine creates, owns, tells and leaves behind."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace
from tests.unit.virt.machine.objects import a_machine
from tests.unit.virt.machine.world import World

from kubevirt.api.core.workloads import ControllerRevision
from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.machine import VirtualMachine, VirtualMachineStartFailure
from kubevirt.base.virtual_time import EPOCH
from kubevirt.virt.conditions import found
from kubevirt.virt.errors import SpecError
from kubevirt.virt.happening import Failure
from kubevirt.virt.instance.names import MACHINE_FINALIZER
from kubevirt.virt.machine import actions, happenings, noting, printable, revision
from kubevirt.virt.machine.life import decide
from kubevirt.virt.machine.seen import MachineSeen
from kubevirt.virt.machine.template import instance_of
from kubevirt.virt.ownership import reference_to

SOON = EPOCH + timedelta(seconds=30)


def an_instance(vm: VirtualMachine | None = None, **status: Any) -> VirtualMachineInstance:
    """Of the machine's name, and the machine's own if one is given."""
    data = {
        "metadata": {"name": "testvm", "namespace": "home", "uid": "vmi-1"},
        "spec": {"domain": {"devices": {}}},
        "status": status,
    }
    vmi = msgspec.convert(data, VirtualMachineInstance)
    owners = (reference_to(vm, "VirtualMachine"),) if vm else ()
    return replace(vmi, metadata=replace(vmi.metadata, owner_references=owners))


def deleted(vm: VirtualMachine, *finalizers: str) -> VirtualMachine:
    metadata = replace(vm.metadata, deletion_timestamp=EPOCH)
    return replace(vm, metadata=replace(metadata, finalizers=(*metadata.finalizers, *finalizers)))


def a_condition(name: str, status: str, reason: str = "Why") -> dict[str, str]:
    return {"type": name, "status": status, "reason": reason}


def test_an_instance_belongs_to_its_machine_and_says_what_it_was_made_from() -> None:
    template = {
        "metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}},
        "spec": {"domain": {"devices": {}}},
    }
    vmi = instance_of(a_machine(template=template))
    meta = vmi.metadata
    assert (meta.name, meta.namespace, meta.labels) == ("testvm", "home", {"a": "b"})
    assert meta.annotations == {"c": "d", "kubevirt.io/vm-generation": "1"}
    assert meta.finalizers == (MACHINE_FINALIZER,)
    (owner,) = meta.owner_references
    assert (owner.kind, owner.uid, owner.controller) == ("VirtualMachine", "vm-1", True)
    assert owner.block_owner_deletion
    assert vmi.status.virtual_machine_revision_name == "revision-start-vm-vm-1-1"


def test_a_machine_from_before_identities_were_drawn_has_the_same_one_at_each_start() -> None:
    first, second = instance_of(a_machine()), instance_of(a_machine())
    assert first.spec.domain.firmware == second.spec.domain.firmware
    assert first.spec.domain.firmware is not None
    # What it has always been for a machine of this name, here and in upstream.
    assert first.spec.domain.firmware.uuid == "5a9fc181-957e-5c32-9e5a-2de5e9673531"


def test_the_identity_of_a_machine_is_that_of_its_instance() -> None:
    mine = {"uuid": "11111111-2222-3333-4444-555555555555", "serial": "mine"}
    template = {"spec": {"domain": {"devices": {}, "firmware": mine}}}
    firmware = instance_of(a_machine(template=template)).spec.domain.firmware
    assert firmware is not None
    assert (firmware.uuid, firmware.serial) == (mine["uuid"], mine["serial"])


def test_a_machine_without_a_template_is_told_so() -> None:
    vm = a_machine(template={}, runStrategy="Always")
    with pytest.raises(SpecError, match="missing virtual machine template"):
        instance_of(vm)
    condition = found(decide(vm, MachineSeen(), EPOCH).status.conditions, "Failure")
    assert condition is not None


def test_a_revision_keeps_the_spec() -> None:
    vm = a_machine(runStrategy="Always")
    kept = revision.of(vm)
    assert kept.metadata.name == "revision-start-vm-vm-1-1"
    assert kept.revision == 1
    assert revision.spec_in(kept) == vm.spec
    assert revision.spec_in(ControllerRevision(revision=1)) is None


def test_an_old_machine_gets_its_finalizer_first() -> None:
    vm = a_machine(runStrategy="Always")
    vm = replace(vm, metadata=replace(vm.metadata, finalizers=()))
    assert decide(vm, MachineSeen(), EPOCH).actions[0] == actions.AddFinalizer()


def test_an_orphan_of_the_machines_name_is_adopted() -> None:
    world = World(a_machine(runStrategy="Always"))
    world.vmi = an_instance(phase="Running")
    world.deliver()
    world.look_at_machine()
    assert world.writes == ["Adopt"]
    world.deliver()
    world.look_at_machine()
    assert world.word == "Running"


def test_an_instance_of_another_owner_is_left_alone() -> None:
    vm = a_machine(runStrategy="Always")
    other = replace(vm, metadata=replace(vm.metadata, uid="vm-2", name="other"))
    plan = decide(vm, MachineSeen(instance=an_instance(other)), EPOCH)
    assert plan.actions == ()
    condition = found(plan.status.conditions, "Failure")
    assert condition is not None
    assert condition.message == (
        "the virtual machine instance testvm exists already and belongs to VirtualMachine other"
    )


def test_an_orphan_that_is_being_deleted_is_waited_for() -> None:
    vm = a_machine(runStrategy="Always")
    vmi = an_instance()
    vmi = replace(vmi, metadata=replace(vmi.metadata, deletion_timestamp=EPOCH))
    assert decide(vm, MachineSeen(instance=vmi), EPOCH).actions == ()


def test_a_machine_goes_after_its_instance() -> None:
    vm = deleted(a_machine(runStrategy="Always"))
    plan = decide(vm, MachineSeen(instance=an_instance(vm)), SOON)
    assert plan.actions == (actions.DeleteInstance("testvm", "vmi-1"),)
    assert plan.status.printable_status == "Terminating"
    assert decide(vm, MachineSeen(), SOON).actions == (actions.RemoveFinalizer(),)
    vm = replace(vm, metadata=replace(vm.metadata, finalizers=("other/one",)))
    assert decide(vm, MachineSeen(), SOON).actions == ()


def test_a_machine_that_is_deleted_without_its_dependents_leaves_its_guest_running() -> None:
    vm = deleted(a_machine(runStrategy="Always"), "orphan")
    plan = decide(vm, MachineSeen(instance=an_instance(vm, phase="Running")), SOON)
    assert plan.actions == (actions.RemoveFinalizer(),)


def test_a_start_that_is_refused_is_told_and_tried_again() -> None:
    vm = a_machine(runStrategy="Always")
    seen = MachineSeen(failure=Failure("FailedCreate", "quota exceeded"))
    plan = decide(vm, seen, EPOCH)
    assert any(isinstance(each, actions.CreateInstance) for each in plan.actions)
    condition = found(plan.status.conditions, "Failure")
    assert condition is not None
    assert condition.message == "quota exceeded"
    told = replace(vm, status=plan.status)
    vmi = an_instance(vm, phase="Running", conditions=[a_condition("Ready", "True")])
    after = decide(told, MachineSeen(instance=vmi), EPOCH).status
    assert found(after.conditions, "Failure") is None


def test_a_refused_rerun_is_not_forgotten() -> None:
    """It counts as started only when there is an instance."""
    vm = a_machine(runStrategy="RerunOnFailure")
    seen = MachineSeen(failure=Failure("FailedCreate", "quota exceeded"))
    vm = replace(vm, status=decide(vm, seen, EPOCH).status)
    assert any(
        isinstance(each, actions.CreateInstance)
        for each in decide(vm, MachineSeen(), EPOCH).actions
    )


@pytest.mark.parametrize(
    ("status", "word"),
    [
        ({"phase": "Pending"}, "Starting"),
        ({"phase": "Scheduled"}, "Starting"),
        ({"phase": "Running"}, "Running"),
        ({"phase": "Succeeded"}, "Stopped"),
        ({"phase": "Unknown"}, "Unknown"),
        ({"phase": "WaitingForSync"}, "WaitingForReceiver"),
        ({"phase": "Running", "conditions": [a_condition("Paused", "True")]}, "Paused"),
        (
            {"phase": "Running", "migrationState": {"startTimestamp": "2030-01-01T00:00:00Z"}},
            "Migrating",
        ),
        (
            {
                "phase": "Pending",
                "conditions": [a_condition("Synchronized", "False", "FailedPvcNotFound")],
            },
            "ErrorPvcNotFound",
        ),
        (
            {
                "phase": "Scheduling",
                "conditions": [a_condition("PodScheduled", "False", "Unschedulable")],
            },
            "ErrorUnschedulable",
        ),
        (
            {
                "phase": "Scheduling",
                "conditions": [a_condition("Synchronized", "False", "ErrImagePull")],
            },
            "ErrImagePull",
        ),
        (
            {
                "phase": "Scheduling",
                "conditions": [a_condition("Synchronized", "False", "ImagePullBackOff")],
            },
            "ImagePullBackOff",
        ),
        (
            {
                "phase": "Scheduling",
                "conditions": [a_condition("Synchronized", "False", "FailedCreate")],
            },
            "Starting",
        ),
    ],
)
def test_a_state_has_a_word(status: dict[str, Any], word: str) -> None:
    assert printable.of(a_machine(), an_instance(**status), None, EPOCH) == word


def test_the_first_word_that_fits_counts() -> None:
    vm, vmi = a_machine(), an_instance(phase="Running", conditions=[a_condition("Paused", "True")])
    assert printable.of(deleted(vm), vmi, None, EPOCH) == "Terminating"
    ending = replace(vmi, metadata=replace(vmi.metadata, deletion_timestamp=EPOCH))
    assert printable.of(vm, ending, None, EPOCH) == "Stopping"
    failure = VirtualMachineStartFailure(retry_after_timestamp=SOON)
    assert printable.of(vm, None, failure, EPOCH) == "CrashLoopBackOff"
    assert printable.of(vm, vmi, failure, EPOCH) == "Paused"
    assert printable.of(vm, None, failure, SOON) == "Stopped"


def waiting_for_claims(*conditions: Any) -> str:
    vmi = an_instance(phase="Scheduling", conditions=list(conditions))
    return printable.of(a_machine(), vmi, None, EPOCH, has_unbound_claims=True)


def test_a_claim_without_a_volume_is_waited_for_unless_there_is_worse() -> None:
    assert waiting_for_claims() == "WaitingForVolumeBinding"
    image = a_condition("Synchronized", "False", "ErrImagePull")
    assert waiting_for_claims(image) == "WaitingForVolumeBinding"
    node = a_condition("PodScheduled", "False", "Unschedulable")
    assert waiting_for_claims(node) == "ErrorUnschedulable"
    claim = a_condition("Synchronized", "False", "FailedPvcNotFound")
    assert waiting_for_claims(claim) == "ErrorPvcNotFound"


def test_a_machine_without_an_instance_is_not_ready() -> None:
    status = decide(a_machine(runStrategy="Halted"), MachineSeen(), EPOCH).status
    ready = found(status.conditions, "Ready")
    assert ready is not None
    assert (ready.status, ready.reason, ready.message) == (
        "False",
        "VMINotExists",
        "VMI does not exist",
    )
    assert (status.created, status.ready, status.printable_status) == (None, None, "Stopped")


def test_a_machine_mirrors_its_instance() -> None:
    vm = a_machine(runStrategy="Always")
    told = [a_condition("AgentConnected", "True"), a_condition("Ready", "True")]
    vmi = an_instance(vm, phase="Running", conditions=told)
    status = decide(vm, MachineSeen(instance=vmi), EPOCH).status
    assert [each.type for each in status.conditions] == ["AgentConnected", "Ready"]
    assert (status.created, status.ready, status.run_strategy) == (True, True, "Always")
    again = replace(vm, status=status)
    alone = replace(vmi, status=replace(vmi.status, conditions=()))
    after = decide(again, MachineSeen(instance=alone), EPOCH).status
    (ready,) = after.conditions
    assert ready.reason == "VMIConditionMissing"


def test_a_machine_that_is_off_is_not_ready_even_if_its_pod_is_still_told_to_be_well() -> None:
    vm = a_machine(runStrategy="Manual")
    vmi = an_instance(vm, phase="Succeeded", conditions=[a_condition("Ready", "True")])
    status = decide(vm, MachineSeen(instance=vmi), EPOCH).status
    ready = found(status.conditions, "Ready")
    assert ready is not None
    assert (ready.status, ready.reason) == ("False", "GuestNotRunning")
    assert (status.ready, status.printable_status) == (None, "Stopped")


def test_a_guest_that_is_about_to_be_ready_is_told_of_when_it_is() -> None:
    vm = a_machine(runStrategy="Always")
    transition = {"phase": "Running", "phaseTransitionTimestamp": EPOCH.isoformat()}
    vmi = an_instance(vm, phase="Running", phaseTransitionTimestamps=[transition])
    seen = MachineSeen(instance=vmi)
    plan = decide(vm, seen, EPOCH)
    assert plan.status == vm.status
    assert plan.look_again == EPOCH + timedelta(seconds=2)
    assert decide(vm, seen, plan.look_again).status.printable_status == "Running"


def test_an_instance_may_go_when_what_follows_from_its_end_is_noted() -> None:
    vm = a_machine(runStrategy="RerunOnFailure")
    vmi = an_instance(vm, phase="Failed")
    assert not noting.is_noted(vm, vmi, EPOCH)
    noted = replace(vm, status=decide(vm, MachineSeen(instance=vmi), EPOCH).status)
    assert noting.is_noted(noted, vmi, EPOCH)
    assert noting.is_noted(None, vmi, EPOCH)
    assert noting.is_noted(deleted(vm), vmi, EPOCH)
    assert noting.is_noted(a_machine(runStrategy="What"), vmi, EPOCH)


def test_a_request_that_nobody_knows_is_dropped() -> None:
    world = World(a_machine(runStrategy="Manual"))
    world.ask("Dance")
    world.ask("Start")
    world.live()
    assert world.word == "Running"


def test_events_are_in_kubevirts_words() -> None:
    told = [
        happenings.started("testvm"),
        happenings.stopped("testvm"),
        happenings.not_started("testvm", "no"),
        happenings.not_stopped("testvm", "no"),
    ]
    assert [each.reason for each in told] == [
        "SuccessfulCreate",
        "SuccessfulDelete",
        "FailedCreate",
        "FailedDelete",
    ]
    assert told[0].message == (
        "Started the virtual machine by creating the new virtual machine instance testvm"
    )
    assert [each.is_warning for each in told] == [False, False, True, True]


def stuck(vm: VirtualMachine, made_from: int, **more: Any) -> tuple[VirtualMachineInstance, Any]:
    """An instance that does not start, and the copy of the template that it was made from."""
    status = {
        "phase": "Scheduling",
        "conditions": [a_condition("Synchronized", "False", "ErrImagePull")],
        "virtualMachineRevisionName": f"{revision.prefix(vm)}{made_from}",
        **more,
    }
    vmi = an_instance(vm, **status)
    annotations = {revision.GENERATION: str(made_from)}
    vmi = replace(vmi, metadata=replace(vmi.metadata, annotations=annotations))
    before = a_machine(template={"spec": {"domain": {"devices": {}, "machine": {"type": "pc"}}}})
    return vmi, {status["virtualMachineRevisionName"]: before.spec}


def test_a_guest_that_was_left_behind_meanwhile_is_not_deleted_with_its_machine() -> None:
    """A newer version of it was deleted, which a cache knew by then and nobody had looked at."""
    vm = deleted(a_machine(runStrategy="Always"))
    vmi = an_instance(vm)
    vmi = replace(vmi, metadata=replace(vmi.metadata, resource_version="7"))
    plan = decide(vm, MachineSeen(instance=vmi), SOON)
    assert plan.actions == (actions.DeleteInstance("testvm", "vmi-1", "7"),)


def changed(**spec: Any) -> VirtualMachine:
    vm = a_machine(**spec)
    return replace(vm, metadata=replace(vm.metadata, generation=2))


@pytest.mark.parametrize("strategy", ["Always", "RerunOnFailure", "Once"])
def test_a_machine_that_is_changed_while_it_cannot_start_begins_anew(strategy: str) -> None:
    vm = changed(runStrategy=strategy)
    vmi, revisions = stuck(vm, 1)
    plan = decide(vm, MachineSeen(instance=vmi, revisions=revisions), SOON)
    assert plan.actions == (actions.DeleteInstance("testvm", "vmi-1"),)


def test_a_machine_that_was_started_by_hand_does_not() -> None:
    vm = changed(runStrategy="Manual")
    vmi, revisions = stuck(vm, 1)
    assert decide(vm, MachineSeen(instance=vmi, revisions=revisions), SOON).actions == ()


@pytest.mark.parametrize(
    ("made_from", "more"),
    [
        (2, {}),
        (1, {"conditions": []}),
        (
            1,
            {
                "phaseTransitionTimestamps": [
                    {"phase": "Running", "phaseTransitionTimestamp": EPOCH.isoformat()}
                ]
            },
        ),
    ],
)
def test_one_that_may_start_yet_or_has_run_is_left_alone(
    made_from: int, more: dict[str, Any]
) -> None:
    vm = changed(runStrategy="Always")
    vmi, revisions = stuck(vm, made_from, **more)
    assert decide(vm, MachineSeen(instance=vmi, revisions=revisions), SOON).actions == ()


def test_what_keeps_a_guest_from_starting_is_told_of_its_machine_too() -> None:
    vm = a_machine(runStrategy="Always")
    vmi, _ = stuck(vm, 1)
    plan = decide(vm, MachineSeen(instance=vmi), SOON)
    assert [each.reason for each in plan.happenings] == ["ErrImagePull"]
    again = decide(replace(vm, status=plan.status), MachineSeen(instance=vmi), SOON)
    assert again.happenings == ()


def test_why_the_last_start_failed_is_told_until_the_next() -> None:
    vm = a_machine(runStrategy="Always")
    lost = a_condition("Synchronized", "False", "LauncherLost")
    vmi = an_instance(vm, phase="Failed", conditions=[lost])
    ended = replace(vm, status=decide(vm, MachineSeen(instance=vmi), SOON).status)
    gone = decide(ended, MachineSeen(), SOON).status
    failure = found(gone.conditions, "Failure")
    assert gone.printable_status == "CrashLoopBackOff"
    assert failure is not None
    assert (failure.status, failure.reason) == ("True", "LauncherLost")
    again = decide(replace(vm, status=gone), MachineSeen(), SOON).status
    assert again == gone
    anew = decide(replace(vm, status=gone), MachineSeen(instance=an_instance(vm)), SOON)
    assert found(anew.status.conditions, "Failure") is None
