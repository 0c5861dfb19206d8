"""The life of a pod: what to do next, and how it is, from what is seen of it and the time.

    plan = decide(pod, seen, clock.now())

A pure function, and the whole of a kubelet's judgement. It remembers nothing: what must not be
forgotten stands in the containers that are there, or in the status of the pod. So it does not matter
how often it is asked or who asks; a process that was just started decides as the one before it.

`pod.status` is the last that was decided, whether the server has it yet or not. What is asked to be
done shows in `seen` as soon as it has begun, so nothing is asked for twice.

    policy.py            who is tried again, and when a pod has done its work
    starting.py          coming up, and staying up
    stopping.py          going down
    container_status.py  how a container is
    phase.py             how the pod is, in a word
    conditions.py        and in several
    happenings.py        what users are told meanwhile
"""

from datetime import datetime

import msgspec

from kubevirt.api.core.pod import HostIP, Pod, PodIP, PodStatus
from kubevirt.embedded.node import (
    conditions,
    container_status,
    phase,
    policy,
    starting,
    stopping,
)
from kubevirt.embedded.node.actions import Action, Delete, Step, TearDown, Wait
from kubevirt.embedded.node.container_status import Moment
from kubevirt.embedded.node.seen import PodSeen, Verdict
from kubevirt.embedded.objects.pods import spec_of


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    actions: tuple[Action, ...]
    """To begin now, side by side."""
    status: PodStatus
    look_again: datetime | None
    """When time alone changes something; None if only an event can."""


def decide(pod: Pod, seen: PodSeen, now: datetime) -> Plan:
    is_ending = policy.is_ending(pod, seen, now)
    is_over = is_ending and not any(each.running for each in seen.containers.values())
    steps = _steps(pod, seen, now, is_ending=is_ending, is_over=is_over)
    moment = Moment(pod=pod, seen=seen, now=now, is_ending=is_ending, is_over=is_over)
    waits = [step.until for step in steps if isinstance(step, Wait)]
    until = policy.deadline(pod)
    if until is not None and not is_ending:
        waits.append(until)
    return Plan(
        actions=tuple(step for step in steps if not isinstance(step, Wait)),
        status=_status(moment),
        look_again=min(waits, default=None),
    )


def _steps(pod: Pod, seen: PodSeen, now: datetime, *, is_ending: bool, is_over: bool) -> list[Step]:
    if not is_ending:
        return list(starting.of_pod(pod, seen, now))
    if not is_over:
        return list(stopping.of_pod(pod, seen, now))
    if not seen.is_torn_down:
        return [TearDown()]
    return [Delete()] if pod.metadata.deletion_timestamp is not None else []


def _status(moment: Moment) -> PodStatus:
    pod, seen, now = moment.pod, moment.seen, moment.now
    if pod.status.phase in policy.FINAL_PHASES:
        return _final(moment)
    if seen.verdict is not None and seen.verdict.is_refusal:
        return _refused(moment, seen.verdict)
    return _living(moment, policy.verdict(pod, seen, now))


def _final(moment: Moment) -> PodStatus:
    """How it ended stays as it was told, though what it was told from may be gone."""
    is_up = moment.seen.has_network and not moment.seen.is_torn_down
    return msgspec.structs.replace(
        moment.pod.status,
        conditions=conditions.of_final(moment.pod, moment.now, has_network=is_up),
    )


def _refused(moment: Moment, verdict: Verdict) -> PodStatus:
    return msgspec.structs.replace(
        moment.pod.status,
        start_time=moment.pod.status.start_time or moment.now,
        observed_generation=moment.pod.metadata.generation,
        phase="Failed",
        reason=verdict.reason,
        message=f"Pod was rejected: {verdict.message}",
    )


def _living(moment: Moment, verdict: Verdict | None) -> PodStatus:
    pod, seen, now = moment.pod, moment.seen, moment.now
    spec = spec_of(pod)
    containers = PodStatus(
        init_container_statuses=tuple(
            container_status.of(moment, each, is_init=True) for each in spec.init_containers
        ),
        container_statuses=tuple(
            container_status.of(moment, each, is_init=False) for each in spec.containers
        ),
    )
    told = phase.of(
        containers,
        has_verdict=verdict is not None,
        is_over=moment.is_over,
        is_initialized=policy.is_initialized(pod, seen),
    )
    return msgspec.structs.replace(
        _places(pod, seen, now),
        container_statuses=containers.container_statuses,
        init_container_statuses=containers.init_container_statuses,
        phase=told,
        reason=verdict.reason if verdict else None,
        message=verdict.message if verdict else None,
        conditions=conditions.of(_facts(moment, containers, told, verdict), now),
    )


def _places(pod: Pod, seen: PodSeen, now: datetime) -> PodStatus:
    """Where it is. A pod keeps the addresses it had: they are of interest after its end, too."""
    before = pod.status
    ips = tuple(PodIP(ip=each) for each in seen.addresses) or before.pod_i_ps
    hosts = tuple(HostIP(ip=each) for each in seen.host_addresses) or before.host_i_ps
    return msgspec.structs.replace(
        before,
        start_time=before.start_time or now,
        observed_generation=pod.metadata.generation,
        pod_i_ps=ips,
        pod_ip=ips[0].ip if ips else None,
        host_i_ps=hosts,
        host_ip=hosts[0].ip if hosts else None,
    )


def _facts(
    moment: Moment, containers: PodStatus, told: str, verdict: Verdict | None
) -> conditions.Facts:
    is_evicted = verdict is not None and verdict.reason == "Evicted"
    return conditions.Facts(
        pod=moment.pod,
        phase=told,
        inits=containers.init_container_statuses,
        containers=containers.container_statuses,
        has_network=moment.seen.has_network and not moment.seen.is_torn_down,
        has_begun=policy.has_begun(moment.pod, moment.seen),
        eviction=verdict.message if verdict and is_evicted else "",
    )
