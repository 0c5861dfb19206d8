"""What is taken, and yet hardly meant: the warnings that Kubernetes gives with a written object.

`of_new` and `of_change` are asked once an object is known to be right. A file each for pods, for what has
addresses, for storage; small ones are here.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from kubevirt.apiserver.kinds.kind import Kind
from kubevirt.apiserver.registry.rules.rules import Object
from kubevirt.apiserver.registry.warnings import addresses, definitions, pods, secrets, storage

_MOUNTABLE: Final = "kubernetes.io/enforce-mountable-secrets"
_UNUSED_ID: Final = "spec.externalID: this field is deprecated, and is unused by Kubernetes"

Warner = Callable[[Object, Object | None], Iterable[str]]
"""Of the new object and the old one, if there was one."""


def of_new(kind: Kind, new: Object) -> list[str]:
    warner = _OF_KINDS.get((kind.group, kind.names.plural))
    return list(warner(new, None)) if warner else []


def of_change(kind: Kind, new: Object, old: Object, subresource: str) -> list[str]:
    warner = _OF_KINDS.get((kind.group, kind.names.plural))
    if subresource == "status" and kind.names.plural == "pods":
        return list(addresses.of_status(new))
    return list(warner(new, old)) if warner and not subresource else []


def _of_account(new: Object, old: Object | None) -> Iterator[str]:
    had = old is not None and _MOUNTABLE in (old["metadata"].get("annotations") or {})
    if _MOUNTABLE in (new["metadata"].get("annotations") or {}) and not had:
        yield (
            f"metadata.annotations[{_MOUNTABLE}]: deprecated in v1.32+; prefer separate namespaces"
            " to isolate access to mounted secrets"
        )


def _of_node(new: Object, _: Object | None) -> Iterator[str]:
    spec = new.get("spec") or {}
    if spec.get("configSource") is not None:
        yield "spec.configSource: the feature is removed"
    if spec.get("externalID"):
        yield _UNUSED_ID
    for at, block in enumerate(spec.get("podCIDRs") or ()):
        yield from addresses.of_block(block, f"spec.podCIDRs[{at}]")


_OF_KINDS: Final[dict[tuple[str, str], Warner]] = {
    ("", "endpoints"): addresses.of_endpoints,
    ("", "nodes"): _of_node,
    ("", "persistentvolumeclaims"): storage.of_claim,
    ("", "persistentvolumes"): storage.of_volume,
    ("", "pods"): pods.of_pod,
    ("", "secrets"): secrets.of_secret,
    ("", "serviceaccounts"): _of_account,
    ("", "services"): addresses.of_service,
    ("apiextensions.k8s.io", "customresourcedefinitions"): definitions.of_definition,
    ("discovery.k8s.io", "endpointslices"): addresses.of_slice,
    ("storage.k8s.io", "storageclasses"): storage.of_class,
}
"""By group and plural name."""
