"""Whether somebody is there: what a Service and its endpoints say, before anybody is asked.

Reasons and messages are Kubernetes' own: people and tools look for them.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from kubevirt.apiserver.aggregation.registration import Condition, ServiceRef
from kubevirt.apiserver.registry.rules import api_services

Object = Mapping[str, Any]

PASSED: Final = Condition(status="True", reason="Passed", message="all checks passed")
LOCAL: Final = msgspec.convert(api_services.LOCAL, Condition)


def missing(ref: ServiceRef, service: Object | None, slices: Sequence[Object]) -> Condition | None:
    """What keeps everybody from reaching it; None if it is worth a try. `slices` are those of the
    Service.
    """
    named = f'service/{ref.name} in "{ref.namespace}"'
    if service is None:
        return _away("ServiceNotFound", f"{named} is not present")
    spec = service.get("spec") or {}
    if (spec.get("type") or "ClusterIP") != "ClusterIP":
        return None  # nobody here knows where those lead
    port = next((each for each in spec.get("ports") or () if each.get("port") == ref.port), None)
    if port is None:
        return _away("ServicePortError", f"{named} is not listening on port {ref.port}")
    if not slices:
        return _away("EndpointsNotFound", f"cannot find endpointslices for {named}")
    name = port.get("name") or ""
    if not any(_has_endpoint(each, name) for each in slices):
        words = f'endpointslices for {named} have no addresses with port name "{name}"'
        return _away("MissingEndpoints", words)
    return None


def unanswered(words: str) -> Condition:
    return _away("FailedDiscoveryCheck", words)


def _away(reason: str, message: str) -> Condition:
    return Condition(status="False", reason=reason, message=message)


def _has_endpoint(slice_: Object, port: str) -> bool:
    endpoints = slice_.get("endpoints") or ()
    if all((each.get("conditions") or {}).get("ready") is False for each in endpoints):
        return False
    ports = slice_.get("ports") or ()
    return any(each.get("name", "") == port and each.get("port") for each in ports)


# Conditions in an object


def changed(object_: Object, condition: Condition, now: str) -> dict[str, Any] | None:
    """The object with the condition in it; None if it says so already. The time is that at which the
    status became another.
    """
    status = object_.get("status") or {}
    conditions = list(status.get("conditions") or ())
    said = {
        "type": condition.type,
        "status": condition.status,
        "reason": condition.reason,
        "message": condition.message,
    }
    place = next(
        (i for i, each in enumerate(conditions) if each.get("type") == condition.type), None
    )
    if place is None:
        conditions.append({**said, "lastTransitionTime": now})
    else:
        before = conditions[place]
        is_same_status = before.get("status") == condition.status
        since = before.get("lastTransitionTime", now) if is_same_status else now
        conditions[place] = {**said, "lastTransitionTime": since}
        if conditions[place] == before:
            return None
    return {**object_, "status": {**status, "conditions": conditions}}
