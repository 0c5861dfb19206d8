"""The Endpoints of a Service: the older way to say who is behind it, one object for all. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from kubevirt.embedded.controllers.endpoints.behind import Backend, Target
from kubevirt.embedded.controllers.endpoints.objects import (
    Address,
    Endpoints,
    Metadata,
    Port,
    Service,
    Subset,
)
from kubevirt.embedded.network.labels import HEADLESS

MOST: Final = 1000
"""Addresses; Kubernetes leaves out the rest, too."""
MANAGED_BY: Final = "endpoints.kubernetes.io/managed-by"
CONTROLLER: Final = "endpoint-controller"


def endpoints(service: Service, backends: Sequence[Backend]) -> Endpoints:
    metadata = service.metadata
    return Endpoints(
        metadata=Metadata(
            name=metadata.name, namespace=metadata.namespace, labels=_labels(service)
        ),
        subsets=tuple(_subsets(service, backends)) or None,
    )


def difference(wanted: Endpoints, found: Endpoints) -> Mapping[str, Any]:
    """A merge patch; empty if there is none."""
    patch: dict[str, Any] = {}
    if (wanted.subsets or ()) != (found.subsets or ()):
        patch["subsets"] = wanted.subsets
    if dict(wanted.metadata.labels) != dict(found.metadata.labels):
        gone = {key: None for key in found.metadata.labels if key not in wanted.metadata.labels}
        patch["metadata"] = {"labels": {**wanted.metadata.labels, **gone}}
    return patch


def is_ours(found: Endpoints) -> bool:
    return found.metadata.labels.get(MANAGED_BY) == CONTROLLER


def _subsets(service: Service, backends: Sequence[Backend]) -> list[Subset]:
    by_ports: dict[tuple[Target, ...], list[Backend]] = {}
    for each in backends[:MOST]:
        is_seen = each.is_published or not each.is_terminating
        if is_seen and (each.targets or (service.is_headless and not service.spec.ports)):
            by_ports.setdefault(each.targets, []).append(each)
    return [
        Subset(
            addresses=tuple(_address(each) for each in some if each.is_ready),
            not_ready_addresses=tuple(_address(each) for each in some if not each.is_ready),
            ports=tuple(_port(each) for each in targets),
        )
        for targets, some in by_ports.items()
    ]


def _address(backend: Backend) -> Address:
    return Address(
        ip=backend.address,
        hostname=backend.hostname,
        node_name=backend.node,
        target_ref=backend.reference,
    )


def _port(target: Target) -> Port:
    return Port(
        name=target.name or None,
        port=target.port,
        protocol=target.protocol,
        app_protocol=target.app_protocol,
    )


def _labels(service: Service) -> dict[str, str]:
    labels = {**service.metadata.labels, MANAGED_BY: CONTROLLER}
    if service.is_headless:
        labels[HEADLESS] = ""
    else:
        labels.pop(HEADLESS, None)
    return labels
