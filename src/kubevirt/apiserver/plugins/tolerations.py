"""DefaultTolerationSeconds: a pod outlives the silence of its node for five minutes."""

from typing import Any, Final

from kubevirt.apiserver.registry.admission import Review

Object = dict[str, Any]

TAINTS: Final = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
_SECONDS: Final = 300
_EFFECT: Final = "NoExecute"


class DefaultTolerations:
    async def mutate(self, object_: Object, review: Review) -> Object:
        call = review.call
        if (call.kind.group_resource, call.subresource) != ("pods", ""):
            return object_
        spec = object_["spec"]
        said = spec.get("tolerations") or []
        added = [_toleration(taint) for taint in TAINTS if not _is_tolerated(taint, said)]
        return {**object_, "spec": {**spec, "tolerations": said + added}} if added else object_

    async def validate(self, object_: Object | None, review: Review) -> None:
        """Nothing is refused."""


def _is_tolerated(taint: str, tolerations: list[Object]) -> bool:
    return any(
        each.get("key", "") in ("", taint) and each.get("effect", "") in ("", _EFFECT)
        for each in tolerations
    )


def _toleration(taint: str) -> Object:
    return {
        "key": taint,
        "operator": "Exists",
        "effect": _EFFECT,
        "tolerationSeconds": _SECONDS,
    }
