"""How evenly pods are spread: what is counted, over which parts, and what becomes of a wish for it."""

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from tests.unit.embedded.scheduler.objects import a_cluster, a_node, a_pod

from kubevirt.api.core.node import Node
from kubevirt.api.core.pod import Pod
from kubevirt.embedded.scheduler.cluster import Place
from kubevirt.embedded.scheduler.decide import Chosen, decide
from kubevirt.embedded.scheduler.fits import reasons
from kubevirt.embedded.scheduler.spreading import NO_PART, UNEVEN

HOST = "kubernetes.io/hostname"
DB = {"app": "db"}


def spread(**more: Any) -> dict[str, Any]:
    constraint = {
        "maxSkew": 1,
        "topologyKey": HOST,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": DB},
    }
    return {"topologySpreadConstraints": [constraint | more]}


def holding(count: int, node: Node, **labels: str) -> Place:
    """A node with so many pods of the database."""
    name = node.metadata.name
    pods = [a_pod(f"{name}-{each}", labels={**DB, **labels}) for each in range(count)]
    return Place(node=node, pods=pods)


def told(pod: Pod, *places: Place) -> list[list[str]]:
    cluster = a_cluster(*places)
    return [reasons(pod, place, cluster) for place in cluster.places]


def one_more(**more: Any) -> Pod:
    return a_pod("next", labels=DB, **spread(**more))


@pytest.mark.parametrize(
    ("there", "skew", "where"),
    [((0, 0), 1, (0, 1)), ((1, 0), 1, (1,)), ((1, 0), 2, (0, 1)), ((3, 2), 1, (1,))],
)
def test_no_part_has_more_than_the_skew_above_the_emptiest(
    there: tuple[int, int], skew: int, where: tuple[int, ...]
) -> None:
    places = [holding(count, a_node(str(name))) for name, count in enumerate(there)]
    found = told(one_more(maxSkew=skew), *places)
    assert [number for number, each in enumerate(found) if not each] == list(where)
    assert all(each == [UNEVEN] for each in found if each)


def test_a_part_may_have_several_nodes() -> None:
    zones = ("a", "a", "b")
    nodes = [a_node(str(n), labels={"zone": zone}) for n, zone in enumerate(zones)]
    there = [holding(1, nodes[0]), holding(0, nodes[1]), holding(0, nodes[2])]
    assert told(one_more(topologyKey="zone"), *there) == [[UNEVEN], [UNEVEN], []]


def test_a_node_without_the_label_belongs_to_no_part() -> None:
    labelled = holding(1, a_node("one", labels={"zone": "a"}))
    found = told(one_more(topologyKey="zone"), labelled, holding(0, a_node("two")))
    assert found == [[], [NO_PART]]  # the second one is no emptier part than the first


def test_who_is_not_selected_or_elsewhere_or_on_the_way_out_is_not_counted() -> None:
    of_others = a_pod("web", labels={"app": "web"})
    away, going = a_pod("away", labels=DB), a_pod("going", labels=DB)
    away = msgspec.structs.replace(
        away, metadata=msgspec.structs.replace(away.metadata, namespace="away")
    )
    going = msgspec.structs.replace(
        going,
        metadata=msgspec.structs.replace(
            going.metadata, deletion_timestamp=datetime(2026, 1, 1, tzinfo=UTC)
        ),
    )
    full = Place(node=a_node("one"), pods=[of_others, away, going])
    assert told(one_more(), full, holding(0, a_node("two"))) == [[], []]


def test_who_does_not_select_itself_adds_nothing() -> None:
    stranger = a_pod("stranger", labels={"app": "web"}, **spread())
    assert told(stranger, holding(1, a_node("one")), holding(0, a_node("two"))) == [[], []]


def test_while_there_are_fewer_parts_than_there_should_be_one_more_is_empty() -> None:
    places = holding(1, a_node("one")), holding(1, a_node("two"))
    assert told(one_more(), *places) == [[], []]
    assert told(one_more(minDomains=3), *places) == [[UNEVEN], [UNEVEN]]


def test_only_those_with_the_same_version_are_counted_if_that_is_asked_for() -> None:
    old = holding(1, a_node("one"), version="1"), holding(0, a_node("two"))
    new = a_pod("next", labels={**DB, "version": "2"}, **spread(matchLabelKeys=["version"]))
    assert told(new, *old) == [[], []]


@pytest.mark.parametrize(
    ("policy", "is_counted"), [(None, True), ("Ignore", True), ("Honor", False)]
)
def test_a_tainted_node_is_a_part_unless_taints_are_to_be_heeded(
    policy: str | None, *, is_counted: bool
) -> None:
    tainted = a_node("two", spec={"taints": [{"key": "gpu", "effect": "NoSchedule"}]})
    first, _ = told(
        one_more(nodeTaintsPolicy=policy), holding(1, a_node("one")), Place(node=tainted)
    )
    assert first == ([UNEVEN] if is_counted else [])


@pytest.mark.parametrize(
    ("policy", "is_counted"), [(None, False), ("Honor", False), ("Ignore", True)]
)
def test_a_node_that_the_pod_does_not_want_is_no_part_unless_that_is_to_be_ignored(
    policy: str | None, *, is_counted: bool
) -> None:
    wanted = spread(nodeAffinityPolicy=policy)
    pod = a_pod("next", labels=DB, nodeSelector={HOST: "one"}, **wanted)
    first, _ = told(pod, holding(1, a_node("one")), holding(0, a_node("two")))
    assert first == ([UNEVEN] if is_counted else [])


def test_a_wish_leads_to_the_emptier_part_and_keeps_nobody_out() -> None:
    wish = one_more(whenUnsatisfiable="ScheduleAnyway")
    large = a_node("one", allocatable={"cpu": "64", "memory": "64Gi"})
    small = a_node("two", allocatable={"cpu": "200m"})
    assert decide(wish, a_cluster(holding(1, large), holding(0, small))) == Chosen("two")
    assert decide(wish, a_cluster(holding(1, large))) == Chosen("one")
    assert decide(one_more(maxSkew=1), a_cluster(holding(5, large))) == Chosen("one")


def test_a_wish_does_not_lead_to_where_there_are_no_parts() -> None:
    wish = one_more(whenUnsatisfiable="ScheduleAnyway", topologyKey="zone")
    zone = a_node("two", labels={"zone": "a"})
    assert decide(wish, a_cluster(a_node("one"), holding(2, zone))) == Chosen("two")
