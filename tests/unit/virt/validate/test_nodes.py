"""What a virt-handler writes into nodes: its marks, on its own."""

from typing import Any

import pytest
from tests.unit.virt.domain_cases import merged
from tests.unit.virt.validate.judged import CONTROLLER, USER, rules

from kubevirt.virt.validate.nodes import node_write_causes
from kubevirt.virt.validate.requester import NODE_NAME, Requester

NODE: dict[str, Any] = {
    "metadata": {
        "name": "one",
        "uid": "1",
        "resourceVersion": "7",
        "managedFields": [{"manager": "kubelet"}],
        "labels": {"kubernetes.io/hostname": "one", "kubevirt.io/schedulable": "false"},
        "annotations": {"volumes.kubernetes.io/attached": "true"},
    },
    "spec": {"podCIDR": "10.244.0.0/24"},
    "status": {"phase": "Running"},
}


def handler(node: str | None) -> Requester:
    extra = {NODE_NAME: (node,)} if node else {}
    return Requester(username="system:serviceaccount:kubevirt:kubevirt-handler", extra=extra)


def refused(patch: dict[str, Any], requester: Requester, *disabled: str) -> list[tuple[str, str]]:
    the_rules = rules({"developerConfiguration": {"disabledFeatureGates": list(disabled)}})
    causes = node_write_causes(NODE, merged(NODE, patch), requester, the_rules)
    return [(cause.field, cause.message) for cause in causes]


BEAT = {
    "metadata": {
        "resourceVersion": "8",
        "managedFields": [{"manager": "virt-handler"}],
        "labels": {
            "kubevirt.io/schedulable": "true",
            "cpu-model.node.kubevirt.io/Nehalem": "true",
        },
        "annotations": {"kubevirt.io/heartbeat": "2026-11-16T00:00:00Z"},
    }
}


def test_a_heartbeat_is_for_the_node_that_it_comes_from() -> None:
    assert refused(BEAT, handler("one")) == []
    assert refused(BEAT, handler("two")) == [
        ("", "Node restriction, virt-handler is only allowed to modify the node it runs on")
    ]
    assert refused(BEAT, handler(None)) == [
        ("", "Node restriction failed, virt-handler service account is missing node name")
    ]


@pytest.mark.parametrize(
    ("patch", "cause"),
    [
        (
            {"spec": {"unschedulable": True}},
            ("spec", "this user cannot modify spec of node"),
        ),
        (
            {"metadata": {"finalizers": ["a/b"]}},
            ("metadata", "this user can only change allowed metadata fields"),
        ),
        (
            {"metadata": {"labels": {"secrets": "here"}}},
            ("metadata.labels", "this user cannot add/delete non kubevirt-owned labels"),
        ),
        (
            {"metadata": {"labels": {"kubernetes.io/hostname": None}}},
            ("metadata.labels", "this user cannot add/delete non kubevirt-owned labels"),
        ),
        (
            {"metadata": {"labels": {"kubernetes.io/hostname": "two"}}},
            ("metadata.labels", "this user cannot update non kubevirt-owned labels"),
        ),
        (
            {"metadata": {"labels": {"notkubevirt.io/a": "b"}}},
            ("metadata.labels", "this user cannot add/delete non kubevirt-owned labels"),
        ),
        (
            {"metadata": {"labels": {"kubevirt.io": "a name, and no domain"}}},
            ("metadata.labels", "this user cannot add/delete non kubevirt-owned labels"),
        ),
        (
            {"metadata": {"annotations": {"a": "b"}}},
            ("metadata.annotations", "this user cannot add/delete non kubevirt-owned annotations"),
        ),
        (
            {"metadata": {"annotations": {"volumes.kubernetes.io/attached": "no"}}},
            ("metadata.annotations", "this user cannot update non kubevirt-owned annotations"),
        ),
    ],
)
def test_it_writes_nothing_else_there(patch: dict[str, Any], cause: tuple[str, str]) -> None:
    assert refused(patch, handler("one")) == [cause]


def test_others_write_nodes_as_their_roles_let_them() -> None:
    for requester in (USER, CONTROLLER, Requester(username="system:node:one")):
        assert refused({"spec": {"unschedulable": True}}, requester) == []


def test_the_restriction_has_its_gate() -> None:
    assert refused({"spec": {"unschedulable": True}}, handler("two"), "NodeRestriction") == []
