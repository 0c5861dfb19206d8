"""Addresses that are written in another way than everybody writes them, and what else concerns Services."""

from collections.abc import Iterable, Iterator
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Final

from kubevirt.apiserver.registry.rules.rules import Object
from kubevirt.apiserver.schema.gotext import quoted

_HINTS: Final = "service.kubernetes.io/topology-aware-hints"
_MODE: Final = "service.kubernetes.io/topology-mode"
_FOLLOWERS: Final = {
    "endpoints.kubernetes.io/managed-by": ("endpoint-controller",),
    "endpointslice.kubernetes.io/managed-by": (
        "endpointslice-controller.k8s.io",
        "endpointslicemirroring-controller.k8s.io",
    ),
}
"""Controllers, whose addresses are known to be well written."""
_ELSEWHERE: Final = '"ExternalName"'


def of_address(text: str, path: str) -> Iterator[str]:
    try:
        address = ip_address(text)
    except ValueError:  # of which its kind has spoken
        return
    if not isinstance(address, IPv6Address):
        return
    if address.ipv4_mapped is not None:
        yield (
            f"{path}: non-standard IP address {quoted(text)} will be considered invalid in a future"
            f" Kubernetes release: use {quoted(str(address.ipv4_mapped))}"
        )
    elif str(address) != text:
        shown = f"IPv6 address {quoted(text)} should be in RFC 5952 canonical format"
        yield f"{path}: {shown} ({quoted(str(address))})"


def of_block(text: str, path: str) -> Iterator[str]:
    try:
        block = ip_network(text, strict=False)
        address = ip_address(text.partition("/")[0])
    except ValueError:
        return
    if address != block.network_address:
        alone = f"{address}/{block.max_prefixlen}"
        shown = f"CIDR value {quoted(text)} is ambiguous in this context"
        yield f"{path}: {shown} (should be {quoted(str(block))} or {quoted(alone)}?)"
    elif block.version == 6 and str(block) != text:
        shown = f"IPv6 CIDR value {quoted(text)} should be in RFC 5952 canonical format"
        yield f"{path}: {shown} ({quoted(str(block))})"


def of_status(pod: Object) -> Iterator[str]:
    status = pod.get("status") or {}
    for field in ("podIPs", "hostIPs"):
        for at, each in enumerate(status.get(field) or ()):
            yield from of_address(each.get("ip", ""), f"status.{field}[{at}].ip")


def of_service(new: Object, _: Object | None) -> Iterator[str]:
    spec = new["spec"]
    if _HINTS in (new["metadata"].get("annotations") or {}):
        yield f"annotation {_HINTS} is deprecated, please use {_MODE} instead"
    if spec.get("clusterIP") not in (None, "", "None"):
        yield from _of_all(spec.get("clusterIPs"), "spec.clusterIPs")
    yield from _of_headless(spec)
    yield from _of_all(spec.get("externalIPs"), "spec.externalIPs")
    yield from of_address(spec.get("loadBalancerIP") or "", "spec.loadBalancerIP")
    for at, block in enumerate(spec.get("loadBalancerSourceRanges") or ()):
        yield from of_block(block, f"spec.loadBalancerSourceRanges[{at}]")
    is_elsewhere = spec.get("type") == "ExternalName"
    if is_elsewhere and spec.get("externalIPs"):
        yield f"spec.externalIPs is ignored when spec.type is {_ELSEWHERE}"
    if not is_elsewhere and spec.get("externalName"):
        yield f"spec.externalName is ignored when spec.type is not {_ELSEWHERE}"


def _of_headless(spec: Object) -> Iterator[str]:
    if spec.get("type") != "ClusterIP" or spec.get("clusterIP") != "None":
        return
    if spec.get("loadBalancerIP"):
        yield "spec.loadBalancerIP is ignored for headless services"
    if spec.get("externalIPs"):
        yield "spec.externalIPs is ignored for headless services"
    if spec.get("sessionAffinity") != "None":
        yield "spec.SessionAffinity is ignored for headless services"


def of_endpoints(new: Object, _: Object | None) -> Iterator[str]:
    if _is_by_a_follower(new):
        return
    for at, subset in enumerate(new.get("subsets") or ()):
        for field in ("addresses", "notReadyAddresses"):
            for index, each in enumerate(subset.get(field) or ()):
                yield from of_address(each.get("ip", ""), f"subsets[{at}].{field}[{index}].ip")


def of_slice(new: Object, old: Object | None) -> Iterator[str]:
    if old is None and new.get("addressType") == "FQDN":
        yield "spec.addressType: FQDN endpoints are deprecated"
    if _is_by_a_follower(new):
        return
    for at, endpoint in enumerate(new.get("endpoints") or ()):
        yield from _of_all(endpoint.get("addresses"), f"endpoints[{at}].addresses")


def _of_all(texts: Iterable[str] | None, path: str) -> Iterator[str]:
    for at, text in enumerate(texts or ()):
        yield from of_address(text, f"{path}[{at}]")


def _is_by_a_follower(object_: Object) -> bool:
    labels = object_["metadata"].get("labels") or {}
    return any(labels.get(label) in who for label, who in _FOLLOWERS.items())
