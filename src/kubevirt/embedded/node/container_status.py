"""The status of one container, with a kubelet's reasons and words."""

from datetime import datetime
from typing import Final

import msgspec

from kubevirt.api.core.container import Container
from kubevirt.api.core.pod import (
    ContainerState,
    ContainerStateRunning,
    ContainerStateTerminated,
    ContainerStateWaiting,
    ContainerStatus,
    Pod,
)
from kubevirt.embedded.node import backoff
from kubevirt.embedded.node.policy import (
    has_started,
    is_initialized,
    is_ready,
    is_sidecar,
    is_tried_again,
)
from kubevirt.embedded.node.seen import ContainerSeen, Ended, Hook, PodSeen, Setback, Tried
from kubevirt.embedded.objects.pods import spec_of

START_ERROR_CODE: Final = 128
LOST_CODE: Final = 137
STOPPED_CODE: Final = 143
"""Of one that did as it was asked when the home went down: its work was not done for all that."""
_LOST: Final = (
    "The container could not be located when the pod was deleted.  The container used to be Running"
)
_INTERRUPTED: Final = "The container was stopped because the home that it ran in went down"
_NEVER_SEEN: Final = ContainerStateTerminated(
    exit_code=LOST_CODE,
    reason="ContainerStatusUnknown",
    message="The container could not be located when the pod was terminated",
)


def full_name(pod: Pod) -> str:
    return f"{pod.metadata.name}_{pod.metadata.namespace}({pod.metadata.uid})"


class Moment(msgspec.Struct, frozen=True, kw_only=True):
    """What the status of a container depends on beside the container."""

    pod: Pod
    seen: PodSeen
    now: datetime
    is_ending: bool
    is_over: bool
    """Nothing runs, and nothing ever will."""


def of(moment: Moment, container: Container, *, is_init: bool) -> ContainerStatus:
    its = moment.seen.of(container.name)
    state, last = _states(moment, container, its, is_init=is_init)
    tried = its.last
    return ContainerStatus(
        name=container.name,
        image=container.image or "",
        image_id=tried.image_id if tried else "",
        container_id=tried.id if tried else None,
        restart_count=tried.number if tried else 0,
        state=state,
        last_state=last,
        ready=_is_ready(container, its, state, is_init=is_init),
        started=state.running is not None and tried is not None and has_started(container, tried),
    )


def _is_ready(
    container: Container, its: ContainerSeen, state: ContainerState, *, is_init: bool
) -> bool:
    if is_init and not is_sidecar(container):
        return state.terminated is not None and state.terminated.exit_code == 0
    return state.running is not None and its.last is not None and is_ready(container, its.last)


def _states(
    moment: Moment, container: Container, its: ContainerSeen, *, is_init: bool
) -> tuple[ContainerState, ContainerState | None]:
    """What it does, and how it ended before."""
    tried = its.last
    before = its.tries[-2] if len(its.tries) > 1 else None
    if tried is None:
        return _never_tried(moment, its, is_init=is_init), None
    if is_init and _is_done_again(moment, container, tried, before):
        return _ended(before) or ContainerState(), None
    if tried.ended is None:
        if tried.post_start in (Hook.NOT_RUN, Hook.RUNNING):
            return _waiting(_default_reason(moment, is_init=is_init)), _ended(before)
        running = ContainerStateRunning(started_at=tried.started_at)
        return ContainerState(running=running), _ended(before)
    is_wanted = is_tried_again(moment.pod, container, its, is_init=is_init)
    if not moment.is_ending and is_wanted and (waiting := _back_off(moment, container, its)):
        return waiting, _ended(tried)
    return _ended(tried) or ContainerState(), _ended(before)


def _is_done_again(
    moment: Moment, container: Container, tried: Tried, before: Tried | None
) -> bool:
    """An init container that had succeeded runs again because the machine was down. The server takes
    back no success of a pod that is not always started again, so that is what is shown meanwhile.
    """
    is_shown = spec_of(moment.pod).restart_policy in ("OnFailure", "Never")
    had_succeeded = before is not None and before.ended is not None and not before.ended.has_failed
    return tried.is_running and is_shown and had_succeeded and not is_sidecar(container)


def _never_tried(moment: Moment, its: ContainerSeen, *, is_init: bool) -> ContainerState:
    if moment.is_over and is_initialized(moment.pod, moment.seen):
        return ContainerState(terminated=_NEVER_SEEN)
    if its.setback is not None:
        return _set_back(its.setback, moment.now)
    return _waiting(_default_reason(moment, is_init=is_init))


def _default_reason(moment: Moment, *, is_init: bool) -> str:
    has_inits = bool(spec_of(moment.pod).init_containers)
    is_waiting_for_inits = not is_initialized(moment.pod, moment.seen)
    return (
        "PodInitializing"
        if has_inits and (is_init or is_waiting_for_inits)
        else "ContainerCreating"
    )


def _back_off(moment: Moment, container: Container, its: ContainerSeen) -> ContainerState | None:
    if its.setback is not None:
        return _set_back(its.setback, moment.now)
    shown_until = backoff.end_of(its.tries[-1]) + backoff.ERROR_SHOWN
    if not shown_until <= moment.now < backoff.next_start(its.tries):
        return None
    wait = backoff.go_duration(backoff.between(its.tries))
    return _waiting(
        "CrashLoopBackOff",
        f"back-off {wait} restarting failed container={container.name} pod={full_name(moment.pod)}",
    )


def _set_back(setback: Setback, now: datetime) -> ContainerState:
    """The error itself at first, the wait for the next try from then on."""
    if setback.reason == "ErrImagePull" and now >= setback.at + backoff.ERROR_SHOWN:
        return _waiting(
            "ImagePullBackOff",
            f'Back-off pulling image "{setback.image}": ErrImagePull: {setback.message}',
        )
    return _waiting(setback.reason, setback.message)


def _waiting(reason: str, message: str | None = None) -> ContainerState:
    return ContainerState(waiting=ContainerStateWaiting(reason=reason, message=message))


def _ended(tried: Tried | None) -> ContainerState | None:
    if tried is None or tried.ended is None:
        return None
    ended = tried.ended
    reason, message, code = _how(ended)
    return ContainerState(
        terminated=ContainerStateTerminated(
            container_id=tried.id or None,
            exit_code=code,
            reason=reason,
            message=message or None,
            started_at=tried.started_at,
            finished_at=ended.at,
        )
    )


def _how(ended: Ended) -> tuple[str, str, int]:
    if ended.failure:
        return "StartError", ended.failure, START_ERROR_CODE
    if ended.at is None:
        return "ContainerStatusUnknown", _LOST, LOST_CODE
    if ended.is_interrupted and not ended.code:
        return "Error", ended.message or _INTERRUPTED, STOPPED_CODE
    if ended.is_out_of_memory:
        return "OOMKilled", ended.message, ended.code
    return "Error" if ended.code else "Completed", ended.message, ended.code
