"""How to read a launcher's pod."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from kubevirt.api.core.pod import (
    ContainerStateTerminated,
    ContainerStateWaiting,
    ContainerStatus,
    Pod,
    PodCondition,
)
from kubevirt.virt.instance.names import UNPAUSED_GATE

COMPUTE: Final = "compute"
"""The container in which the guest runs."""
IMAGE_TROUBLES: Final = frozenset({"ErrImagePull", "ImagePullBackOff"})
STILLBORN: Final = frozenset(
    {
        "CreateContainerConfigError",
        "CreateContainerError",
        "ErrImageNeverPull",
        "InvalidImageName",
        "RunContainerError",
    }
)
"""Other causes for which a container does not start, and of which a user should hear."""

UNPREPARED: Final = frozenset({"ContainerCreating", "PodInitializing"})


WORDS_LIMIT: Final = 300
_KILLED: Final = 137


def is_finished(pod: Pod) -> bool:
    """Whether nothing of it runs any more, and nothing ever will."""
    return pod.status.phase in {"Succeeded", "Failed"}


def is_ending(pod: Pod) -> bool:
    return pod.metadata.deletion_timestamp is not None


def is_up(pod: Pod) -> bool:
    """Whether all of its containers are: then virt-handler can begin.

    Its condition Ready may be withheld by a gate that opens only when the guest runs, and so may the launcher's
    own readiness: a probe of the guest is that container's.
    """
    containers = pod.status.container_statuses
    is_running = pod.status.phase == "Running" and not is_ending(pod)
    return is_running and bool(containers) and all(map(_can_be_used, containers))


def _can_be_used(container: ContainerStatus) -> bool:
    is_running = container.state is not None and container.state.running is not None
    return container.ready or (container.name == COMPUTE and is_running)


def latest(pods: tuple[Pod, ...]) -> Pod | None:
    """The one that counts, if there are several: alive before ended, then the youngest."""
    return max(pods, key=_rank, default=None)


def _rank(pod: Pod) -> tuple[bool, bool, float, str]:
    born = pod.metadata.creation_timestamp
    age = born.timestamp() if born else 0.0
    return not is_finished(pod), not is_ending(pod), age, pod.metadata.uid


def condition(pod: Pod, name: str) -> PodCondition | None:
    return next((each for each in pod.status.conditions if each.type == name), None)


def has_gate(pod: Pod) -> bool:
    gates = pod.spec.readiness_gates if pod.spec else ()
    return any(each.condition_type == UNPAUSED_GATE for each in gates)


def is_opening(pod: Pod) -> bool:
    """Whether nothing but its gate keeps it from being ready, and that is being opened."""
    ready, gate = condition(pod, "Ready"), condition(pod, UNPAUSED_GATE)
    is_last = ready is not None and ready.reason == "ReadinessGatesNotReady"
    return has_gate(pod) and is_last and (gate is None or gate.status == "True")


def ended_at(pod: Pod) -> datetime | None:
    """When the last of its containers ended; None if none tells."""
    times = [
        each.state.terminated.finished_at
        for each in pod.status.container_statuses
        if each.state and each.state.terminated and each.state.terminated.finished_at
    ]
    return max(times, default=None)


def trouble(pod: Pod) -> ContainerStateWaiting | None:
    """What keeps its containers from starting."""
    troubles = IMAGE_TROUBLES | STILLBORN
    return next((each for each in _waits(pod) if each.reason in troubles), None)


def waits_for_volumes(pod: Pod) -> bool:
    """Whether none of its containers has come so far that it needs none any more."""
    all_waits = [each.reason for each in _waits(pod)]
    return len(all_waits) == len(_containers(pod)) and set(all_waits) <= UNPREPARED


def ending(pod: Pod) -> str:
    """Why it ended, in the words of the node or of the container, for a person to read."""
    if pod.status.reason:
        return f"{pod.status.reason}: {pod.status.message or 'no details'}"
    for status in _containers(pod):
        ended = status.state.terminated if status.state else None
        if ended and (ended.exit_code or status.name == COMPUTE):
            return f"container {status.name} {_how(ended)}"
    return "the node tells no cause"


def _how(ended: ContainerStateTerminated) -> str:
    if ended.exit_code == _KILLED:  # it could not say anything any more
        is_greedy = ended.reason == "OOMKilled"
        why = (
            "it needed more memory than it may have" if is_greedy else "by somebody, or by its node"
        )
        return f"was killed with SIGKILL: {why}"
    # Of one that did not say why it ends, a kubelet shows the end of its log.
    said = (ended.message or "").strip().splitlines()[-1:]
    return ": ".join([f"ended with code {ended.exit_code}", *(line[:WORDS_LIMIT] for line in said)])


def image(pod: Pod) -> str | None:
    containers = pod.spec.containers if pod.spec else ()
    return next((each.image for each in containers if each.name == COMPUTE), None)


def _waits(pod: Pod) -> Iterator[ContainerStateWaiting]:
    for status in _containers(pod):
        if status.state and status.state.waiting:
            yield status.state.waiting


def _containers(pod: Pod) -> tuple[ContainerStatus, ...]:
    return (*pod.status.init_container_statuses, *pod.status.container_statuses)
