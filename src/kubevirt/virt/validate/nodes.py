"""What a virt-handler may write into Node objects: marks of KubeVirt's, on the node that it runs on.

RBAC can only give the right to patch all nodes. A node that was broken into would have all of them by its
virt-handler's token: a label draws pods with secrets to it, a taint empties the others (CVE-2023-26484).
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from kubevirt.virt.gates import NODE_RESTRICTION
from kubevirt.virt.validate.causes import Cause, Causes, forbidden
from kubevirt.virt.validate.requester import HANDLER, Requester
from kubevirt.virt.validate.rules import Rules

Raw = Mapping[str, Any]

DOMAIN: Final = "kubevirt.io"
MARKS: Final = ("labels", "annotations")
_OF_EACH_WRITE: Final = frozenset({"managedFields", "resourceVersion", "generation"})
"""The server's own notes of a write."""


def node_write_causes(old: Raw, new: Raw, requester: Requester, rules: Rules) -> Causes:
    if requester.component != HANDLER or not rules.gate(NODE_RESTRICTION):
        return
    before, after = _metadata(old), _metadata(new)
    if requester.node is None:
        yield forbidden(
            "", "Node restriction failed, virt-handler service account is missing node name"
        )
    elif requester.node != before.get("name"):
        yield forbidden(
            "", "Node restriction, virt-handler is only allowed to modify the node it runs on"
        )
    if old.get("spec") != new.get("spec"):
        yield forbidden("spec", "this user cannot modify spec of node")
    if _others(before) != _others(after):
        yield forbidden("metadata", "this user can only change allowed metadata fields")
    for kind in MARKS:
        yield from _mark_causes(kind, before.get(kind) or {}, after.get(kind) or {})


def _mark_causes(kind: str, old: Raw, new: Raw) -> Iterator[Cause]:
    def told(what: str, is_so: Callable[[str], bool]) -> Iterator[Cause]:
        if any(is_so(name) for name in {**old, **new} if not _is_ours(name)):
            yield forbidden(
                f"metadata.{kind}", f"this user cannot {what} non kubevirt-owned {kind}"
            )

    yield from told("add/delete", lambda name: (name in old) != (name in new))
    yield from told("update", lambda name: name in old and name in new and old[name] != new[name])


def _is_ours(name: str) -> bool:
    domain = name.partition("/")[0] if "/" in name else ""
    return domain == DOMAIN or domain.endswith(f".{DOMAIN}")


def _metadata(raw: Raw) -> Raw:
    found: Raw = raw.get("metadata") or {}
    return found


def _others(metadata: Raw) -> Raw:
    return {
        name: value
        for name, value in metadata.items()
        if name not in MARKS and name not in _OF_EACH_WRITE
    }
