"""What the server alone decides about an object: its identity, its age, its generation, and which part of
it a write through one endpoint reaches.
"""

from typing import Any

from kubevirt.apiserver.kinds.kind import Version
from kubevirt.apiserver.schema.plain import is_same

Object = dict[str, Any]

_SERVERS_OWN = (
    *("uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"),
    *("generation", "resourceVersion", "selfLink"),
)
_CARRIED_OVER = ("uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds")


def unborn(object_: Object) -> Object:
    """A new object without what only the server says; so admission sees it."""
    said = object_.get("metadata", {})
    metadata = {key: value for key, value in said.items() if key not in _SERVERS_OWN}
    return {**object_, "metadata": metadata}


def born(object_: Object, *, name: str, uid: str, now: str) -> Object:
    """A new object with its identity."""
    identity = {"name": name, "uid": uid, "creationTimestamp": now}
    unborn_ = unborn(object_)
    return {**unborn_, "metadata": {**unborn_["metadata"], **identity}}


def carried_over(new: Object, old: Object) -> Object:
    """With what only the server says, where the client left it out; what it contradicts is judged
    later. A deletion that has begun cannot be taken back.
    """
    before, said = old["metadata"], new["metadata"]
    metadata = {key: value for key, value in said.items() if key != "selfLink"}
    for field in _CARRIED_OVER:
        is_fixed = field.startswith("deletion")
        if field in before and (is_fixed or not metadata.get(field)):
            metadata[field] = before[field]
        elif is_fixed:
            metadata.pop(field, None)
    metadata.pop("generation", None)
    if "generation" in before:
        metadata["generation"] = before["generation"]
    return {**new, "metadata": metadata}


def only_status(new: Object, old: Object, *, keeps_metadata: bool) -> Object:
    """Through `status`, nothing else changes but the owners of fields; of built-in kinds also the rest
    of the metadata.
    """
    metadata = new["metadata"]
    if keeps_metadata:
        metadata = {k: v for k, v in old["metadata"].items() if k != "managedFields"}
        if "managedFields" in new["metadata"]:
            metadata["managedFields"] = new["metadata"]["managedFields"]
        if "resourceVersion" in new["metadata"]:
            metadata["resourceVersion"] = new["metadata"]["resourceVersion"]
    kept = {**old, "metadata": metadata}
    kept.pop("status", None)
    return {**kept, "status": new["status"]} if "status" in new else kept


def all_but_status(new: Object, old: Object | None) -> Object:
    kept = {name: value for name, value in new.items() if name != "status"}
    return {**kept, "status": old["status"]} if old and "status" in old else kept


def with_generation(object_: Object, generation: int) -> Object:
    return {**object_, "metadata": {**object_["metadata"], "generation": generation}}


def is_another_intent(new: Object, old: Object, version: Version) -> bool:
    """Whether anything changed that somebody would have to act on."""
    aside = {"metadata", "apiVersion", "kind"}
    if "status" in version.subresources:
        aside.add("status")
    names = (new.keys() | old.keys()) - aside
    return any(not is_same(new.get(name), old.get(name)) for name in names)
