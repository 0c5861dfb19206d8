"""Priority: a pod's class becomes a number, by which schedulers and kubelets choose."""

from typing import Any, Final

from kubevirt.apiserver import refusals
from kubevirt.apiserver.plugins.lookup import Lookup
from kubevirt.apiserver.registry.admission import Review

Object = dict[str, Any]

GROUP: Final = "scheduling.k8s.io"
_LOWER: Final = "PreemptLowerPriority"
_NO_CLASS: Final[Object] = {"metadata": {"name": ""}, "value": 0, "preemptionPolicy": _LOWER}
_FIELDS: Final = ("priority", "preemptionPolicy")


class Priorities:
    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup

    async def mutate(self, object_: Object, review: Review) -> Object:
        call = review.call
        if (call.kind.group_resource, call.subresource) != ("pods", ""):
            return object_
        if review.operation == "UPDATE" and review.old:
            return _kept(object_, review.old)
        return await self._prioritised(object_, review)

    async def _prioritised(self, pod: Object, review: Review) -> Object:
        spec, kind = pod["spec"], review.call.kind
        name = pod["metadata"].get("name", "")
        found = await self._class(spec.get("priorityClassName", ""))
        if found is None:
            words = f"no PriorityClass with name {spec['priorityClassName']} was found"
            raise refusals.forbidden(kind, name, words)
        value, policy = found.get("value", 0), found.get("preemptionPolicy", _LOWER)
        if spec.get("priority", value) != value:
            words = (
                f"the integer value of priority ({spec['priority']}) must not be provided in pod spec; "
                f"priority admission controller computed {value} from the given PriorityClass name"
            )
            raise refusals.forbidden(kind, name, words)
        if spec.get("preemptionPolicy", policy) != policy:
            words = (
                f"the string value of PreemptionPolicy ({spec['preemptionPolicy']}) must not be "
                f"provided in pod spec; priority admission controller computed {policy} from the "
                "given PriorityClass name"
            )
            raise refusals.forbidden(kind, name, words)
        made = {**spec, "priority": value, "preemptionPolicy": policy}
        if class_name := found["metadata"]["name"]:
            made["priorityClassName"] = class_name
        return {**pod, "spec": made}

    async def _class(self, name: str) -> Object | None:
        if name:
            return await self._lookup.get(GROUP, "priorityclasses", "", name)
        return await self._default() or _NO_CLASS

    async def _default(self) -> Object | None:
        """The lowest, should there be several after a race."""
        classes = await self._lookup.all(GROUP, "priorityclasses")
        defaults = [each for each in classes if each.get("globalDefault")]
        return min(defaults, key=lambda each: int(each.get("value", 0)), default=None)

    async def validate(self, object_: Object | None, review: Review) -> None:
        call = review.call
        if object_ is None or call.kind.group_resource != f"priorityclasses.{GROUP}":
            return
        if not object_.get("globalDefault"):
            return
        name = object_["metadata"].get("name", "")
        default = await self._default()
        if default and (review.operation == "CREATE" or default["metadata"]["name"] != name):
            other = default["metadata"]["name"]
            words = (
                f"PriorityClass {other} is already marked as default. Only one default can exist"
            )
            raise refusals.forbidden(call.kind, name, words)


def _kept(new: Object, old: Object) -> Object:
    """What was worked out when the pod was made stays, where an update leaves it out."""
    before, said = old["spec"], new["spec"]
    kept = {name: before[name] for name in _FIELDS if name in before and name not in said}
    return {**new, "spec": {**said, **kept}} if kept else new
