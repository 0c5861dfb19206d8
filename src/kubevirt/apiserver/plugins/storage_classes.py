"""DefaultStorageClass: a claim that names no class gets the default one, if there is one."""

from typing import Any, Final

from kubevirt.apiserver.plugins.lookup import Lookup
from kubevirt.apiserver.registry.admission import Review

Object = dict[str, Any]

GROUP: Final = "storage.k8s.io"
IS_DEFAULT: Final = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)
_CLASS_BEFORE_IT_WAS_A_FIELD: Final = "volume.beta.kubernetes.io/storage-class"


class DefaultStorageClass:
    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup

    async def mutate(self, object_: Object, review: Review) -> Object:
        call = review.call
        if (call.kind.group_resource, call.subresource) != ("persistentvolumeclaims", ""):
            return object_
        if review.operation != "CREATE" or _has_class(object_):
            return object_
        name = await self._default()
        if not name:
            return object_
        return {**object_, "spec": {**object_.get("spec", {}), "storageClassName": name}}

    async def validate(self, object_: Object | None, review: Review) -> None:
        """Nothing is refused."""

    async def _default(self) -> str:
        """The youngest, should there be several; of twins the first by name."""
        classes = await self._lookup.all(GROUP, "storageclasses")
        names = sorted(
            (each["metadata"] for each in classes if _is_default(each)),
            key=lambda metadata: str(metadata["name"]),
        )
        return (
            str(max(names, key=lambda each: str(each["creationTimestamp"]))["name"])
            if names
            else ""
        )


def _has_class(claim: Object) -> bool:
    annotations = claim["metadata"].get("annotations") or {}
    is_said = "storageClassName" in claim.get("spec", {})
    return is_said or _CLASS_BEFORE_IT_WAS_A_FIELD in annotations


def _is_default(found: Object) -> bool:
    annotations = found["metadata"].get("annotations") or {}
    return any(annotations.get(name) == "true" for name in IS_DEFAULT)
