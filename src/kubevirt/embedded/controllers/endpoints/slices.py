"""The EndpointSlices of a Service: what should be there, and what to write for it. Pure.

Pods whose ports differ stand in different slices, and none holds more than a hundred. Names follow from what
a slice is for, so that making one twice is making it once.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from kubevirt.api.core.service import Endpoint, EndpointConditions, EndpointPort
from kubevirt.api.meta import ObjectMeta, OwnerReference
from kubevirt.embedded.controllers.endpoints.behind import Backend, Target
from kubevirt.embedded.controllers.endpoints.objects import EndpointSlice, Service
from kubevirt.embedded.network.labels import HEADLESS, MANAGED_BY, SERVICE_NAME

MOST: Final = 100
CONTROLLER: Final = "endpointslice-controller.k8s.io"
_LONGEST_NAME: Final = 253
_LETTERS: Final = "bcdfghjklmnpqrstvwxz2456789"
"""Those that Kubernetes makes names with: nothing rude comes of them."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    create: Sequence[EndpointSlice] = ()
    patch: Mapping[str, Mapping[str, Any]] = {}
    """By name."""
    delete: Sequence[str] = ()


def plan(service: Service, backends: Sequence[Backend], present: Iterable[EndpointSlice]) -> Plan:
    """`present` are those of this Service that are ours."""
    wanted = {each.metadata.name: each for each in slices(service, backends)}
    found = {each.metadata.name: each for each in present}
    patches = {
        name: patch
        for name, each in wanted.items()
        if name in found and (patch := _difference(each, found[name]))
    }
    return Plan(
        create=[each for name, each in wanted.items() if name not in found],
        patch=patches,
        delete=[name for name in found if name not in wanted],
    )


def slices(service: Service, backends: Sequence[Backend]) -> list[EndpointSlice]:
    """At least one, which may be empty."""
    by_ports: dict[tuple[Target, ...], list[Backend]] = {}
    for each in backends:
        by_ports.setdefault(each.targets, []).append(each)
    made = [
        _slice(service, targets, some[at : at + MOST], at // MOST)
        for targets, some in by_ports.items()
        for at in range(0, len(some), MOST)
    ]
    return made or [_slice(service, (), [], 0)]


def _slice(
    service: Service, targets: tuple[Target, ...], backends: Sequence[Backend], number: int
) -> EndpointSlice:
    metadata = service.metadata
    return EndpointSlice(
        metadata=ObjectMeta(
            name=_name(service, targets, number),
            namespace=metadata.namespace,
            labels=_labels(service),
            owner_references=(
                OwnerReference(
                    api_version="v1",
                    kind="Service",
                    name=metadata.name,
                    uid=metadata.uid,
                    controller=True,
                    block_owner_deletion=True,
                ),
            ),
        ),
        address_type="IPv4",
        endpoints=tuple(map(_endpoint, backends)),
        ports=tuple(
            EndpointPort(
                name=each.name,
                port=each.port,
                protocol=each.protocol,
                app_protocol=each.app_protocol,
            )
            for each in targets
        ),
    )


def _endpoint(backend: Backend) -> Endpoint:
    return Endpoint(
        addresses=(backend.address,),
        conditions=EndpointConditions(
            ready=backend.is_ready,
            serving=backend.is_serving,
            terminating=backend.is_terminating,
        ),
        hostname=backend.hostname,
        node_name=backend.node,
        target_ref=backend.reference,
    )


def _labels(service: Service) -> dict[str, str]:
    own = {SERVICE_NAME: service.metadata.name, MANAGED_BY: CONTROLLER}
    labels = {**service.metadata.labels, **own}
    if service.is_headless:
        labels[HEADLESS] = ""
    else:
        labels.pop(HEADLESS, None)
    return labels


def _difference(wanted: EndpointSlice, found: EndpointSlice) -> Mapping[str, Any]:
    """A merge patch; empty if there is none."""
    patch: dict[str, Any] = {}
    if (wanted.endpoints or ()) != (found.endpoints or ()):
        patch["endpoints"] = wanted.endpoints
    if (wanted.ports or ()) != (found.ports or ()):
        patch["ports"] = wanted.ports
    if dict(wanted.metadata.labels) != dict(found.metadata.labels):
        gone = {key: None for key in found.metadata.labels if key not in wanted.metadata.labels}
        patch["metadata"] = {"labels": {**wanted.metadata.labels, **gone}}
    return patch


def _name(service: Service, targets: tuple[Target, ...], number: int) -> str:
    """For a Service of that UID: what another one by the name left is not taken for its own."""
    whole = f"{service.metadata.uid} {[tuple(each) for each in targets]} {number}"
    digest = int.from_bytes(hashlib.sha256(whole.encode()).digest()[:8])
    letters = ""
    for _ in range(5):
        digest, place = divmod(digest, len(_LETTERS))
        letters += _LETTERS[place]
    return f"{service.metadata.name[: _LONGEST_NAME - 6]}-{letters}"
