"""Which taints of a node a pod puts up with."""

from collections.abc import Iterable, Sequence
from typing import Final

from kubevirt.api.core.node import Node, Taint
from kubevirt.api.core.scheduling import Toleration

_KEEPS_OUT: Final = ("NoSchedule", "NoExecute")


def keeps_out(node: Node, tolerations: Sequence[Toleration]) -> bool:
    """Whether it has taints that forbid to run there."""
    keeping = [each for each in node.spec.taints if each.effect in _KEEPS_OUT]
    return not all(is_tolerated(each, tolerations) for each in keeping)


def is_tolerated(taint: Taint, tolerations: Iterable[Toleration]) -> bool:
    return any(tolerates(each, taint) for each in tolerations)


def tolerates(toleration: Toleration, taint: Taint) -> bool:
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator == "Exists":
        return True
    return bool(toleration.key) and (toleration.value or "") == (taint.value or "")
