"""Why a pod cannot run on a node: each reason alone, in Kubernetes' words."""

from typing import Any

import msgspec
import pytest
from tests.unit.embedded.scheduler.objects import a_cluster, a_node, a_pod

from kubevirt.api.core.node import Node
from kubevirt.api.core.pod import Pod
from kubevirt.embedded.scheduler import fits
from kubevirt.embedded.scheduler.cluster import Place

SELECTOR = ["node(s) didn't match Pod's node affinity/selector"]
HOST = "kubernetes.io/hostname"


def reasons(pod: Pod, place: Node | Place, *others: Node | Place) -> list[str]:
    cluster = a_cluster(place, *others)
    return fits.reasons(pod, cluster.places[0], cluster)


def required(**term: Any) -> dict[str, Any]:
    asked = {"nodeSelectorTerms": [term]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": asked}}


def test_a_pod_without_wishes_fits() -> None:
    assert reasons(a_pod(), a_node()) == []


def test_a_cordoned_node_takes_only_who_tolerates_it() -> None:
    cordoned = a_node(spec={"unschedulable": True})
    tolerant = a_pod(tolerations=[{"key": fits.UNSCHEDULABLE, "operator": "Exists"}])

    assert reasons(a_pod(), cordoned) == ["node(s) were unschedulable"]
    assert reasons(tolerant, cordoned) == []


@pytest.mark.parametrize(
    ("toleration", "is_let_in"),
    [
        ({}, False),
        ({"operator": "Exists"}, True),
        ({"key": "gpu", "operator": "Exists"}, True),
        ({"key": "gpu", "value": "big"}, True),
        ({"key": "gpu", "value": "small"}, False),
        ({"key": "other", "operator": "Exists"}, False),
        ({"key": "gpu", "value": "big", "effect": "NoExecute"}, False),
        ({"key": "gpu", "value": "big", "effect": "NoSchedule"}, True),
    ],
)
def test_a_taint_keeps_out_who_does_not_tolerate_it(
    toleration: dict[str, str], *, is_let_in: bool
) -> None:
    tainted = a_node(spec={"taints": [{"key": "gpu", "value": "big", "effect": "NoSchedule"}]})

    found = reasons(a_pod(tolerations=[toleration]), tainted)

    assert found == ([] if is_let_in else ["node(s) had untolerated taint(s)"])


def test_a_taint_that_only_asks_keeps_nobody_out() -> None:
    asked = a_node(spec={"taints": [{"key": "old", "effect": "PreferNoSchedule"}]})
    assert reasons(a_pod(), asked) == []


def test_a_node_without_the_label_is_not_selected() -> None:
    assert reasons(a_pod(nodeSelector={"disk": "fast"}), a_node()) == SELECTOR
    assert reasons(a_pod(nodeSelector={"disk": "fast"}), a_node(labels={"disk": "fast"})) == []


@pytest.mark.parametrize(
    ("operator", "values", "fits_it"),
    [
        ("In", ["a", "8"], True),
        ("In", ["a"], False),
        ("NotIn", ["a"], True),
        ("NotIn", ["8"], False),
        ("Exists", [], True),
        ("DoesNotExist", [], False),
        ("Gt", ["7"], True),
        ("Gt", ["8"], False),
        ("Lt", ["9"], True),
        ("Lt", ["x"], False),
    ],
)
def test_an_expression_holds_or_not(operator: str, values: list[str], *, fits_it: bool) -> None:
    expression = {"key": "cores", "operator": operator, "values": values}
    pod = a_pod(affinity=required(matchExpressions=[expression]))

    assert reasons(pod, a_node(labels={"cores": "8"})) == ([] if fits_it else SELECTOR)


def test_a_term_without_conditions_picks_no_node() -> None:
    assert reasons(a_pod(affinity=required()), a_node()) == SELECTOR


def test_a_node_is_picked_by_its_name() -> None:
    named = {"key": "metadata.name", "operator": "In", "values": ["two"]}
    pod = a_pod(affinity=required(matchFields=[named]))

    assert reasons(pod, a_node("one")) == SELECTOR
    assert reasons(pod, a_node("two")) == []


def test_what_is_not_there_is_told_each_by_its_name() -> None:
    asked = {"cpu": "3", "memory": "5Gi", "devices.kubevirt.io/kvm": "1"}

    assert reasons(a_pod(requests=asked), a_node()) == [
        "Insufficient cpu",
        "Insufficient devices.kubevirt.io/kvm",
        "Insufficient memory",
    ]


def test_what_others_have_taken_is_gone() -> None:
    half = a_pod("half", requests={"cpu": "1500m"})
    place = Place(node=a_node(), pods=[half])

    assert reasons(a_pod(requests={"cpu": "500m"}), place) == []
    assert reasons(a_pod(requests={"cpu": "501m"}), place) == ["Insufficient cpu"]


def test_a_node_has_room_for_so_many_pods() -> None:
    place = Place(node=a_node(allocatable={"pods": "1"}), pods=[a_pod("first")])
    assert reasons(a_pod(), place) == ["Too many pods"]


@pytest.mark.parametrize(
    ("port", "is_free"),
    [
        ({"containerPort": 1, "hostPort": 80}, False),
        ({"containerPort": 1, "hostPort": 80, "hostIP": "10.0.0.9"}, False),
        ({"containerPort": 1, "hostPort": 80, "protocol": "UDP"}, True),
        ({"containerPort": 1, "hostPort": 81}, True),
        ({"containerPort": 80}, True),
    ],
)
def test_a_port_of_the_node_is_taken_once(port: dict[str, Any], *, is_free: bool) -> None:
    taken = a_pod("first", container={"ports": [{"containerPort": 80, "hostPort": 80}]})
    place = Place(node=a_node(), pods=[taken])

    found = reasons(a_pod(container={"ports": [port]}), place)

    assert found == (
        [] if is_free else ["node(s) didn't have free ports for the requested pod ports"]
    )


# Neighbours


def near(rule: str, **term: Any) -> dict[str, Any]:
    asked = {"topologyKey": HOST, "labelSelector": {"matchLabels": {"app": "web"}}, **term}
    return {rule: {"requiredDuringSchedulingIgnoredDuringExecution": [asked]}}


WEB = {"app": "web"}


def test_a_pod_stays_away_from_those_it_refuses() -> None:
    place = Place(node=a_node(), pods=[a_pod("first", labels=WEB)])
    pod = a_pod(affinity=near("podAntiAffinity"))

    assert reasons(pod, place) == ["node(s) didn't match pod anti-affinity rules"]
    assert reasons(pod, a_node("two"), place) == []


def test_a_pod_is_kept_away_from_those_that_refuse_it() -> None:
    place = Place(node=a_node(), pods=[a_pod("first", affinity=near("podAntiAffinity"))])

    found = reasons(a_pod(labels=WEB), place)

    assert found == ["node(s) didn't satisfy existing pods anti-affinity rules"]
    assert reasons(a_pod(), place) == []


def test_a_pod_goes_to_those_it_wants_near() -> None:
    place = Place(node=a_node(), pods=[a_pod("first", labels=WEB)])
    pod = a_pod(affinity=near("podAffinity"))

    assert reasons(pod, place) == []
    assert reasons(pod, a_node("two"), place) == ["node(s) didn't match pod affinity rules"]


def test_the_first_of_a_family_may_start_anywhere() -> None:
    first = a_pod(labels=WEB, affinity=near("podAffinity"))
    stranger = a_pod(affinity=near("podAffinity"))

    assert reasons(first, a_node()) == []
    assert reasons(stranger, a_node()) == ["node(s) didn't match pod affinity rules"]


@pytest.mark.parametrize(
    ("term", "is_meant"),
    [
        ({}, False),
        ({"namespaces": ["away"]}, True),
        ({"namespaceSelector": {"matchLabels": {"team": "b"}}}, True),
        ({"namespaceSelector": {"matchLabels": {"team": "a"}}}, False),
        ({"namespaceSelector": {}}, True),
    ],
)
def test_a_rule_speaks_of_its_own_namespace_unless_it_says_otherwise(
    term: dict[str, Any], *, is_meant: bool
) -> None:
    other = a_pod("first", labels=WEB)
    metadata = msgspec.structs.replace(other.metadata, namespace="away")
    place = Place(node=a_node(), pods=[msgspec.structs.replace(other, metadata=metadata)])

    found = reasons(a_pod(affinity=near("podAntiAffinity", **term)), place)

    assert found == (["node(s) didn't match pod anti-affinity rules"] if is_meant else [])


def test_a_rule_can_speak_of_those_with_the_same_label_as_oneself() -> None:
    place = Place(node=a_node(), pods=[a_pod("first", labels={**WEB, "version": "1"})])
    rule = near("podAntiAffinity", matchLabelKeys=["version"])

    assert reasons(a_pod(labels={"version": "2"}, affinity=rule), place) == []
    assert reasons(a_pod(labels={"version": "1"}, affinity=rule), place) != []
