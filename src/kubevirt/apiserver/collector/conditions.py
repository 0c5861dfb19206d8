"""The conditions of a namespace that is being emptied, in Kubernetes' words. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

Object = dict[str, Any]

_IN_ORDER: Final = {
    "NamespaceDeletionDiscoveryFailure": (
        "ResourcesDiscovered",
        "All resources successfully discovered",
    ),
    "NamespaceDeletionGroupVersionParsingFailure": (
        "ParsedGroupVersions",
        "All legacy kube types successfully parsed",
    ),
    "NamespaceDeletionContentFailure": (
        "ContentDeleted",
        "All content successfully deleted, may be waiting on finalization",
    ),
    "NamespaceContentRemaining": ("ContentRemoved", "All content successfully removed"),
    "NamespaceFinalizersRemaining": (
        "ContentHasNoFinalizers",
        "All content-preserving finalizers finished",
    ),
}
"""Type, and what is said where there is nothing to say."""


class Remains(msgspec.Struct, frozen=True, kw_only=True):
    """What an attempt to empty a namespace has left."""

    undiscovered: Sequence[str] = ()
    """Group versions that nobody could list, each with the reason."""
    failures: Sequence[str] = ()
    objects: Mapping[str, int] = {}
    """By resource and group."""
    finalizers: Mapping[str, int] = {}
    """Objects that each of them holds."""


def updated(old: Sequence[Object], remains: Remains, now: str) -> list[Object]:
    """All conditions. Those that did not turn keep their time, those of others stay as they are."""
    trouble = _trouble(remains)
    known = {each["type"]: each for each in old}
    made = dict(known)
    for type_, in_order in _IN_ORDER.items():
        status = "True" if type_ in trouble else "False"
        reason, message = trouble.get(type_, in_order)
        before = known.get(type_, {})
        has_turned = before.get("status") != status
        made[type_] = {
            "type": type_,
            "status": status,
            "lastTransitionTime": now if has_turned else before["lastTransitionTime"],
            "reason": reason,
            "message": message,
        }
    return list(made.values())


def _trouble(remains: Remains) -> dict[str, tuple[str, str]]:
    found = {}
    if lost := remains.undiscovered:
        words = (
            f"Discovery failed for some groups, {len(lost)} failing: unable to retrieve the complete "
            f"list of server APIs: {', '.join(sorted(lost))}"
        )
        found["NamespaceDeletionDiscoveryFailure"] = ("DiscoveryFailed", words)
    if failures := remains.failures:
        words = (
            f"Failed to delete all resource types, {len(failures)} remaining: "
            f"{', '.join(sorted(failures))}"
        )
        found["NamespaceDeletionContentFailure"] = ("ContentDeletionFailed", words)
    if remains.objects:
        left = sorted(f"{name} has {n} resource instances" for name, n in remains.objects.items())
        words = f"Some resources are remaining: {', '.join(left)}"
        found["NamespaceContentRemaining"] = ("SomeResourcesRemain", words)
    if remains.finalizers:
        left = sorted(f"{name} in {n} resource instances" for name, n in remains.finalizers.items())
        words = f"Some content in the namespace has finalizers remaining: {', '.join(left)}"
        found["NamespaceFinalizersRemaining"] = ("SomeFinalizersRemain", words)
    return found
