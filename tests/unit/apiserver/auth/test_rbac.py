"""Roles and bindings that change, and what follows. What they mean is held against a real server elsewhere."""

from typing import Any

import pytest

from kubevirt.apiserver.auth.authorization import Authorization
from kubevirt.apiserver.auth.rbac import aggregation, defaults
from kubevirt.apiserver.auth.rbac.escalation import Escalation, Written
from kubevirt.apiserver.auth.rbac.policy import GROUP, HELD_LIMIT
from kubevirt.apiserver.auth.rbac.rules import Rule
from kubevirt.apiserver.http import asked
from kubevirt.apiserver.http.asked import Asked
from kubevirt.apiserver.refusals import Refusal
from kubevirt.apiserver.registry.identity import ANONYMOUS, Identity

Object = dict[str, Any]
ANN = Identity(user="ann", groups=("ops", "system:authenticated"))
GET_POD = asked.read("GET", "/api/v1/namespaces/lab/pods/one", {})


def role(name: str, *rules: Object, namespace: str = "", **labels: str) -> Object:
    metadata = {"name": name, "namespace": namespace, "labels": labels}
    return {"metadata": metadata, "rules": list(rules)}


def rule(verbs: str, resources: str, group: str = "") -> Object:
    return {"verbs": verbs.split(), "apiGroups": [group], "resources": resources.split()}


def bound(name: str, to: str, kind: str, who: str, namespace: str = "") -> Object:
    return {
        "metadata": {"name": name, "namespace": namespace},
        "roleRef": {"kind": "ClusterRole", "name": to},
        "subjects": [{"kind": kind, "name": who}],
    }


@pytest.fixture
def access() -> Authorization:
    return Authorization()


def put(access: Authorization, resource: str, object_: Object) -> None:
    metadata = object_["metadata"]
    access.observe(GROUP, resource, metadata.get("namespace", ""), metadata["name"], object_)


def may(access: Authorization, who: Identity = ANN, what: Asked = GET_POD) -> bool:
    return access.authorize(what, who).allowed


def test_what_changes_counts_at_once(access: Authorization) -> None:
    assert not may(access)
    put(access, "clusterrolebindings", bound("b", "reader", "Group", "ops"))
    decision = access.authorize(GET_POD, ANN)
    assert decision.reason == f'RBAC: clusterrole.{GROUP} "reader" not found'
    put(access, "clusterroles", role("reader", rule("get", "pods")))
    assert may(access)
    put(access, "clusterroles", role("reader", rule("list", "pods")))
    assert not may(access)
    put(access, "clusterroles", role("reader", rule("*", "*")))
    assert may(access)
    put(access, "clusterrolebindings", bound("b", "reader", "User", "bob"))
    assert not may(access)
    assert may(access, Identity(user="bob"))
    access.observe(GROUP, "clusterrolebindings", "", "b", None)
    assert not may(access, Identity(user="bob"))
    assert not access.policy._bound


def test_a_role_of_one_namespace_says_nothing_of_another(access: Authorization) -> None:
    put(access, "roles", role("r", rule("get", "pods"), namespace="lab"))
    binding = bound("b", "r", "User", "ann", namespace="lab")
    put(access, "rolebindings", {**binding, "roleRef": {"kind": "Role", "name": "r"}})
    elsewhere = bound("b", "r", "User", "ann", namespace="other")
    put(access, "rolebindings", {**elsewhere, "roleRef": {"kind": "Role", "name": "r"}})
    assert may(access)
    assert not may(access, what=asked.read("GET", "/api/v1/namespaces/other/pods/one", {}))
    assert not may(access, what=asked.read("GET", "/api/v1/pods", {}))


def test_a_rule_with_names_is_about_those_alone(access: Authorization) -> None:
    named = {**rule("get list", "pods"), "resourceNames": ["one"]}
    put(access, "clusterroles", role("r", named))
    put(access, "clusterrolebindings", bound("b", "r", "User", "ann"))
    assert may(access)
    for path in ("/api/v1/namespaces/lab/pods/two", "/api/v1/namespaces/lab/pods"):
        assert not may(access, what=asked.read("GET", path, {}))
    only_one = {"fieldSelector": "metadata.name=one"}
    assert may(access, what=asked.read("GET", "/api/v1/namespaces/lab/pods", only_one))


def test_what_is_held_by_name_is_not_given_without(access: Authorization) -> None:
    named = {**rule("get", "pods"), "resourceNames": ["one"]}
    put(access, "clusterroles", role("r", named))
    put(access, "clusterrolebindings", bound("b", "r", "User", "ann"))
    escalation = Escalation(access.policy, access.authorize)

    def check(*rules: Object) -> None:
        new = role("new", *rules)
        written = Written(resource="clusterroles", namespace="", asked_name="", new=new)
        escalation.check_role(written, ANN)

    check(named)
    for wider in (rule("get", "pods"), {**named, "resourceNames": ["one", "two"]}):
        with pytest.raises(Refusal, match="permissions not currently held"):
            check(wider)


def test_those_who_come_and_go_are_not_remembered_for_ever(access: Authorization) -> None:
    for number in range(HELD_LIMIT + 10):
        may(access, Identity(user=f"user-{number}"))
    assert len(access.policy._known) <= HELD_LIMIT


def test_masters_need_no_role(access: Authorization) -> None:
    assert may(access, Identity(user="x", groups=("system:masters",)))


@pytest.mark.parametrize(
    ("method", "path", "is_allowed"),
    [
        ("GET", "/healthz", True),
        ("GET", "/readyz", True),
        ("GET", "/version", True),
        ("POST", "/version", False),
        ("GET", "/readyz/etcd", False),
        ("GET", "/metrics", False),
        ("GET", "/api", False),
        ("GET", "/apis/apps/v1", False),
        ("GET", "/api/v1/namespaces", False),
        ("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", False),
    ],
)
def test_an_anonymous_one_learns_how_the_server_is_and_nothing_else(
    access: Authorization, method: str, path: str, *, is_allowed: bool
) -> None:
    for resource, object_ in defaults.objects():
        put(access, resource, object_)
    assert may(access, ANONYMOUS, asked.read(method, path, {})) is is_allowed


def test_gathered_rules_follow_their_parts_through_others() -> None:
    def gathering(name: str, label: str, **labels: str) -> Object:
        selector = {"matchExpressions": [{"key": label, "operator": "In", "values": ["yes"]}]}
        rule_of = {"clusterRoleSelectors": [selector]}
        return {**role(name, **labels), "aggregationRule": rule_of}

    roles = {
        each["metadata"]["name"]: each
        for each in (
            gathering("top", "a"),
            gathering("middle", "b", a="yes"),
            role("part", rule("get", "pods"), b="yes"),
            role("other", rule("list", "pods"), b="no"),
        )
    }
    wanted = (Rule.of(rule("get", "pods")),)
    assert aggregation.changes(roles) == {"top": wanted, "middle": wanted}
    for name in ("top", "middle"):
        roles[name]["rules"] = [rule("get", "pods")]
    assert aggregation.changes(roles) == {}
    del roles["part"]
    assert aggregation.changes(roles) == {"top": (), "middle": ()}


def test_a_gathered_role_is_no_part_of_itself() -> None:
    own = {"clusterRoleSelectors": [{"matchLabels": {"a": "yes"}}]}
    roles = {
        "whole": {**role("whole", rule("delete", "pods"), a="yes"), "aggregationRule": own},
        "part": role("part", rule("get", "pods"), a="yes"),
    }
    assert aggregation.changes(roles) == {"whole": (Rule.of(rule("get", "pods")),)}


def test_a_ring_of_gathered_roles_comes_to_rest() -> None:
    def member(name: str, picks: str, *rules: Object, **labels: str) -> Object:
        selector = {"matchLabels": {picks: "yes"}}
        return {
            **role(name, *rules, **labels),
            "aggregationRule": {"clusterRoleSelectors": [selector]},
        }

    roles = {"x": member("x", "y", rule("get", "pods"), x="yes"), "y": member("y", "x", y="yes")}
    for name, rules in aggregation.changes(roles).items():
        roles[name]["rules"] = [each.as_object() for each in rules]
    assert aggregation.changes(roles) == {}


def test_the_default_roles_are_at_rest() -> None:
    roles = {
        each["metadata"]["name"]: each
        for resource, each in defaults.objects()
        if resource == "clusterroles"
    }
    assert aggregation.changes(roles) == {}
    assert len(roles["admin"]["rules"]) > len(roles["edit"]["rules"]) > len(roles["view"]["rules"])


def test_housekeeping_of_a_role_needs_no_rights(access: Authorization) -> None:
    escalation = Escalation(access.policy, access.authorize)
    old = role("r", rule("get", "pods"))
    new = {**old, "metadata": {**old["metadata"], "finalizers": [], "resourceVersion": "2"}}

    def check(object_: Object) -> None:
        escalation.check_role(
            Written(resource="clusterroles", namespace="", asked_name="r", new=object_, old=old),
            ANN,
        )

    check(new)
    with pytest.raises(Refusal):
        check({**new, "metadata": {**new["metadata"], "labels": {"a": "b"}}})
