"""Who is started again, and when a pod has done its work: restart policies, sidecars, deadlines."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from kubevirt.api.core.container import Container
from kubevirt.api.core.pod import Pod
from kubevirt.embedded.node.seen import ContainerSeen, Hook, PodSeen, Tried, Verdict
from kubevirt.embedded.objects.pods import spec_of

FINAL_PHASES: Final = ("Succeeded", "Failed")
DEADLINE: Final = Verdict(
    reason="DeadlineExceeded",
    message="Pod was active on the node longer than the specified deadline",
)
_DEFAULT_GRACE_S: Final = 30


def is_sidecar(container: Container) -> bool:
    """Asked of init containers only: one that stays for as long as the pod does."""
    return container.restart_policy == "Always"


def all_containers(pod: Pod) -> Iterator[Container]:
    yield from spec_of(pod).init_containers
    yield from spec_of(pod).containers


def has_started(container: Container, tried: Tried) -> bool:
    """It runs, its hook is done and its startup probe, if it has one, has succeeded."""
    is_up = tried.is_running and tried.post_start is Hook.DONE
    return is_up and (container.startup_probe is None or tried.probed.has_started)


def is_ready(container: Container, tried: Tried) -> bool:
    started = has_started(container, tried)
    return started and (container.readiness_probe is None or tried.probed.is_ready)


def is_tried_again(pod: Pod, container: Container, seen: ContainerSeen, *, is_init: bool) -> bool:
    """Whether a container that does not run is to be started, its turn permitting."""
    if seen.last is None or seen.last.ended is None:
        return seen.last is None
    has_failed = seen.last.ended.has_failed
    is_undone = is_init and seen.last.is_of_before and not has_failed
    if is_undone or (is_init and is_sidecar(container)):
        return True
    match spec_of(pod).restart_policy or "Always":
        case "Always":
            return has_failed or not is_init
        case "OnFailure":
            return has_failed
    return False


def has_begun(pod: Pod, seen: PodSeen) -> bool:
    """A container proper was started, so initialisation is over until the machine goes down."""
    return any(is_begun(seen.of(each.name)) for each in spec_of(pod).containers)


def is_begun(seen: ContainerSeen) -> bool:
    return seen.last is not None and not seen.last.is_of_before


def is_initialized(pod: Pod, seen: PodSeen) -> bool:
    return has_begun(pod, seen) or all(
        is_passed(each, seen.of(each.name)) for each in spec_of(pod).init_containers
    )


def is_passed(container: Container, seen: ContainerSeen) -> bool:
    """Whether what stands after this init container may begin."""
    if seen.last is None or seen.last.is_of_before:
        return False
    if is_sidecar(container):
        return has_started(container, seen.last)
    return seen.last.ended is not None and not seen.last.ended.has_failed


def is_done(pod: Pod, seen: PodSeen) -> bool:
    """All that was asked for has ended and nothing will be tried again; sidecars do not count."""
    spec = spec_of(pod)
    if any(_has_given_up(pod, each, seen) for each in spec.init_containers):
        return True
    found = [(each, seen.of(each.name)) for each in spec.containers]
    return bool(found) and all(
        its.last is not None
        and not its.last.is_running
        and not is_tried_again(pod, each, its, is_init=False)
        for each, its in found
    )


def _has_given_up(pod: Pod, container: Container, seen: PodSeen) -> bool:
    its = seen.of(container.name)
    return (
        its.last is not None
        and its.last.ended is not None
        and its.last.ended.has_failed
        and not is_tried_again(pod, container, its, is_init=True)
    )


def verdict(pod: Pod, seen: PodSeen, now: datetime) -> Verdict | None:
    """Why it must end before it has done its work. What was said once stays: the status remembers it."""
    if pod.status.reason:
        return Verdict(reason=pod.status.reason, message=pod.status.message or "")
    if seen.verdict is not None:
        return seen.verdict
    until = deadline(pod)
    return DEADLINE if until is not None and now >= until else None


def deadline(pod: Pod) -> datetime | None:
    seconds = spec_of(pod).active_deadline_seconds
    if seconds is None or pod.status.start_time is None:
        return None
    return pod.status.start_time + timedelta(seconds=seconds)


def is_ending(pod: Pod, seen: PodSeen, now: datetime) -> bool:
    """Nothing is started any more."""
    return (
        pod.status.phase in FINAL_PHASES
        or pod.metadata.deletion_timestamp is not None
        or verdict(pod, seen, now) is not None
        or is_done(pod, seen)
    )


def grace_s(pod: Pod) -> int:
    said = pod.metadata.deletion_grace_period_seconds
    if pod.metadata.deletion_timestamp is not None and said is not None:
        return said
    asked = spec_of(pod).termination_grace_period_seconds
    return _DEFAULT_GRACE_S if asked is None else asked
