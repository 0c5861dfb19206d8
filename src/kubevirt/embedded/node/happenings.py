"""What users are told of a pod beside its status: events, in a kubelet's words.

Some follow from how the status changed (`between`), some from what is about to be done (`of_action`),
the others from what came of it; their texts are here, too, so that all of them stand side by side.
"""

from collections.abc import Iterator

import msgspec

from kubevirt.api.core.pod import ContainerStatus, Pod, PodStatus
from kubevirt.embedded.node.actions import Action, BeginToStop
from kubevirt.embedded.node.container_status import full_name
from kubevirt.embedded.node.probes.schedule import Answer


class Happening(msgspec.Struct, frozen=True, kw_only=True):
    reason: str
    message: str
    is_warning: bool = False
    container: str = ""
    """Empty if it is about the pod as a whole."""


def between(pod: Pod, before: PodStatus, after: PodStatus) -> Iterator[Happening]:
    old = {each.name: each for each in _containers(before)}
    for each in _containers(after):
        reason, message = _waits_for(each)
        if (reason, message) != _waits_for(old.get(each.name)):
            yield from _of_wait(pod, each, reason, message)


def _of_wait(pod: Pod, status: ContainerStatus, reason: str, message: str) -> Iterator[Happening]:
    name, image = status.name, _image(pod, status, message)
    match reason:
        case "CrashLoopBackOff":
            text = f"Back-off restarting failed container {name} in pod {full_name(pod)}"
            yield Happening(reason="BackOff", message=text, is_warning=True, container=name)
        case "ImagePullBackOff":
            text = f'Back-off pulling image "{image}"'
            yield Happening(reason="BackOff", message=text, container=name)
            text = "Error: ImagePullBackOff"
            yield Happening(reason="Failed", message=text, is_warning=True, container=name)
        case "ErrImagePull":
            text = f'Failed to pull image "{image}": {message}'
            yield Happening(reason="Failed", message=text, is_warning=True, container=name)
            text = "Error: ErrImagePull"
            yield Happening(reason="Failed", message=text, is_warning=True, container=name)
        case "InvalidImageName":
            yield Happening(
                reason="InspectFailed", message=message, is_warning=True, container=name
            )
            text = "Error: InvalidImageName"
            yield Happening(reason="Failed", message=text, is_warning=True, container=name)
        case "ErrImageNeverPull":
            yield Happening(
                reason="ErrImageNeverPull", message=message, is_warning=True, container=name
            )
            text = "Error: ErrImageNeverPull"
            yield Happening(reason="Failed", message=text, is_warning=True, container=name)
        case "CreateContainerConfigError" | "CreateContainerError" | "RunContainerError":
            text = f"Error: {message}"
            yield Happening(reason="Failed", message=text, is_warning=True, container=name)


def _image(pod: Pod, status: ContainerStatus, message: str) -> str:
    """The one that is waited for: the container's own, or that of a volume."""
    volumes = pod.spec.volumes if pod.spec else ()
    references = (each.image.reference for each in volumes if each.image)
    return next((each for each in references if each and each in message), status.image)


def _waits_for(status: ContainerStatus | None) -> tuple[str, str]:
    waiting = status.state.waiting if status and status.state else None
    return ((waiting.reason or "", waiting.message or "")) if waiting else ("", "")


def _containers(status: PodStatus) -> tuple[ContainerStatus, ...]:
    return (*status.init_container_statuses, *status.container_statuses)


def of_action(action: Action) -> Happening | None:
    if isinstance(action, BeginToStop):
        return Happening(reason="Killing", message=action.why, container=action.container)
    return None


def present(container: str, image: str) -> Happening:
    text = f'Container image "{image}" already present on machine'
    return Happening(reason="Pulled", message=text, container=container)


def pulling(container: str, image: str) -> Happening:
    return Happening(reason="Pulling", message=f'Pulling image "{image}"', container=container)


def pulled(container: str, image: str, took_s: float, size_bytes: int = 0) -> Happening:
    """The size is told where it is known."""
    took = f"{took_s * 1000:.0f}ms" if took_s < 1 else f"{took_s:.3f}".rstrip("0").rstrip(".") + "s"
    text = f'Successfully pulled image "{image}" in {took} ({took} including waiting).'
    if size_bytes:
        text += f" Image size: {size_bytes} bytes."
    return Happening(reason="Pulled", message=text, container=container)


def created(container: str) -> Happening:
    return Happening(
        reason="Created", message=f"Created container: {container}", container=container
    )


def started(container: str) -> Happening:
    return Happening(
        reason="Started", message=f"Started container {container}", container=container
    )


def of_answer(container: str, kind: str, answer: Answer) -> Happening:
    """One that is bad, or has a warning; `kind` as in Kubernetes' events: `Liveness`, `Readiness`, `Startup`."""
    reason, verb = ("ProbeWarning", "warning") if answer.is_good else ("Unhealthy", "failed")
    text = f"{kind} probe {verb}: {answer.said}"
    return Happening(reason=reason, message=text, is_warning=True, container=container)


def post_start_failed(container: str) -> Happening:
    return Happening(
        reason="FailedPostStartHook",
        message="PostStartHook failed",
        is_warning=True,
        container=container,
    )


def pre_stop_failed(container: str) -> Happening:
    return Happening(
        reason="FailedPreStopHook",
        message="PreStopHook failed",
        is_warning=True,
        container=container,
    )


def network_failed(why: str) -> Happening:
    text = f"Failed to create pod sandbox: {why}"
    return Happening(reason="FailedCreatePodSandBox", message=text, is_warning=True)


def deadline_exceeded() -> Happening:
    text = "Pod was active on the node longer than the specified deadline"
    return Happening(reason="DeadlineExceeded", message=text)


def evicted(why: str) -> Happening:
    return Happening(reason="Evicted", message=why, is_warning=True)
