"""How a pod comes up, and how it is kept up: volumes, network, init containers in their order, then all
others.

Containers begin in the order they are written in, and one whose postStart hook runs holds up those after
it, as in a kubelet: some rely on it.
"""

from collections.abc import Iterator
from datetime import datetime

from kubevirt.api.core.container import Container
from kubevirt.api.core.pod import Pod
from kubevirt.embedded.node import backoff, stopping
from kubevirt.embedded.node.actions import (
    GetImage,
    PrepareVolumes,
    RunPostStart,
    SetUpNetwork,
    Start,
    Step,
    Wait,
)
from kubevirt.embedded.node.policy import (
    grace_s,
    has_begun,
    is_begun,
    is_passed,
    is_sidecar,
    is_tried_again,
)
from kubevirt.embedded.node.seen import ContainerSeen, Hook, PodSeen, Tried
from kubevirt.embedded.node.wall_time import has_gone_back
from kubevirt.embedded.objects.pods import spec_of


def of_pod(pod: Pod, seen: PodSeen, now: datetime) -> Iterator[Step]:
    if not seen.has_volumes:
        yield PrepareVolumes()
        yield from _shown(seen, now)
    elif not seen.has_network:
        yield SetUpNetwork()
    else:
        yield from _containers(pod, seen, now)


def _shown(seen: PodSeen, now: datetime) -> Iterator[Step]:
    """Until when an error is told before the wait for the next try is."""
    for each in seen.containers.values():
        if each.setback and now < (until := each.setback.at + backoff.ERROR_SHOWN):
            yield Wait(until)


def _containers(pod: Pod, seen: PodSeen, now: datetime) -> Iterator[Step]:
    spec = spec_of(pod)
    for place, container in enumerate(spec.init_containers):
        if is_sidecar(container) or not has_begun(pod, seen):
            yield from _container(pod, container, seen.of(container.name), now, is_init=True)
        if not is_passed(container, seen.of(container.name)) and not _is_passed_by(
            pod, place, seen
        ):
            return
    for container in spec.containers:
        its = seen.of(container.name)
        yield from _container(pod, container, its, now, is_init=False)
        if its.running and its.running.post_start in (Hook.NOT_RUN, Hook.RUNNING):
            return


def _is_passed_by(pod: Pod, place: int, seen: PodSeen) -> bool:
    """Something after this init container has begun already: a sidecar that comes back holds up nobody."""
    later = spec_of(pod).init_containers[place + 1 :]
    return has_begun(pod, seen) or any(is_begun(seen.of(each.name)) for each in later)


def _container(
    pod: Pod, container: Container, seen: ContainerSeen, now: datetime, *, is_init: bool
) -> Iterator[Step]:
    if seen.running is not None:
        yield from _running(pod, container, seen.running, now)
    elif is_tried_again(pod, container, seen, is_init=is_init):
        at = not_before(seen, now)
        if at is not None and now < at:
            yield from _wait(seen, at, now)
        elif seen.image_at_hand_for != seen.next_number:
            yield GetImage(container.name, seen.next_number)
        else:
            yield Start(container.name, seen.next_number)


def _wait(seen: ContainerSeen, at: datetime, now: datetime) -> Iterator[Step]:
    yield Wait(at)
    since = [seen.setback.at] if seen.setback else []
    since += [backoff.end_of(seen.tries[-1])] if seen.tries else []
    changes = (each + backoff.ERROR_SHOWN for each in since)
    yield from (Wait(each) for each in changes if now < each < at)


def not_before(seen: ContainerSeen, now: datetime) -> datetime | None:
    """The end of the longer of two waits: for a container that ended, and for what kept it from a try."""
    waits = []
    if seen.tries and not has_gone_back(backoff.end_of(seen.tries[-1]), now):
        waits.append(backoff.next_start(seen.tries))
    if seen.setback is not None and not has_gone_back(seen.setback.at, now):
        waits.append(seen.setback.at + backoff.wait_after(seen.setback.times))
    return max(waits, default=None)


def _running(pod: Pod, container: Container, tried: Tried, now: datetime) -> Iterator[Step]:
    if why := _why_to_stop(pod, container, tried):
        yield from stopping.of_container(
            container, tried, _grace_s(pod, container, tried), now, why
        )
    elif tried.post_start is Hook.NOT_RUN:
        yield RunPostStart(container.name, tried.number)


def _why_to_stop(pod: Pod, container: Container, tried: Tried) -> str:
    if tried.post_start is Hook.FAILED:
        return "FailedPostStartHook"
    if tried.probed.unhealthy:
        failed = f"{container.name} failed {tried.probed.unhealthy} probe"
        if container in spec_of(pod).init_containers:
            return f"Init container {failed}"
        comes_back = spec_of(pod).restart_policy != "Never"
        return f"Container {failed}, will be restarted" if comes_back else f"Container {failed}"
    return f"Stopping container {container.name}" if tried.stopping else ""


def _grace_s(pod: Pod, container: Container, tried: Tried) -> int:
    """A probe may have a grace period of its own."""
    by_kind = {"liveness": container.liveness_probe, "startup": container.startup_probe}
    probe = by_kind.get(tried.probed.unhealthy)
    asked = probe.termination_grace_period_seconds if probe else None
    return grace_s(pod) if asked is None else asked
