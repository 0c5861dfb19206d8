"""Which taints a node has for what is wrong with it."""

from datetime import UTC, datetime
from typing import Any

import pytest
from tests.unit.embedded.controllers.nodes.objects import a_node

from kubevirt.api.core.node import Node, Taint
from kubevirt.embedded.controllers.nodes import taints
from kubevirt.embedded.controllers.nodes.taints import NOT_READY, UNREACHABLE, UNSCHEDULABLE

NOW = datetime(2030, 1, 2, tzinfo=UTC)
FOREIGN = ("example.com/gpu", "NoSchedule")


def found(node: Node, *, is_any_ready: bool = True) -> set[tuple[str, str]]:
    return {(each.key, each.effect) for each in taints.wanted(node, NOW, is_any_ready=is_any_ready)}


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        ({"Ready": "True"}, set()),
        ({"Ready": "False"}, {(NOT_READY, "NoSchedule"), (NOT_READY, "NoExecute")}),
        ({"Ready": "Unknown"}, {(UNREACHABLE, "NoSchedule"), (UNREACHABLE, "NoExecute")}),
        ({}, set()),
        ({"Ready": "True", "cordoned": True}, {(UNSCHEDULABLE, "NoSchedule")}),
        ({"MemoryPressure": "True"}, {("node.kubernetes.io/memory-pressure", "NoSchedule")}),
        ({"DiskPressure": "True"}, {("node.kubernetes.io/disk-pressure", "NoSchedule")}),
        ({"PIDPressure": "True"}, {("node.kubernetes.io/pid-pressure", "NoSchedule")}),
        (
            {"NetworkUnavailable": "True"},
            {("node.kubernetes.io/network-unavailable", "NoSchedule")},
        ),
        ({"MemoryPressure": "Unknown"}, set()),
    ],
)
def test_conditions_become_taints(node: dict[str, Any], expected: set[tuple[str, str]]) -> None:
    assert found(a_node(**node)) == expected


def test_where_no_node_is_well_nobody_is_driven_off() -> None:
    tainted = a_node(Ready="Unknown", taints=[(UNREACHABLE, "NoExecute")])
    assert found(tainted, is_any_ready=False) == {(UNREACHABLE, "NoSchedule")}


def test_what_is_over_goes_and_what_is_others_stays() -> None:
    node = a_node(
        Ready="True", taints=[(NOT_READY, "NoSchedule"), FOREIGN, (NOT_READY, "NoExecute")]
    )
    assert found(node) == {FOREIGN}


def test_a_taint_that_stays_keeps_its_time_and_a_new_one_has_the_present() -> None:
    old = Taint(key=NOT_READY, effect="NoSchedule", time_added=datetime(2029, 1, 1, tzinfo=UTC))
    plain = a_node(Ready="False")
    node = Node(metadata=plain.metadata, spec=type(plain.spec)(taints=(old,)), status=plain.status)

    made = taints.wanted(node, NOW, is_any_ready=True)

    assert made == (old, Taint(key=NOT_READY, effect="NoExecute", time_added=NOW))


def test_nothing_changes_what_is_right() -> None:
    node = a_node(Ready="False", taints=[FOREIGN, (NOT_READY, "NoSchedule")])
    assert taints.wanted(node, NOW, is_any_ready=False) == node.spec.taints


def test_only_some_taints_drive_pods_off() -> None:
    node = a_node(taints=[FOREIGN, (NOT_READY, "NoExecute")])
    assert taints.driving_off(node) == (Taint(key=NOT_READY, effect="NoExecute"),)
