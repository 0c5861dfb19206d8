"""Namespaces: they stay until their content is gone and whoever watches over that has let go."""

from typing import Final

from kubevirt.apiserver.registry.rules.rules import Object, Rules
from kubevirt.apiserver.schema import names

FINALIZER: Final = "kubernetes"
NAME_LABEL: Final = "kubernetes.io/metadata.name"


class NamespaceRules(Rules):
    def __init__(self) -> None:
        super().__init__(name_rule=names.label)

    def defaulted(self, object_: Object) -> Object:
        """With the label by which selectors of namespaces know it."""
        metadata = object_["metadata"]
        labels = {**(metadata.get("labels") or {}), NAME_LABEL: metadata["name"]}
        return {**object_, "metadata": {**metadata, "labels": labels}}

    def prepared(self, object_: Object) -> Object:
        finalizers = (object_.get("spec") or {}).get("finalizers") or []
        if FINALIZER not in finalizers:
            finalizers = [*finalizers, FINALIZER]
        return {**object_, "spec": {"finalizers": finalizers}, "status": {"phase": "Active"}}

    def changed(self, new: Object, old: Object) -> Object:
        return {**new, "spec": old.get("spec", {}), "status": old.get("status", {})}

    def is_held(self, object_: Object) -> bool:
        return super().is_held(object_) or bool(object_.get("spec", {}).get("finalizers"))

    def marked(self, object_: Object) -> Object:
        metadata = dict(object_["metadata"])
        metadata.pop("deletionGracePeriodSeconds", None)
        status = {**object_.get("status", {}), "phase": "Terminating"}
        return {**object_, "metadata": metadata, "status": status}
