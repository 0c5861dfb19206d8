"""Pods of a home as tests make them, wait for them and listen to them."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from tests.component.embedded.process.conftest import Virtctl

from kubevirt.api.core.pod import ContainerStatus, Pod
from kubevirt.api.resource import Resource
from kubevirt.api.scheme import PODS
from kubevirt.kube.access import kubeconfig
from kubevirt.kube.client import Client

IMAGE = "kubevirt.io/built-in"
LIMIT_S = 60.0
COUNTING = (
    'n=0; trap "echo bye; exit 0" TERM; while :; do echo $n; n=$((n+1)); sleep 0.1 & wait $!; done'
)
EVENTS: Resource[dict[str, Any]] = Resource("", "v1", "events", "Event", True, dict[str, Any])


def pod(name: str, script: str, *, policy: str = "Always", **spec: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": name, "labels": {"app": name}},
        "spec": {
            "containers": [container("main", script)],
            "restartPolicy": policy,
            "terminationGracePeriodSeconds": 5,
            **spec,
        },
    }


def container(name: str, script: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "image": IMAGE, "command": ["sh", "-c", script], **more}


def api(virtctl: Virtctl) -> Client:
    return Client(kubeconfig.load([virtctl.home.kubeconfig], {}))


async def ready(client: Client, name: str) -> Pod:
    return await until(client, name, is_ready)


def is_ready(found: Pod) -> bool:
    return any(each.type == "Ready" and each.status == "True" for each in found.status.conditions)


def status_of(found: Pod, name: str = "main") -> ContainerStatus:
    statuses = (*found.status.init_container_statuses, *found.status.container_statuses)
    return next(each for each in statuses if each.name == name)


def restarts(found: Pod, name: str = "main") -> int:
    """Less than none before there is a status."""
    return status_of(found, name).restart_count if found.status.container_statuses else -1


async def until(client: Client, name: str, holds: Callable[[Pod], bool]) -> Pod:
    """Watches it: every state is seen, also those that pass."""
    last: object = None
    selector = f"metadata.name={name}"
    try:
        async with asyncio.timeout(LIMIT_S):
            watched = client.watch(PODS, "default", resource_version=None, field_selector=selector)
            async for event in watched:
                last = event.object
                if isinstance(last, Pod) and holds(last):
                    return last
    except TimeoutError:
        pass
    raise AssertionError(f"it never came to that: {last}")


async def comes_true(holds: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(LIMIT_S):
        while not await holds():  # noqa: ASYNC110  # nothing tells of it
            await asyncio.sleep(0.05)


async def told(client: Client, name: str, reason: str) -> str:
    """The message of the first event about a pod that has this reason, as `kubectl describe` shows it."""
    selector = f"involvedObject.name={name},reason={reason}"
    async with asyncio.timeout(LIMIT_S):
        watched = client.watch(EVENTS, "default", resource_version=None, field_selector=selector)
        async for event in watched:
            if isinstance(event.object, dict):
                return str(event.object["message"])
    raise AssertionError("the watch ended")


async def log(client: Client, name: str, **options: Any) -> list[str]:
    pieces = [piece async for piece in client.log(name, "default", **options)]
    return b"".join(pieces).decode().splitlines()


async def said_in(client: Client, name: str, *words: str) -> bytes:
    async with client.exec(name, "default", words) as process:
        return b"".join([data async for _, data in process.output()])
