"""How a container is brought to its end: its hook, SIGTERM, and SIGKILL when its time is up.

All preStop hooks run at once and count against the grace period. Sidecars are asked last, the one that
began first after all others; but nobody waits for its turn longer than the grace period. Whoever was
asked late still has two seconds.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from kubevirt.api.core.container import Container
from kubevirt.api.core.pod import Pod
from kubevirt.embedded.node.actions import (
    BeginToStop,
    Kill,
    RunPreStop,
    Step,
    Terminate,
    Wait,
)
from kubevirt.embedded.node.policy import all_containers, grace_s, is_sidecar
from kubevirt.embedded.node.seen import Hook, PodSeen, Stopping, Tried
from kubevirt.embedded.node.wall_time import has_gone_back
from kubevirt.embedded.objects.pods import spec_of

LEAST: Final = timedelta(seconds=2)
"""Between SIGTERM and SIGKILL, however late it is."""


def of_pod(pod: Pod, seen: PodSeen, now: datetime) -> Iterator[Step]:
    """Each container that still runs, a step nearer to its end."""
    for container in all_containers(pod):
        tried = seen.of(container.name).running
        if tried is not None:
            why = f"Stopping container {container.name}"
            turn = _is_its_turn(pod, container, seen)
            yield from of_container(container, tried, grace_s(pod), now, why, is_its_turn=turn)


def of_container(
    container: Container,
    tried: Tried,
    grace: int,
    now: datetime,
    why: str,
    *,
    is_its_turn: bool = True,
) -> Iterator[Step]:
    stopping = tried.stopping
    if stopping is None:
        yield BeginToStop(container.name, tried.number, why)
        return
    if stopping.is_killed:
        return
    until = _end(stopping.since, timedelta(seconds=grace), now)
    if stopping.asked_at is not None:
        last = max(until, _end(stopping.asked_at, LEAST, now))
        yield Kill(container.name, tried.number) if now >= last else Wait(last)
    elif _wants_hook(container) and stopping.pre_stop is Hook.NOT_RUN and now < until:
        yield RunPreStop(container.name, tried.number, (until - now).total_seconds())
    elif now < until and (_is_in_hook(stopping) or not is_its_turn):
        yield Wait(until)
    else:
        yield Terminate(container.name, tried.number)


def _end(since: datetime, span: timedelta, now: datetime) -> datetime:
    return now if has_gone_back(since, now) else since + span


def _wants_hook(container: Container) -> bool:
    return container.lifecycle is not None and container.lifecycle.pre_stop is not None


def _is_in_hook(stopping: Stopping) -> bool:
    return stopping.pre_stop is Hook.RUNNING


def _is_its_turn(pod: Pod, container: Container, seen: PodSeen) -> bool:
    spec = spec_of(pod)
    if container not in spec.init_containers or not is_sidecar(container):
        return True
    place = spec.init_containers.index(container)
    later = [each for each in spec.init_containers[place + 1 :] if is_sidecar(each)]
    return not any(seen.of(each.name).running for each in (*later, *spec.containers))
