"""How long a pod stays on a node that drives pods off."""

from collections.abc import Sequence

from kubevirt.api.core.node import Taint
from kubevirt.api.core.scheduling import Toleration
from kubevirt.embedded.scheduler.tolerations import tolerates

FOR_EVER = float("inf")


def stay_s(tolerations: Sequence[Toleration], taints: Sequence[Taint]) -> float:
    """Seconds from when the taints are seen. Of several taints the least tolerated one counts."""
    return min((_stay_s(tolerations, taint) for taint in taints), default=FOR_EVER)


def _stay_s(tolerations: Sequence[Toleration], taint: Taint) -> float:
    """Of several tolerations of a taint the first one counts."""
    used = next((each for each in tolerations if tolerates(each, taint)), None)
    if used is None:
        return 0.0
    return FOR_EVER if used.toleration_seconds is None else max(used.toleration_seconds, 0)
