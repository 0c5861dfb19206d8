"""Pods, and what is seen of them, in few words."""

from datetime import datetime, timedelta
from typing import Any

import msgspec

from kubevirt.api.core.pod import ContainerStatus, Pod, PodCondition, PodStatus
from kubevirt.base.virtual_time import EPOCH
from kubevirt.embedded.node.seen import ContainerSeen, Ended, Hook, PodSeen, Probed, Tried


def at(seconds: float) -> datetime:
    return EPOCH + timedelta(seconds=seconds)


def container(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "image": "tool", **more}


def a_pod(
    *containers: dict[str, Any],
    inits: tuple[dict[str, Any], ...] = (),
    status: PodStatus | None = None,
    metadata: dict[str, Any] | None = None,
    **spec: Any,
) -> Pod:
    pod = msgspec.convert(
        {
            "metadata": {
                "name": "web",
                "namespace": "home",
                "uid": "u1",
                "generation": 1,
                **(metadata or {}),
            },
            "spec": {
                "containers": list(containers) or [container("main")],
                "initContainers": list(inits),
                **spec,
            },
        },
        Pod,
    )
    return msgspec.structs.replace(pod, status=status) if status else pod


def running(number: int = 0, since: float = 0, **more: Any) -> Tried:
    """With its probes, if it has any, content."""
    probed = more.pop("probed", Probed(has_started=True, is_ready=True))
    return Tried(number=number, id=f"run://{number}", started_at=at(since), probed=probed, **more)


def ended(code: int = 0, number: int = 0, since: float = 0, until: float = 1, **how: Any) -> Tried:
    ending = Ended(code=code, at=at(until), **how)
    return Tried(
        number=number,
        id=f"run://{number}",
        started_at=at(since),
        ended=ending,
        post_start=Hook.DONE,
    )


def ready_pod(**containers: ContainerSeen | Tried | tuple[Tried, ...]) -> PodSeen:
    """With volumes and network, images at hand for whatever comes next."""
    return PodSeen(
        has_volumes=True,
        addresses=("10.0.0.5",),
        host_addresses=("192.0.2.1",),
        containers={name: _container(each) for name, each in containers.items()},
    )


def _container(given: ContainerSeen | Tried | tuple[Tried, ...]) -> ContainerSeen:
    if isinstance(given, ContainerSeen):
        return given
    tries = given if isinstance(given, tuple) else (given,)
    return ContainerSeen(tries=tries, image_at_hand_for=tries[-1].number + 1 if tries else 0)


def never_tried() -> ContainerSeen:
    return ContainerSeen(image_at_hand_for=0)


def condition(status: PodStatus, name: str) -> PodCondition:
    return next(each for each in status.conditions if each.type == name)


def status_of(status: PodStatus, name: str) -> ContainerStatus:
    found = (*status.init_container_statuses, *status.container_statuses)
    return next(each for each in found if each.name == name)
