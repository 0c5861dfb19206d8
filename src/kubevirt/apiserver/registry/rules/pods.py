"""Pods: they begin as Pending, and go when their node says that they are gone."""

from typing import Final

from kubevirt.apiserver.registry.rules.rules import Object, Rules

DEFAULT_GRACE_S: Final = 30
_ENDED: Final = ("Succeeded", "Failed")


class PodRules(Rules):
    def __init__(self) -> None:
        super().__init__(has_generation=True, is_returned_when_deleted=True)

    def prepared(self, object_: Object) -> Object:
        return {**object_, "status": {"phase": "Pending", "qosClass": "BestEffort"}}

    def grace_s(self, object_: Object, asked: int | None) -> int | None:
        spec = object_.get("spec", {})
        wanted = asked if asked is not None else spec.get("terminationGracePeriodSeconds")
        grace_s = DEFAULT_GRACE_S if wanted is None else max(int(wanted), 0)
        is_nowhere = not spec.get("nodeName")
        has_ended = object_.get("status", {}).get("phase") in _ENDED
        return 0 if is_nowhere or has_ended else grace_s
