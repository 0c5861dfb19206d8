"""What virt-controller does for an instance, and what it says of it."""

from datetime import datetime, timedelta
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from kubevirt.api.core.pod import Pod
from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.base.virtual_time import EPOCH
from kubevirt.virt.conditions import found
from kubevirt.virt.happening import Failure
from kubevirt.virt.instance import happenings, phases, pods
from kubevirt.virt.instance.actions import CreatePod, DeletePod, SetGate
from kubevirt.virt.instance.life import PATIENCE, Plan, decide
from kubevirt.virt.instance.names import FINALIZER, MACHINE_FINALIZER, NODE_LABEL, UNPAUSED_GATE
from kubevirt.virt.instance.seen import InstanceSeen

LATER = EPOCH + timedelta(seconds=60)
READY = {"type": "Ready", "status": "True"}
UP: dict[str, Any] = {
    "phase": "Running",
    "qosClass": "Burstable",
    "conditions": [READY],
    "containerStatuses": [
        {"name": "compute", "image": "launcher", "imageID": "", "ready": True, "restartCount": 0}
    ],
}


def an_instance(phase: str | None = None, *, is_ending: bool = False, **status: Any) -> Any:
    times = [{"phase": phase, "phaseTransitionTimestamp": EPOCH.isoformat()}] if phase else []
    data = {
        "metadata": {
            "name": "testvm",
            "namespace": "home",
            "uid": "vmi-1",
            "finalizers": [FINALIZER, MACHINE_FINALIZER, "other/one"],
            "deletionTimestamp": EPOCH.isoformat() if is_ending else None,
        },
        "spec": {"domain": {"devices": {}}},
        "status": {"phase": phase, "phaseTransitionTimestamps": times, **status},
    }
    return msgspec.convert(data, VirtualMachineInstance)


def a_pod(uid: str = "pod-1", *, is_ending: bool = False, gate: bool = False, **status: Any) -> Pod:
    spec: dict[str, Any] = {"containers": [{"name": "compute", "image": "launcher"}]}
    if status.get("phase") == "Running":
        spec["nodeName"] = "node01"
    if gate:
        spec["readinessGates"] = [{"conditionType": UNPAUSED_GATE}]
    meta = {"name": uid, "uid": uid, "deletionTimestamp": EPOCH.isoformat() if is_ending else None}
    return msgspec.convert({"metadata": meta, "spec": spec, "status": status}, Pod)


def ended(code: int, at: datetime | None = EPOCH, **more: Any) -> Pod:
    finished = at.isoformat() if at else None
    terminated = {"exitCode": code, "finishedAt": finished, **more}
    compute = {**UP["containerStatuses"][0], "ready": False, "state": {"terminated": terminated}}
    phase = "Failed" if code else "Succeeded"
    return a_pod(phase=phase, containerStatuses=[compute])


def waiting(reason: str, message: str = "") -> Pod:
    state = {"waiting": {"reason": reason, "message": message}}
    compute = {**UP["containerStatuses"][0], "ready": False, "state": state}
    return a_pod(phase="Pending", containerStatuses=[compute])


def plan_for(vmi: VirtualMachineInstance, *its: Pod, now: datetime = LATER, **seen: Any) -> Plan:
    return decide(vmi, InstanceSeen(pods=its, **seen), now)


def told(plan: Plan, name: str) -> tuple[str, str | None]:
    condition = found(plan.status.conditions, name)
    return (condition.status, condition.reason) if condition else ("", None)


def test_a_new_instance_gets_a_pod_and_nothing_is_written_yet() -> None:
    vmi = an_instance(phases.PENDING)
    plan = plan_for(vmi)
    assert plan.actions == (CreatePod(),)
    assert plan.applied_to(vmi) == vmi


def test_an_instance_with_a_pod_is_being_scheduled() -> None:
    plan = plan_for(an_instance(phases.PENDING), a_pod(phase="Pending"))
    assert plan.status.phase == phases.SCHEDULING
    assert plan.actions == ()
    assert told(plan, "Ready") == ("False", "GuestNotRunning")
    assert plan.status.phase_transition_timestamps[-1].phase == phases.SCHEDULING


def test_an_instance_whose_pod_is_up_is_handed_over_in_one_write() -> None:
    plan = plan_for(an_instance(phases.SCHEDULING), a_pod(**UP))
    status = plan.status
    assert (status.phase, status.node_name) == (phases.SCHEDULED, "node01")
    assert status.active_pods == {"pod-1": "node01"}
    assert (status.qos_class, status.migration_transport) == ("Burstable", "Unix")
    assert status.launcher_container_image_version == "launcher"
    assert plan.labels == {NODE_LABEL: "node01"}
    assert plan.happenings == (happenings.handed_over("node01"),)


def test_a_guest_with_a_readiness_probe_is_not_stuck_before_it_boots() -> None:
    """The probe is the launcher container's, and only a guest that runs can pass it."""
    running = {"running": {"startedAt": EPOCH.isoformat()}}
    compute = {**UP["containerStatuses"][0], "ready": False, "state": running}
    plan = plan_for(
        an_instance(phases.SCHEDULING), a_pod(phase="Running", containerStatuses=[compute])
    )
    assert plan.status.phase == phases.SCHEDULED
    helper = {**compute, "name": "volumecontainer"}
    plan = plan_for(
        an_instance(phases.SCHEDULING), a_pod(phase="Running", containerStatuses=[compute, helper])
    )
    assert plan.status.phase == phases.SCHEDULING


def test_a_running_guest_is_as_ready_as_its_pod() -> None:
    vmi = an_instance(phases.RUNNING, activePods={"pod-1": "node01"}, nodeName="node01")
    assert told(plan_for(vmi, a_pod(**UP)), "Ready") == ("True", None)
    unready = {"type": "Ready", "status": "False", "reason": "ContainersNotReady"}
    pod = a_pod(**{**UP, "conditions": [unready]})
    assert told(plan_for(vmi, pod), "Ready") == ("False", "ContainersNotReady")
    pod = a_pod(**{**UP, "conditions": []})
    assert told(plan_for(vmi, pod), "Ready") == ("False", "PodConditionMissing")
    pod = a_pod(is_ending=True, **UP)
    assert told(plan_for(vmi, pod), "Ready") == ("False", "PodTerminating")


def test_a_claim_that_is_missing_is_named_and_waited_for() -> None:
    plan = plan_for(an_instance(phases.PENDING), missing_claims=("root",))
    assert plan.actions == ()
    condition = found(plan.status.conditions, "Synchronized")
    assert condition is not None
    assert condition.reason == "FailedPvcNotFound"
    assert "home/root" in (condition.message or "")
    assert told(plan, "Ready") == ("False", "PodNotExists")
    assert plan.happenings[0].reason == "FailedPvcNotFound"
    after = plan_for(plan.applied_to(an_instance(phases.PENDING)), a_pod(phase="Pending"))
    assert told(after, "Synchronized") == ("", None)


def test_a_pod_that_is_refused_is_told_and_tried_again() -> None:
    failure = Failure("FailedCreate", "exceeded quota")
    plan = plan_for(an_instance(phases.PENDING), failure=failure)
    assert plan.actions == (CreatePod(),)
    assert told(plan, "Synchronized") == ("False", "FailedCreate")
    again = plan_for(plan.applied_to(an_instance(phases.PENDING)), failure=failure)
    assert again.happenings == ()


@pytest.mark.parametrize("reason", ["ErrImagePull", "ImagePullBackOff", "InvalidImageName"])
def test_an_image_that_cannot_be_had_is_told(reason: str) -> None:
    plan = plan_for(an_instance(phases.SCHEDULING), waiting(reason, "no such image"))
    assert told(plan, "Synchronized") == ("False", reason)
    assert plan.status.phase == phases.SCHEDULING
    plan = plan_for(an_instance(phases.SCHEDULING), waiting("ContainerCreating"))
    assert told(plan, "Synchronized") == ("", None)


def test_a_volume_that_cannot_be_had_is_told_until_its_container_starts() -> None:
    said = 'MountVolume.SetUp failed for volume "a" : secret "b" not found'
    plan = plan_for(an_instance(phases.SCHEDULING), waiting("ContainerCreating"), mounting=said)
    assert told(plan, "Synchronized") == ("False", "FailedMount")
    (event,) = plan.happenings
    assert (event.reason, event.is_warning) == ("FailedMount", True)
    assert event.message == f"{said}; create it, and the start goes on by itself"
    vmi = plan.applied_to(an_instance(phases.SCHEDULING))
    assert told(plan_for(vmi, a_pod(**UP), mounting=said), "Synchronized") == ("", None)


def test_a_pod_that_no_node_takes_is_told() -> None:
    reason = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    plan = plan_for(an_instance(phases.SCHEDULING), a_pod(phase="Pending", conditions=[reason]))
    assert told(plan, "PodScheduled") == ("False", "Unschedulable")
    vmi = plan.applied_to(an_instance(phases.SCHEDULING))
    assert told(plan_for(vmi, a_pod(**UP)), "PodScheduled") == ("", None)


@pytest.mark.parametrize("phase", [phases.SCHEDULING, phases.SCHEDULED, phases.RUNNING])
def test_an_instance_whose_pod_is_gone_has_failed(phase: str) -> None:
    plan = plan_for(an_instance(phase))
    assert plan.status.phase == phases.FAILED
    assert plan.actions == ()
    assert told(plan, "Synchronized") == ("False", "LauncherLost")
    assert plan.happenings[0].is_warning


def test_an_instance_whose_node_is_silent_fails_when_its_pod_is_gone_and_not_before() -> None:
    vmi = an_instance(phases.RUNNING, nodeName="node01")
    waits = plan_for(vmi, a_pod(**UP), is_node_silent=True)
    assert (waits.status.phase, waits.status.reason) == (phases.RUNNING, None)
    plan = plan_for(vmi, is_node_silent=True)
    assert (plan.status.phase, plan.status.reason) == (phases.FAILED, "NodeUnresponsive")
    assert told(plan, "Synchronized") == ("False", "LauncherLost")
    assert plan.happenings == (happenings.node_unresponsive("node01"),)


def test_an_instance_whose_pod_ends_before_the_guest_began_has_failed_and_says_why() -> None:
    plan = plan_for(an_instance(phases.SCHEDULING), ended(3, message="no libvirt"))
    assert plan.status.phase == phases.FAILED
    condition = found(plan.status.conditions, "Synchronized")
    assert condition is not None
    assert condition.message == (
        "the virt-launcher pod pod-1 ended: container compute ended with code 3: no libvirt"
    )


def test_virt_handler_may_say_how_a_guest_ended_whose_launcher_is_gone() -> None:
    vmi = an_instance(phases.RUNNING)
    plan = plan_for(vmi, ended(0), now=EPOCH)
    assert (plan.status.phase, plan.look_again) == (phases.RUNNING, EPOCH + PATIENCE)
    assert plan_for(vmi, ended(1), now=EPOCH + PATIENCE).status.phase == phases.FAILED
    assert plan_for(vmi, ended(1, at=None), now=EPOCH).status.phase == phases.FAILED


def test_a_guest_that_shut_down_while_virt_handler_was_away_has_succeeded() -> None:
    plan = plan_for(an_instance(phases.RUNNING), ended(0), now=EPOCH + PATIENCE)
    assert plan.status.phase == phases.SUCCEEDED
    assert told(plan, "Synchronized") == ("", None)
    assert plan.happenings == (happenings.SHUT_DOWN,)
    early = plan_for(an_instance(phases.SCHEDULED), ended(0), now=EPOCH + PATIENCE)
    assert early.status.phase == phases.FAILED, "there was no guest yet"


@pytest.mark.parametrize("phase", [None, phases.PENDING, phases.SCHEDULING])
def test_an_instance_deleted_before_its_guest_began_ends_with_its_pod(phase: str | None) -> None:
    vmi = an_instance(phase, is_ending=True)
    plan = plan_for(vmi, a_pod(**UP))
    assert plan.actions == (DeletePod("pod-1", "pod-1"),)
    assert plan.finalizers == vmi.metadata.finalizers
    assert plan_for(vmi, a_pod(is_ending=True, **UP)).actions == ()
    plan = plan_for(vmi)
    assert plan.status.phase == phases.FAILED
    assert plan.finalizers == vmi.metadata.finalizers, "its machine has not seen the end"
    assert plan_for(plan.applied_to(vmi)).finalizers == ("other/one",)


def test_an_instance_without_a_machine_ends_in_one_write() -> None:
    vmi = an_instance(phases.PENDING, is_ending=True)
    vmi = replace(vmi, metadata=replace(vmi.metadata, finalizers=(FINALIZER,)))
    plan = plan_for(vmi)
    assert (plan.status.phase, plan.finalizers) == (phases.FAILED, ())


def test_an_instance_is_not_let_go_while_its_launcher_lives() -> None:
    """Or another of its name could write to its disks."""
    vmi = an_instance(phases.SUCCEEDED, is_ending=True)
    assert FINALIZER in plan_for(vmi, a_pod(**UP)).finalizers
    assert FINALIZER in plan_for(vmi, a_pod(is_ending=True, **UP)).finalizers
    assert plan_for(vmi, ended(0)).finalizers == ("other/one",)


def test_an_instance_is_not_let_go_before_its_machine_has_noted_its_end() -> None:
    vmi = an_instance(phases.SUCCEEDED, is_ending=True)
    assert FINALIZER in plan_for(vmi, is_noted=False).finalizers


def test_an_instance_that_is_not_deleted_keeps_its_finalizers() -> None:
    assert FINALIZER in plan_for(an_instance(phases.SUCCEEDED), ended(0)).finalizers


def test_a_launcher_may_end_by_itself_and_is_told_to_when_it_does_not() -> None:
    ran = {"phase": "Running", "phaseTransitionTimestamp": EPOCH.isoformat()}
    over = {"phase": "Succeeded", "phaseTransitionTimestamp": EPOCH.isoformat()}
    vmi = an_instance(phases.SUCCEEDED, phaseTransitionTimestamps=[ran, over])
    plan = plan_for(vmi, a_pod(**UP), now=EPOCH)
    assert (plan.actions, plan.look_again) == ((), EPOCH + PATIENCE)
    assert plan_for(vmi, a_pod(**UP), now=EPOCH + PATIENCE).actions == (
        DeletePod("pod-1", "pod-1"),
    )


def test_a_launcher_that_never_had_a_guest_is_told_to_end_at_once() -> None:
    plan = plan_for(an_instance(phases.FAILED), a_pod(**UP), now=EPOCH)
    assert plan.actions == (DeletePod("pod-1", "pod-1"),)


def test_an_instance_that_ended_is_not_ready() -> None:
    ready = [{"type": "Ready", "status": "True"}]
    vmi = an_instance(phases.SUCCEEDED, conditions=ready)
    assert told(plan_for(vmi, ended(0)), "Ready") == ("False", "GuestNotRunning")


def test_an_instance_that_is_about_to_be_gone_is_not_told_to_be_unready_first() -> None:
    ready = [{"type": "Ready", "status": "True"}]
    vmi = an_instance(phases.SUCCEEDED, is_ending=True, conditions=ready)
    plan = plan_for(vmi, a_pod(**UP), now=EPOCH)
    assert told(plan, "Ready") == ("True", None)
    assert plan.look_again == EPOCH + timedelta(seconds=2)
    assert told(plan_for(vmi, a_pod(**UP)), "Ready")[0] == "False"


def test_of_two_pods_one_goes_before_the_guest_begins() -> None:
    """Should a controller ever have made two: no guest begins while there are two launchers."""
    plan = plan_for(an_instance(phases.SCHEDULING), a_pod("pod-1", **UP), a_pod("pod-2", **UP))
    assert plan.actions == (DeletePod("pod-1", "pod-1"),)
    assert plan.status.phase == phases.SCHEDULING


def test_the_gate_of_a_pod_is_open_while_its_guest_is_not_paused() -> None:
    closed = {"type": "Ready", "status": "False", "reason": "ReadinessGatesNotReady"}
    pod = a_pod(gate=True, **{**UP, "conditions": [closed]})
    running = an_instance(phases.RUNNING)
    plan = plan_for(running, pod)
    assert plan.actions == (SetGate("pod-1", "pod-1", is_open=True),)
    assert told(plan, "Ready") == ("", None), "it is about to be ready, so nothing is said"
    assert plan_for(an_instance(phases.SCHEDULED), pod).actions == ()

    opened = {"type": UNPAUSED_GATE, "status": "True"}
    pod = a_pod(gate=True, **{**UP, "conditions": [READY, opened]})
    assert plan_for(running, pod).actions == ()
    paused = an_instance(phases.RUNNING, conditions=[{"type": "Paused", "status": "True"}])
    (action,) = plan_for(paused, pod).actions
    assert action == SetGate("pod-1", "pod-1", is_open=False)
    assert isinstance(action, SetGate)
    assert action.reason == "Paused"
    shut = {"type": UNPAUSED_GATE, "status": "False"}
    pod = a_pod(gate=True, **{**UP, "conditions": [closed, shut]})
    assert told(plan_for(paused, pod), "Ready") == ("False", "ReadinessGatesNotReady")
    assert plan_for(running, a_pod(gate=True, is_ending=True, **UP)).actions == ()


def test_the_end_of_a_pod_is_told_in_the_words_of_its_node() -> None:
    pod = a_pod(phase="Failed", reason="Evicted", message="low on memory")
    assert pods.ending(pod) == "Evicted: low on memory"
    assert pods.ending(a_pod(phase="Failed")) == "the node tells no cause"
    fine = {**UP["containerStatuses"][0], "name": "a", "state": {"terminated": {"exitCode": 0}}}
    bad = {**fine, "name": "b", "state": {"terminated": {"exitCode": 9}}}
    pod = a_pod(phase="Failed", containerStatuses=[fine, bad])
    assert pods.ending(pod) == "container b ended with code 9"


def test_asking_again_says_the_same() -> None:
    vmi = an_instance(phases.SCHEDULING)
    first = plan_for(vmi, a_pod(**UP)).applied_to(vmi)
    again = plan_for(first, a_pod(**UP), now=LATER + timedelta(seconds=9))
    assert again.applied_to(first) == first
    assert again.happenings == ()


def test_labels_of_others_stay() -> None:
    vmi = an_instance(phases.SCHEDULING)
    vmi = replace(vmi, metadata=replace(vmi.metadata, labels={"a": "b"}))
    assert plan_for(vmi, a_pod(**UP)).labels == {"a": "b", NODE_LABEL: "node01"}


def test_events_are_in_kubevirts_words() -> None:
    assert happenings.pod_created("x").message == "Created virtual machine pod x"
    assert happenings.pod_deleted("x").message == "Deleted virtual machine pod x"
    assert happenings.pod_not_created("no").is_warning
    assert happenings.pod_not_deleted("x", "no").reason == "FailedDelete"
