"""The conditions of a pod that its node writes; those of others stay as they are."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

import msgspec

from kubevirt.api.core.container import Container
from kubevirt.api.core.pod import ContainerStatus, Pod, PodCondition
from kubevirt.embedded.node.policy import is_sidecar
from kubevirt.embedded.objects.pods import spec_of

READY_TO_START: Final = "PodReadyToStartContainers"
INITIALIZED: Final = "Initialized"
READY: Final = "Ready"
CONTAINERS_READY: Final = "ContainersReady"
SCHEDULED: Final = "PodScheduled"
DISRUPTION: Final = "DisruptionTarget"
OURS: Final = (READY_TO_START, INITIALIZED, READY, CONTAINERS_READY, SCHEDULED, DISRUPTION)


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What conditions are told from."""

    pod: Pod
    phase: str
    inits: Sequence[ContainerStatus]
    containers: Sequence[ContainerStatus]
    has_network: bool
    has_begun: bool
    eviction: str = ""
    """The message of it."""


class _Told(msgspec.Struct, frozen=True):
    is_true: bool
    reason: str | None = None
    message: str | None = None


_YES: Final = _Told(is_true=True)


def of_final(pod: Pod, now: datetime, *, has_network: bool) -> tuple[PodCondition, ...]:
    """Nothing changes any more once a pod has ended, but that its surroundings are taken down."""
    found = {each.type: each for each in pod.status.conditions}
    if before := found.get(READY_TO_START):
        told = _Told(is_true=has_network)
        found[READY_TO_START] = _condition(READY_TO_START, told, before, pod, now)
    return tuple(found.values())


def of(facts: Facts, now: datetime) -> tuple[PodCondition, ...]:
    """All of the pod's conditions, those of others among them. A time changes only with its status."""
    containers_ready = _containers_ready(facts)
    told = {
        READY_TO_START: _Told(is_true=facts.has_network),
        INITIALIZED: _initialized(facts),
        READY: _ready(facts, containers_ready),
        CONTAINERS_READY: containers_ready,
        SCHEDULED: _YES,
    }
    if facts.eviction:
        told[DISRUPTION] = _Told(
            is_true=True, reason="TerminationByKubelet", message=facts.eviction
        )
    before = {each.type: each for each in facts.pod.status.conditions}
    mine = {
        name: _condition(name, each, before.get(name), facts.pod, now)
        for name, each in told.items()
    }
    return tuple((before | mine).values())


def _condition(
    name: str, told: _Told, before: PodCondition | None, pod: Pod, now: datetime
) -> PodCondition:
    status = "True" if told.is_true else "False"
    is_same = before is not None and before.status == status
    since = before.last_transition_time if before is not None and is_same else None
    return PodCondition(
        type=name,
        status=status,
        reason=told.reason,
        message=told.message,
        last_transition_time=since or now,
        observed_generation=pod.metadata.generation,
    )


def _containers_ready(facts: Facts) -> _Told:
    if facts.phase == "Succeeded":
        return _Told(is_true=False, reason="PodCompleted")
    if facts.phase == "Failed":
        return _Told(is_true=False, reason="PodFailed")
    sidecars = [
        status
        for spec, status in zip(_inits(facts.pod), facts.inits, strict=True)
        if is_sidecar(spec)
    ]
    unready = [each.name for each in (*sidecars, *facts.containers) if not each.ready]
    if not unready:
        return _YES
    return _Told(False, "ContainersNotReady", f"containers with unready status: {_list(unready)}")


def _ready(facts: Facts, containers_ready: _Told) -> _Told:
    if not containers_ready.is_true:
        return containers_ready
    missing = list(_gates_not_open(facts.pod))
    return _Told(False, "ReadinessGatesNotReady", ", ".join(missing)) if missing else _YES


def _gates_not_open(pod: Pod) -> Iterable[str]:
    found = {each.type: each.status for each in pod.status.conditions}
    for gate in spec_of(pod).readiness_gates:
        name = gate.condition_type
        if name not in found:
            yield f'corresponding condition of pod readiness gate "{name}" does not exist.'
        elif found[name] != "True":
            yield f'the status of pod readiness gate "{name}" is not "True", but {found[name]}'


def _initialized(facts: Facts) -> _Told:
    if facts.phase == "Succeeded":
        return _Told(is_true=True, reason="PodCompleted")
    if facts.has_begun:
        return _YES
    incomplete = [
        status.name
        for spec, status in zip(_inits(facts.pod), facts.inits, strict=True)
        if not (status.started if is_sidecar(spec) else status.ready)
    ]
    if not incomplete:
        return _YES
    return _Told(
        False, "ContainersNotInitialized", f"containers with incomplete status: {_list(incomplete)}"
    )


def _inits(pod: Pod) -> Sequence[Container]:
    return spec_of(pod).init_containers


def _list(names: Sequence[str]) -> str:
    """As Go prints a slice."""
    return f"[{' '.join(names)}]"
