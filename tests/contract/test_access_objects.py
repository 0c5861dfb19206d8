"""Roles and bindings as objects: what is filled in, and what cannot be written."""

from typing import Any

import pytest
from tests.contract.access import ACCESS, binding, role, rule, user

from kubevirt.apiserver.auth.rbac.policy import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    GROUP,
    ROLE_BINDINGS,
    ROLES,
)
from kubevirt.kube.client import Client
from kubevirt.kube.errors import Invalid

Object = dict[str, Any]
TO_VIEW = {"apiGroup": GROUP, "kind": "ClusterRole", "name": "view"}


async def test_what_a_binding_leaves_out_is_filled_in(client: Client, namespace: str) -> None:
    made = await client.create(
        ACCESS[ROLE_BINDINGS],
        {
            "metadata": {"name": "team:a"},
            "roleRef": {"kind": "ClusterRole", "name": "view"},
            "subjects": [
                {"kind": "User", "name": "ann"},
                {"kind": "Group", "name": "ops"},
                {"kind": "ServiceAccount", "name": "robot", "namespace": namespace},
            ],
        },
        namespace,
    )
    assert made["roleRef"] == TO_VIEW
    assert made["subjects"] == [
        {"kind": "User", "name": "ann", "apiGroup": GROUP},
        {"kind": "Group", "name": "ops", "apiGroup": GROUP},
        {"kind": "ServiceAccount", "name": "robot", "namespace": namespace},
    ]


WRONG: list[tuple[str, Object, str]] = [
    (ROLES, role("r", {"verbs": ["get"]}), "rules[0].apiGroups: Required value"),
    (ROLES, role("r", rule("", "core", "pods")), "rules[0].verbs: Required value"),
    (ROLES, role("a/b", rule("get", "core", "pods")), "metadata.name: Invalid value"),
    (
        ROLES,
        role("r", {"verbs": ["get"], "nonResourceURLs": ["/x"]}),
        "rules[0].nonResourceURLs: Invalid value",
    ),
    (
        CLUSTER_ROLES,
        role("r", {**rule("get", "core", "pods"), "nonResourceURLs": ["/x"]}),
        "rules[0].nonResourceURLs: Invalid value",
    ),
    (
        CLUSTER_ROLES,
        {**role("r"), "aggregationRule": {}},
        "aggregationRule.clusterRoleSelectors: Required value",
    ),
    (
        CLUSTER_ROLE_BINDINGS,
        binding("b", "Role", "r", user("a")),
        "roleRef.kind: Unsupported value",
    ),
    (ROLE_BINDINGS, binding("b", "Lamp", "r", user("a")), "roleRef.kind: Unsupported value"),
    (ROLE_BINDINGS, binding("b", "Role", "", user("a")), "roleRef.name: Required value"),
    (
        CLUSTER_ROLE_BINDINGS,
        binding("b", "ClusterRole", "r", {"kind": "ServiceAccount", "name": "x"}),
        "subjects[0].namespace: Required value",
    ),
    (
        ROLE_BINDINGS,
        binding("b", "ClusterRole", "r", {"kind": "Lamp", "name": "x"}, {"kind": "User"}),
        "subjects[0].kind: Unsupported value",
    ),
    (
        ROLE_BINDINGS,
        binding("b", "ClusterRole", "r", {"kind": "User", "name": "x", "apiGroup": "other"}),
        "subjects[0].apiGroup: Unsupported value",
    ),
]


@pytest.mark.parametrize(("plural", "object_", "words"), WRONG)
async def test_what_says_nothing_is_refused(
    client: Client, namespace: str, plural: str, object_: Object, words: str
) -> None:
    from kubevirt.apiserver.kinds import builtin
    from kubevirt.apiserver.registry.rules import rules_of
    from kubevirt.apiserver.schema.field_errors import aggregate

    where = [namespace] if ACCESS[plural].namespaced else []
    with pytest.raises(Invalid) as caught:
        await client.create(ACCESS[plural], object_, *where)
    assert words in caught.value.status.message
    kind = next(
        each for each in builtin.kinds() if (each.group, each.names.plural) == (GROUP, plural)
    )
    rules = rules_of(kind)
    sent = {**object_, "metadata": {**object_["metadata"], "namespace": "".join(where)}}
    ours = rules.errors_of_new(rules.defaulted(sent), is_namespaced=bool(where))
    assert caught.value.status.message.endswith(f"is invalid: {aggregate(ours)}")


async def test_a_binding_stays_with_its_role(client: Client, namespace: str) -> None:
    made = await client.create(
        ACCESS[ROLE_BINDINGS], binding("b", "ClusterRole", "view", user("ann")), namespace
    )
    other = {**made, "roleRef": {**TO_VIEW, "name": "edit"}}
    with pytest.raises(Invalid) as caught:
        await client.replace(ACCESS[ROLE_BINDINGS], "b", other, namespace)
    assert caught.value.status.message == (
        f'RoleBinding.{GROUP} "b" is invalid: roleRef: Invalid value: '
        f'{{"APIGroup":"{GROUP}","Kind":"ClusterRole","Name":"edit"}}: cannot change roleRef'
    )
