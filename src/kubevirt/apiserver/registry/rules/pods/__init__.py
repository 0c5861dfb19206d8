"""Pods: what they are taken to say, what they must be, and what of them may change.

`defaults.py` fills in, `spec.py` judges with the files beside it, `changes.py` says what may still be
written once a pod is there. They begin as Pending, and go when their node says that they are gone.
"""

from typing import Final

from kubevirt.apiserver.registry.rules.pods import changes, defaults, spec
from kubevirt.apiserver.registry.rules.pods.features import known_spec
from kubevirt.apiserver.registry.rules.pods.qos import qos_class
from kubevirt.apiserver.registry.rules.rules import Object, Rules
from kubevirt.apiserver.schema.field_errors import FieldError

DEFAULT_GRACE_S: Final = 30
_ENDED: Final = ("Succeeded", "Failed")


class PodRules(Rules):
    def __init__(self) -> None:
        super().__init__(has_generation=True, is_returned_when_deleted=True)

    def defaulted(self, object_: Object) -> Object:
        return defaults.defaulted(object_)

    def prepared(self, object_: Object) -> Object:
        status: Object = {"phase": "Pending", "qosClass": qos_class(object_["spec"])}
        if object_["spec"].get("schedulingGates"):
            since = object_["metadata"]["creationTimestamp"]
            status["conditions"] = [{**_HELD_BACK, "lastTransitionTime": since}]
        return {**object_, "spec": known_spec(object_["spec"]), "status": status}

    def changed(self, new: Object, old: Object) -> Object:  # noqa: ARG002
        return {**new, "spec": known_spec(new["spec"])}

    def status_changed(self, new: Object, old: Object) -> Object:
        """Nodes of old forgot the quality of service, and spoilt whose a pod is."""
        status = {**new.get("status", {})}
        status.setdefault("qosClass", old.get("status", {}).get("qosClass", ""))
        metadata = {k: v for k, v in new["metadata"].items() if k != "ownerReferences"}
        if owners := old["metadata"].get("ownerReferences"):
            metadata["ownerReferences"] = owners
        return {**new, "metadata": metadata, "status": status}

    def errors(self, object_: Object) -> list[FieldError]:
        return spec.errors(object_)

    def errors_of_new(self, new: Object, *, is_namespaced: bool) -> list[FieldError]:
        found = super().errors_of_new(new, is_namespaced=is_namespaced)
        return found + list(spec.errors_of_new(new))

    def errors_of_change(self, new: Object, old: Object) -> list[FieldError]:
        return self.errors(new) + list(changes.errors(new, old))

    def errors_of_status_change(self, new: Object, old: Object) -> list[FieldError]:
        return list(changes.errors_of_status(new, old))

    def looked_into(self, new: Object, old: Object) -> Object:
        """Only those who look are changed, and whose the fields are."""
        looking = new["spec"].get("ephemeralContainers")
        rest = {k: v for k, v in old["spec"].items() if k != "ephemeralContainers"}
        made = {**rest, "ephemeralContainers": looking} if looking else rest
        metadata = {**old["metadata"]}
        if "managedFields" in new["metadata"]:
            metadata["managedFields"] = new["metadata"]["managedFields"]
        return {**old, "metadata": metadata, "spec": made}

    def errors_of_looking(self, new: Object, old: Object) -> list[FieldError]:
        return self.errors(new) + list(changes.errors_of_ephemeral(new, old))

    def grace_s(self, object_: Object, asked: int | None) -> int | None:
        spec_ = object_.get("spec", {})
        wanted = asked if asked is not None else spec_.get("terminationGracePeriodSeconds")
        grace_s = DEFAULT_GRACE_S if wanted is None else max(int(wanted), 0)
        is_nowhere = not spec_.get("nodeName")
        has_ended = object_.get("status", {}).get("phase") in _ENDED
        return 0 if is_nowhere or has_ended else grace_s


_HELD_BACK: Final[Object] = {
    "type": "PodScheduled",
    "status": "False",
    "lastProbeTime": None,
    "reason": "SchedulingGated",
    "message": "Scheduling is blocked due to non-empty scheduling gates",
}
