"""Which try of a container a request is about, and the words for those that are about none.

People and programs know the words of kubelets, so these are theirs.
"""

from typing import Final

from kubevirt.api.core.container import Container
from kubevirt.api.core.pod import ContainerState, ContainerStatus, Pod
from kubevirt.embedded.node.endpoint.finding import Located
from kubevirt.embedded.node.endpoint.refusals import NotServed
from kubevirt.embedded.runtime.attempt import Attempt

_PENDING: Final = {
    "ErrImagePull": "image can't be pulled",
    "ImagePullBackOff": "trying and failing to pull image",
}


def for_log(located: Located | None, pod: str, container: str, *, is_previous: bool) -> Attempt:
    if located is None:
        raise NotServed(404, f'pod "{pod}" not found')
    if container not in _containers(located.pod):
        raise NotServed(404, f'container "{container}" not found in pod "{pod}"')
    state = _state(located.pod, container)
    if is_previous:
        return _previous(located, state, pod, container)
    if located.attempts:
        return located.attempts[-1]
    if state and state.terminated:
        raise NotServed(400, f'container "{container}" in pod "{pod}" is terminated')
    raise NotServed(400, _waiting(state, pod, container))


def for_command(located: Located | None, container: str) -> Attempt:
    """The one that runs."""
    if located is None:
        raise NotServed(404, "pod does not exist")
    if not located.attempts or not located.attempts[-1].is_running:
        raise NotServed(500, f'container not found ("{container}")')
    return located.attempts[-1]


def for_attachment(located: Located | None, container: str, *, has_input: bool) -> Attempt:
    """The one that runs. Whoever comes with keys for a terminal is told that there is none."""
    attempt = for_command(located, container)
    own = _spec(located.pod, container) if located else None
    if has_input and own and own.stdin and own.tty:
        raise NotServed(
            501,
            f'container "{container}" has no terminal here, whatever its pod asks for;'
            " use exec, or attach without input",
        )
    return attempt


def has_input_once(located: Located | None, container: str) -> bool:
    """Whether the input of a container ends with the first who attaches to it."""
    own = _spec(located.pod, container) if located else None
    return bool(own and own.stdin_once)


def _spec(pod: Pod, container: str) -> Container | None:
    known = (*pod.spec.init_containers, *pod.spec.containers) if pod.spec else ()
    return next((each for each in known if each.name == container), None)


def _previous(located: Located, state: ContainerState | None, pod: str, container: str) -> Attempt:
    """While a container waits for its next try, the last one is the one before."""
    waits = state is not None and state.waiting is not None
    before = located.attempts if waits else located.attempts[:-1]
    if not before:
        raise NotServed(
            400, f'previous terminated container "{container}" in pod "{pod}" not found'
        )
    return before[-1]


def _waiting(state: ContainerState | None, pod: str, container: str) -> str:
    about = f'container "{container}" in pod "{pod}"'
    reason = state.waiting.reason if state and state.waiting else None
    if reason:
        return f"{about} is waiting to start: {_PENDING.get(reason, reason)}"
    if state is None:
        return f"{about} is not available"
    return f"{about} is waiting to start - no logs yet"


def _containers(pod: Pod) -> set[str]:
    spec = pod.spec
    return {each.name for each in (*spec.init_containers, *spec.containers)} if spec else set()


def _state(pod: Pod, container: str) -> ContainerState | None:
    known: tuple[ContainerStatus, ...] = (
        *pod.status.init_container_statuses,
        *pod.status.container_statuses,
    )
    return next((each.state for each in known if each.name == container), None)
