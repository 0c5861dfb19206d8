"""From client-side apply to server-side apply, without conflicts against oneself.

`kubectl apply` of old wrote the configuration into an annotation and the fields as an updater called
kubectl-client-side-apply. When `kubectl apply --server-side` follows, conflicts over fields that the
annotation holds with their present value are no conflicts. Only for the manager named kubectl.
"""

from typing import Any, Final

import msgspec

from kubevirt.apiserver.apply.checking import DoesNotFit, check
from kubevirt.apiserver.apply.comparing import compare
from kubevirt.apiserver.apply.conflicts import ApplyConflicts
from kubevirt.apiserver.apply.fieldset import EMPTY, FieldSet
from kubevirt.apiserver.apply.ownership import Kind
from kubevirt.apiserver.apply.owning import fields_of
from kubevirt.apiserver.schema import gotext

KUBECTL: Final = "kubectl"
ANNOTATION: Final = "kubectl.kubernetes.io/last-applied-configuration"
ANNOTATIONS_LIMIT: Final = 256 * 1024

Object = dict[str, Any]


def allow(refusal: ApplyConflicts, live: Object, kind: Kind, *, by: str) -> None:
    """Returns if all conflicts are with oneself; raises what is left of them otherwise."""
    if by != KUBECTL:
        raise refusal
    applied = _fields_applied_before(live, kind)
    if not applied:
        raise refusal
    left = [each for each in refusal.conflicts if not applied.has(*each.path)]
    if left:
        raise ApplyConflicts(left) from refusal


def _fields_applied_before(live: Object, kind: Kind) -> FieldSet:
    """Those of the annotation that still have the value which it says."""
    text = _annotations(live).get(ANNOTATION)
    if not text:
        return EMPTY
    try:
        applied = msgspec.json.decode(text)
        check(live, kind.type)
        check(applied, kind.type)
    except (msgspec.DecodeError, DoesNotFit):
        return EMPTY
    if not isinstance(applied, dict) or applied.get("apiVersion") != kind.api_version:
        return EMPTY
    changes = compare(applied, live, kind.type)
    fields = fields_of(applied, kind.type)
    return fields - changes.modified - changes.added - changes.removed


def refreshed(object_: Object, configuration: Object) -> Object:
    """With the annotation of what was applied now, where there was one: client-side apply may return."""
    annotations = _annotations(object_)
    if not annotations.get(ANNOTATION):
        return object_
    theirs = {
        name: value for name, value in _annotations(configuration).items() if name != ANNOTATION
    }
    metadata = {
        name: value
        for name, value in configuration.get("metadata", {}).items()
        if name != "annotations"
    }
    if theirs:
        metadata["annotations"] = theirs
    said = {**configuration, "metadata": metadata}
    annotations = annotations | {ANNOTATION: gotext.json(said) + "\n"}
    if sum(len(name) + len(value) for name, value in annotations.items()) > ANNOTATIONS_LIMIT:
        del annotations[ANNOTATION]
    return {**object_, "metadata": {**object_["metadata"], "annotations": annotations}}


def _annotations(object_: Object) -> dict[str, str]:
    return (object_.get("metadata") or {}).get("annotations") or {}
