"""What virt-controller says of an instance: what follows from its pod, and nothing else.

Of a status that is virt-handler's already, the fields here are the only ones it touches.
"""

from datetime import datetime, timedelta
from typing import Final

from msgspec.structs import replace

from kubevirt.api.core.pod import Pod
from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.instance_status import (
    VirtualMachineInstanceCondition,
    VirtualMachineInstanceStatus,
)
from kubevirt.virt import nodes
from kubevirt.virt.conditions import (
    FALSE,
    POD_SCHEDULED,
    READY,
    SYNCHRONIZED,
    Told,
    with_told,
)
from kubevirt.virt.instance import phases, pods, way_out
from kubevirt.virt.instance.seen import InstanceSeen
from kubevirt.virt.spans import end_of

SETTLING: Final = timedelta(seconds=2)
"""What passes within a second is not written: a write costs everybody who watches. It is counted from times that
have lost their fractions, so that it may be two."""
LAUNCHER_LOST: Final = "LauncherLost"
FAILED_MOUNT: Final = "FailedMount"
"""Kubernetes' word for a volume that a pod waits for."""


def of(
    vmi: VirtualMachineInstance, seen: InstanceSeen, phase: str, lost: str, now: datetime
) -> VirtualMachineInstanceStatus:
    """`lost` tells why the launcher is gone, if that is why the phase is what it is."""
    status = phases.with_phase(vmi.status, phase, now)
    pod = pods.latest(seen.pods)
    if phase not in phases.UNSCHEDULED | phases.FINAL:
        status = _with_place(status, seen.pods, pod)
    told: dict[str, Told | None] = {}
    is_opening = pod is not None and phase == phases.RUNNING and pods.is_opening(pod)
    if not is_opening and not settles_at(vmi, phase, now):
        told[READY] = _ready(phase, pod)
    if lost and seen.is_node_silent:
        status = replace(status, reason=nodes.UNRESPONSIVE)
    if lost:
        told[SYNCHRONIZED] = Told(FALSE, LAUNCHER_LOST, lost)
    elif phase not in phases.FINAL and vmi.status.phase in phases.UNSCHEDULED:
        told[SYNCHRONIZED] = _synchronized(vmi, seen, pod)
        told[POD_SCHEDULED] = _scheduled(pod)
    conditions = status.conditions
    for name, each in told.items():
        conditions = with_told(conditions, VirtualMachineInstanceCondition, name, each, now)
    return replace(status, conditions=conditions)


def settles_at(vmi: VirtualMachineInstance, phase: str, now: datetime) -> datetime | None:
    """An instance that is about to be gone need not be told to be unready first."""
    if phase not in phases.FINAL or not phases.is_ending(vmi):
        return None
    return end_of(phases.ended_at(vmi) or now, SETTLING, now)


def _with_place(
    status: VirtualMachineInstanceStatus, all_pods: tuple[Pod, ...], pod: Pod | None
) -> VirtualMachineInstanceStatus:
    active = {
        each.metadata.uid: each.spec.node_name
        for each in all_pods
        if each.spec and each.spec.node_name and not pods.is_finished(each)
    }
    node = pod.spec.node_name if pod and pod.spec else None
    return replace(
        status,
        active_pods=active or status.active_pods,
        node_name=status.node_name or node,
        qos_class=status.qos_class or (pod.status.qos_class if pod else None),
        migration_transport=status.migration_transport or "Unix",
        launcher_container_image_version=(
            status.launcher_container_image_version or (pods.image(pod) if pod else None)
        ),
    )


def _ready(phase: str, pod: Pod | None) -> Told:
    if pod is None:
        return Told(FALSE, "PodNotExists", "virt-launcher pod has not yet been scheduled")
    if pods.is_ending(pod):
        return Told(FALSE, "PodTerminating", "virt-launcher pod is terminating")
    if phase != phases.RUNNING:
        return Told(FALSE, "GuestNotRunning", "Guest VM is not reported as running")
    condition = pods.condition(pod, READY)
    if condition is None:
        return Told(
            FALSE, "PodConditionMissing", "virt-launcher pod is missing the Ready condition"
        )
    return Told(condition.status, condition.reason, condition.message)


def _synchronized(vmi: VirtualMachineInstance, seen: InstanceSeen, pod: Pod | None) -> Told | None:
    """Only told while something is wrong."""
    if pod is None and seen.missing_claims:
        names = ", ".join(f"{vmi.metadata.namespace}/{name}" for name in seen.missing_claims)
        text = f"PVC {names} does not exist; create it, {way_out.GOES_ON}"
        return Told(FALSE, "FailedPvcNotFound", text)
    if pod is None and seen.failure:
        return Told(FALSE, seen.failure.reason, seen.failure.message)
    return _of_pod(pod, seen.mounting) if pod else None


def _of_pod(pod: Pod, mounting: str) -> Told | None:
    """What keeps its containers from starting: their images, their volumes, or something else."""
    if trouble := pods.trouble(pod):
        said = trouble.message or ""
        is_image = trouble.reason in pods.IMAGE_TROUBLES
        return Told(FALSE, trouble.reason, way_out.of_no_image(said) if is_image else said)
    if mounting and pods.waits_for_volumes(pod):
        return Told(FALSE, FAILED_MOUNT, way_out.of_no_volume(mounting))
    return None


def _scheduled(pod: Pod | None) -> Told | None:
    """Only told while no node takes the pod."""
    condition = pods.condition(pod, POD_SCHEDULED) if pod else None
    if condition and condition.status == FALSE and condition.reason == "Unschedulable":
        return Told(FALSE, condition.reason, way_out.of_no_node(condition.message or ""))
    return None
