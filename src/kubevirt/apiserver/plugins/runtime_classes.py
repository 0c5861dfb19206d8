"""RuntimeClass: there is one way to run pods here, so no class of them can be named."""

from typing import Any

from kubevirt.apiserver import refusals
from kubevirt.apiserver.registry.admission import Review

Object = dict[str, Any]


class RuntimeClasses:
    async def mutate(self, object_: Object, review: Review) -> Object:
        call = review.call
        is_new = review.operation == "CREATE"
        if is_new and (call.kind.group_resource, call.subresource) == ("pods", ""):
            spec, name = object_["spec"], object_["metadata"].get("name", "")
            if wanted := spec.get("runtimeClassName"):
                words = f'pod rejected: RuntimeClass "{wanted}" not found'
                raise refusals.forbidden(call.kind, name, words)
            if spec.get("overhead"):
                words = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"
                raise refusals.forbidden(call.kind, name, words)
        return object_

    async def validate(self, object_: Object | None, review: Review) -> None:
        """Said already."""
