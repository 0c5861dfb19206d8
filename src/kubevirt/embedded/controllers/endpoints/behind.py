"""Which pods are behind a Service, how they are, and which of their ports it means. Pure."""

from collections.abc import Iterable, Iterator
from ipaddress import IPv4Address
from typing import NamedTuple

import msgspec

from kubevirt.api.core.references import ObjectReference
from kubevirt.base.addresses import is_ipv4
from kubevirt.embedded.controllers.endpoints.objects import (
    ENDED,
    Container,
    Pod,
    Service,
    ServicePort,
)


class Target(NamedTuple):
    """A port of a Service, as it is in a pod."""

    name: str
    protocol: str
    port: int
    app_protocol: str | None


class Backend(msgspec.Struct, frozen=True, kw_only=True):
    """A pod, as a Service sees it."""

    address: str
    is_serving: bool
    is_terminating: bool
    is_published: bool
    """Whether it is to have traffic, ready or not."""
    targets: tuple[Target, ...]
    reference: ObjectReference
    node: str | None = None
    hostname: str | None = None

    @property
    def is_ready(self) -> bool:
        return self.is_published or (self.is_serving and not self.is_terminating)


def behind(service: Service, pods: Iterable[Pod]) -> list[Backend]:
    """By their addresses. A pod without one, or one that has ended, is behind nothing."""
    found = [
        _backend(service, pod, address)
        for pod in pods
        if service.selects(pod.metadata.labels)
        and pod.status.phase not in ENDED
        and (address := _address(pod))
    ]
    return sorted(found, key=lambda each: int(IPv4Address(each.address)))


def _backend(service: Service, pod: Pod, address: str) -> Backend:
    metadata = pod.metadata
    is_named = bool(pod.spec.hostname) and pod.spec.subdomain == service.metadata.name
    return Backend(
        address=address,
        is_serving=_is_ready(pod),
        is_terminating=metadata.deletion_timestamp is not None,
        is_published=bool(service.spec.publish_not_ready_addresses),
        targets=tuple(_targets(service, pod)),
        reference=ObjectReference(
            kind="Pod", namespace=metadata.namespace, name=metadata.name, uid=metadata.uid
        ),
        node=pod.spec.node_name or None,
        hostname=pod.spec.hostname if is_named else None,
    )


def _address(pod: Pod) -> str:
    """Of IPv4: there is no other here."""
    own = [pod.status.pod_ip or "", *(each.ip for each in pod.status.pod_i_ps or ())]
    return next((each for each in own if is_ipv4(each)), "")


def _is_ready(pod: Pod) -> bool:
    return any(
        each.type == "Ready" and each.status == "True" for each in pod.status.conditions or ()
    )


def _targets(service: Service, pod: Pod) -> Iterator[Target]:
    for port in service.spec.ports or ():
        number = _number(port, pod)
        if number is not None:
            yield Target(port.name or "", port.protocol or "TCP", number, port.app_protocol)


def _number(port: ServicePort, pod: Pod) -> int | None:
    """None for a name that no container of the pod has."""
    wanted = port.target_port
    if not isinstance(wanted, str):
        return wanted or port.port
    return next(
        (
            each.container_port
            for container in _containers(pod)
            for each in container.ports or ()
            if each.name == wanted and (each.protocol or "TCP") == (port.protocol or "TCP")
        ),
        None,
    )


def _containers(pod: Pod) -> Iterator[Container]:
    yield from pod.spec.containers
    yield from (each for each in pod.spec.init_containers or () if each.restart_policy == "Always")
