"""How long a pod stays where it is not wanted."""

import pytest

from kubevirt.api.core.node import Taint
from kubevirt.api.core.scheduling import Toleration
from kubevirt.embedded.controllers.nodes.patience import FOR_EVER, stay_s

A = Taint(key="a", effect="NoExecute")
B = Taint(key="b", effect="NoExecute")


def tolerating(key: str, seconds: int | None = None) -> Toleration:
    return Toleration(key=key, operator="Exists", toleration_seconds=seconds)


@pytest.mark.parametrize(
    ("tolerations", "taints", "expected"),
    [
        ([], [], FOR_EVER),
        ([], [A], 0),
        ([tolerating("a")], [A], FOR_EVER),
        ([tolerating("a", 30)], [A], 30),
        ([tolerating("a", -1)], [A], 0),
        ([tolerating("a", 30)], [A, B], 0),
        ([tolerating("a", 30), tolerating("b")], [A, B], 30),
        ([tolerating("a", 30), tolerating("b", 20)], [A, B], 20),
        ([tolerating("a", 30), tolerating("a")], [A], 30),
    ],
)
def test_the_least_tolerated_taint_counts(
    tolerations: list[Toleration], taints: list[Taint], expected: float
) -> None:
    assert stay_s(tolerations, taints) == expected
