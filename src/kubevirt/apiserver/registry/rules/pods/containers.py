"""The containers of a pod: those that run, those that run before, and those that look at them."""

from typing import Final

import msgspec

from kubevirt.apiserver.registry.rules import checks
from kubevirt.apiserver.registry.rules.checks import PROTOCOLS, Errors
from kubevirt.apiserver.registry.rules.pods import environment, probes, resources, security
from kubevirt.apiserver.registry.rules.pods import volumes as files
from kubevirt.apiserver.registry.rules.rules import Object
from kubevirt.apiserver.schema import names
from kubevirt.apiserver.schema.field_errors import (
    duplicate,
    forbidden,
    invalid,
    not_found,
    required,
)

_MESSAGES: Final = ("File", "FallbackToLogsOnError")
_PULLS: Final = ("Always", "IfNotPresent", "Never")
_RESIZED: Final = ("cpu", "memory")
_RESIZING: Final = ("NotRequired", "RestartContainer")
_OF_RUNNING: Final = ("lifecycle", "livenessProbe", "readinessProbe", "startupProbe")
_NOT_OF_LOOKING: Final = ("ports", "resources", *_OF_RUNNING)
_ON_EPHEMERAL: Final = "cannot be set for an Ephemeral Container"


class Surroundings(msgspec.Struct, frozen=True, kw_only=True):
    """What a container may refer to, and what of the pod decides about it."""

    volumes: files.Volumes
    claims: set[str]
    """Names of the pod's resource claims."""
    grace_s: int | None
    restarts: str
    """The pod's restartPolicy."""
    uses_host_users: bool
    has_os: bool


def running(spec: Object, path: str, around: Surroundings) -> Errors:
    containers = spec.get("containers") or []
    if not containers:
        yield required(path)
        return
    seen: set[str] = set()
    for at, container in enumerate(containers):
        field, name = f"{path}[{at}]", container.get("name", "")
        yield from _container(container, field, around)
        if name in seen:
            yield duplicate(f"{field}.name", name)
        seen.add(name)
        yield from _life(container, field, around)
        if container.get("restartPolicy") is not None:
            yield forbidden(f"{field}.restartPolicy", "may not be set for non-init containers")
    yield from _host_ports(containers, path)


def before(spec: Object, path: str, around: Surroundings) -> Errors:
    """Init containers, of which those that always restart live as long as the pod: sidecars."""
    seen = {each.get("name", "") for each in spec.get("containers") or []}
    for at, container in enumerate(spec.get("initContainers") or []):
        field, name = f"{path}[{at}]", container.get("name", "")
        yield from _container(container, field, around)
        policy = container.get("restartPolicy")
        if policy is not None:
            yield from checks.one_of(f"{field}.restartPolicy", policy, ("Always",))
        if name in seen:
            yield duplicate(f"{field}.name", name)
        elif name:
            seen.add(name)
        yield from _host_ports([container], path)
        if policy == "Always":
            yield from _life(container, field, around)
            continue
        for part in _OF_RUNNING:
            if container.get(part) is not None:
                words = "may not be set for init containers without restartPolicy=Always"
                yield forbidden(f"{field}.{part}", words)


def looking(spec: Object, path: str, around: Surroundings) -> Errors:
    """Ephemeral containers, which somebody puts into a running pod to look around."""
    others = {
        each.get("name", "")
        for place in ("containers", "initContainers")
        for each in spec.get(place) or []
    }
    seen = set(others)
    for at, container in enumerate(spec.get("ephemeralContainers") or []):
        field, name = f"{path}[{at}]", container.get("name", "")
        yield from _container(container, field, around)
        yield from unpadded(container, field)
        if name in seen:
            yield duplicate(f"{field}.name", name)
        seen.add(name)
        target = container.get("targetContainerName")
        if target and target not in others:
            yield not_found(f"{field}.targetContainerName", target)
        for part in _NOT_OF_LOOKING:
            if container.get(part):
                yield forbidden(f"{field}.{part}", _ON_EPHEMERAL)
        for place, mount in enumerate(container.get("volumeMounts") or []):
            for part in ("subPath", "subPathExpr"):
                if mount.get(part):
                    yield forbidden(f"{field}.volumeMounts[{place}].{part}", _ON_EPHEMERAL)


def unpadded(container: Object, path: str) -> Errors:
    image = container.get("image", "")
    if image != image.strip():
        yield invalid(f"{path}.image", image, "must not have leading or trailing whitespace")


def _container(container: Object, path: str, around: Surroundings) -> Errors:
    """What is asked of every container."""
    if name := container.get("name"):
        yield from checks.named(f"{path}.name", name, names.label)
    else:
        yield required(f"{path}.name")
    if not container.get("image"):
        yield required(f"{path}.image")
    message = container.get("terminationMessagePolicy", "")
    yield from checks.one_of(f"{path}.terminationMessagePolicy", message, _MESSAGES, needed="")
    yield from _ports(container.get("ports") or [], f"{path}.ports")
    yield from environment.variables(container, path)
    yield from files.mounts(container, f"{path}.volumeMounts", around.volumes)
    yield from files.devices(container, f"{path}.volumeDevices", around.volumes)
    pull = container.get("imagePullPolicy", "")
    yield from checks.one_of(f"{path}.imagePullPolicy", pull, _PULLS, needed="")
    asked = container.get("resources") or {}
    yield from resources.requirements(
        asked, f"{path}.resources", around.claims, resources.of_container
    )
    yield from _resizing(container.get("resizePolicy") or [], f"{path}.resizePolicy", around)
    yield from security.of_container(
        container.get("securityContext"),
        f"{path}.securityContext",
        uses_host_users=around.uses_host_users,
    )


def _life(container: Object, path: str, around: Surroundings) -> Errors:
    if (said := container.get("lifecycle")) is not None:
        yield from probes.lifecycle(
            said, f"{path}.lifecycle", grace_s=around.grace_s, has_os=around.has_os
        )
    yield from probes.probes(container, path)


def _ports(ports: list[Object], path: str) -> Errors:
    seen: set[str] = set()
    for at, port in enumerate(ports):
        field = f"{path}[{at}]"
        if name := port.get("name"):
            wrong = list(checks.named(f"{field}.name", name, checks.port_name))
            yield from wrong
            if not wrong and name in seen:
                yield duplicate(f"{field}.name", name)
            seen.add(name)
        number = port.get("containerPort", 0)
        if number:
            yield from checks.within(f"{field}.containerPort", number, 1, 65535)
        else:
            yield required(f"{field}.containerPort")
        if on_host := port.get("hostPort"):
            yield from checks.within(f"{field}.hostPort", on_host, 1, 65535)
        protocol = port.get("protocol", "")
        yield from checks.one_of(f"{field}.protocol", protocol, PROTOCOLS, needed="")


def _host_ports(containers: list[Object], path: str) -> Errors:
    """One port of the host is for one."""
    taken: set[str] = set()
    for at, container in enumerate(containers):
        for place, port in enumerate(container.get("ports") or []):
            if not (number := port.get("hostPort")):
                continue
            key = f"{port.get('protocol', '')}/{port.get('hostIP', '')}/{number}"
            if key in taken:
                yield duplicate(f"{path}[{at}].ports[{place}].hostPort", key)
            taken.add(key)


def _resizing(policies: list[Object], path: str, around: Surroundings) -> Errors:
    seen: set[str] = set()
    for at, policy in enumerate(policies):
        resource, restart = policy.get("resourceName", ""), policy.get("restartPolicy", "")
        if resource in seen:
            yield duplicate(f"{path}[{at}]", resource)
        seen.add(resource)
        yield from checks.one_of(path, resource, _RESIZED, needed="")
        yield from checks.one_of(path, restart, _RESIZING, needed="")
        if around.restarts == "Never" and restart != "NotRequired":
            words = "must be 'NotRequired' when `restartPolicy` is 'Never'"
            yield invalid(path, restart, words)
