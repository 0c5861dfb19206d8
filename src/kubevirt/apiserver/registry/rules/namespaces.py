"""Namespaces: they stay until their content is gone and whoever watches over that has let go."""

from typing import Final

from kubevirt.apiserver.registry.rules.rules import Object, Rules
from kubevirt.apiserver.schema import names
from kubevirt.apiserver.schema.field_errors import FieldError, invalid

FINALIZER: Final = "kubernetes"
_STANDARD: Final = (FINALIZER, "orphan", "foregroundDeletion")
NAME_LABEL: Final = "kubernetes.io/metadata.name"


class NamespaceRules(Rules):
    def __init__(self) -> None:
        super().__init__(name_rule=names.label)

    def defaulted(self, object_: Object) -> Object:
        """With the label by which selectors of namespaces know it, as soon as it has a name."""
        metadata = object_["metadata"]
        if not metadata.get("name"):
            return object_
        labels = {**(metadata.get("labels") or {}), NAME_LABEL: metadata["name"]}
        return {**object_, "metadata": {**metadata, "labels": labels}}

    def prepared(self, object_: Object) -> Object:
        object_ = self.defaulted(object_)
        finalizers = (object_.get("spec") or {}).get("finalizers") or []
        if FINALIZER not in finalizers:
            finalizers = [*finalizers, FINALIZER]
        return {**object_, "spec": {"finalizers": finalizers}, "status": {"phase": "Active"}}

    def changed(self, new: Object, old: Object) -> Object:
        return {**new, "spec": old.get("spec", {}), "status": old.get("status", {})}

    def errors(self, object_: Object) -> list[FieldError]:
        found = []
        for at, name in enumerate((object_.get("spec") or {}).get("finalizers") or ()):
            wrong = names.qualified(name)
            if "/" not in name and name not in _STANDARD:
                wrong.append("name is neither a standard finalizer name nor is it fully qualified")
            found += [invalid(f"spec.finalizers[{at}]", name, words) for words in wrong]
        return found

    def errors_of_status_change(self, new: Object, old: Object) -> list[FieldError]:  # noqa: ARG002
        phase = (new.get("status") or {}).get("phase", "")
        is_going = bool(new["metadata"].get("deletionTimestamp"))
        right = "Terminating" if is_going else "Active"
        if phase == right:
            return []
        when = "is not empty" if is_going else "is empty"
        words = f"may only be '{right}' if `deletionTimestamp` {when}"
        return [invalid("status.Phase", phase, words)]

    def is_held(self, object_: Object) -> bool:
        return super().is_held(object_) or bool(object_.get("spec", {}).get("finalizers"))

    def marked(self, object_: Object) -> Object:
        metadata = dict(object_["metadata"])
        metadata.pop("deletionGracePeriodSeconds", None)
        status = {**object_.get("status", {}), "phase": "Terminating"}
        return {**object_, "metadata": metadata, "status": status}
