"""The decision, and the words when there is none."""

import random

import msgspec
import pytest
from tests.unit.embedded.scheduler.objects import a_cluster, a_node, a_pod

from kubevirt.embedded.scheduler.cluster import Place
from kubevirt.embedded.scheduler.decide import Chosen, Nowhere, decide, in_turn


def test_without_nodes_there_is_nowhere_to_go() -> None:
    assert decide(a_pod(), a_cluster()) == Nowhere("no nodes available to schedule pods")


def test_reasons_are_counted_over_all_nodes() -> None:
    nodes = [a_node("a"), a_node("b"), a_node("c", spec={"unschedulable": True})]

    found = decide(a_pod(requests={"cpu": "9", "memory": "9Gi"}), a_cluster(*nodes))

    assert found == Nowhere(
        "0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient cpu, "
        "2 Insufficient memory."
    )


def test_the_emptier_node_wins() -> None:
    full = Place(node=a_node("a"), pods=[a_pod("first", requests={"cpu": "1"})])
    assert decide(a_pod(), a_cluster(full, a_node("b"))) == Chosen("b")


def test_a_wish_counts_more_than_room() -> None:
    wish = {
        "nodeAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {
                    "weight": 1,
                    "preference": {"matchExpressions": [{"key": "disk", "operator": "Exists"}]},
                }
            ]
        }
    }
    full = Place(
        node=a_node("a", labels={"disk": "fast"}), pods=[a_pod("first", requests={"cpu": "1"})]
    )
    assert decide(a_pod(affinity=wish), a_cluster(full, a_node("b"))) == Chosen("a")


@pytest.mark.parametrize(("kind", "chosen"), [("podAffinity", "a"), ("podAntiAffinity", "b")])
def test_company_that_is_liked_or_not_counts_more_than_room(kind: str, chosen: str) -> None:
    term = {
        "topologyKey": "kubernetes.io/hostname",
        "labelSelector": {"matchLabels": {"app": "db"}},
    }
    wish = {
        kind: {
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {"weight": 1, "podAffinityTerm": term}
            ]
        }
    }
    near = a_pod("first", labels={"app": "db"}, requests={"cpu": "1"})
    far = a_pod("other", requests={"cpu": "1500m"})
    places = [Place(node=a_node("a"), pods=[near]), Place(node=a_node("b"), pods=[far])]

    assert decide(a_pod(affinity=wish), a_cluster(*places)) == Chosen(chosen)


def test_a_node_that_would_rather_not_is_the_last_choice() -> None:
    unwilling = a_node("a", spec={"taints": [{"key": "old", "effect": "PreferNoSchedule"}]})
    full = Place(node=a_node("b"), pods=[a_pod("first", requests={"cpu": "1"})])
    assert decide(a_pod(), a_cluster(unwilling, full)) == Chosen("b")


def test_the_order_of_nodes_does_not_matter() -> None:
    nodes = [a_node(name) for name in "abcde"]
    chosen = {
        msgspec.json.encode(decide(a_pod(), a_cluster(*random.sample(nodes, len(nodes)))))
        for _ in range(20)
    }
    assert chosen == {msgspec.json.encode(Chosen("a"))}


def test_the_more_important_and_the_older_come_first() -> None:
    pods = [a_pod("b"), a_pod("a"), a_pod("vip", priority=10)]
    assert [pod.metadata.name for pod in in_turn(pods)] == ["vip", "a", "b"]
