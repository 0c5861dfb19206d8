"""What roles and bindings allow: the server's reviews, held against our own evaluator on random policies."""

import asyncio
import random
from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.contract import access
from tests.contract.access import ACCESS, as_seen, reviewed
from tests.contract.conftest import People, config_of

from kubevirt.apiserver.auth.authorization import Authorization
from kubevirt.apiserver.auth.names import service_account_user
from kubevirt.apiserver.auth.rbac import defaults
from kubevirt.apiserver.auth.rbac.policy import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    ROLE_BINDINGS,
    ROLES,
)
from kubevirt.apiserver.http.asked import Asked
from kubevirt.apiserver.registry.identity import Identity
from kubevirt.kube.client import Client
from kubevirt.kube.errors import Forbidden

VERBS = ("get", "list", "create", "frobnicate")
GROUPS = ("", "apps", "lamps.example")
RESOURCES = ("pods", "lamps", "pods/status", "lamps/status", "lamps/scale")
NAMES = ("", "one", "two")
PATHS = ("/metrics", "/metrics/slis", "/lamps", "/lamps/", "/lamps/one", "/")
QUESTIONS = 150


class Maker:
    """Random policies of few words, so that rules and questions meet."""

    def __init__(self, seed: int, namespace: str) -> None:
        self.chance = random.Random(seed)
        self.namespace = namespace
        self.prefix = f"random-{seed}"
        self.users = [f"{self.prefix}-ann", f"{self.prefix}-bob"]
        self.groups = [f"{self.prefix}-ops", f"{self.prefix}-dev"]
        self.accounts = [service_account_user(namespace, "robot")]

    def some(self, words: tuple[str, ...], *more: str) -> list[str]:
        known = [*words, *more]
        return self.chance.sample(known, self.chance.randint(1, min(3, len(known))))

    def rule(self, *, of_cluster: bool) -> dict[str, Any]:
        verbs = self.some(VERBS, "*")
        if of_cluster and self.chance.random() < 0.25:
            return {"verbs": verbs, "nonResourceURLs": self.some(PATHS, "*", "/lamps/*", "/met*")}
        found: dict[str, Any] = {
            "verbs": verbs,
            "apiGroups": self.some(GROUPS, "*"),
            "resources": self.some(RESOURCES, "*", "*/status", "pods/*"),
        }
        if self.chance.random() < 0.4:
            found["resourceNames"] = self.some(NAMES[1:])
        return found

    def role(self, name: str, *, of_cluster: bool) -> dict[str, Any]:
        count = self.chance.randint(1, 3)
        return access.role(name, *(self.rule(of_cluster=of_cluster) for _ in range(count)))

    def subject(self) -> dict[str, Any]:
        return self.chance.choice(
            [
                *map(access.user, self.users),
                *map(access.group, self.groups),
                access.account(self.namespace, "robot"),
            ]
        )

    def asked(self) -> Asked:
        verb = self.chance.choice(VERBS)
        if self.chance.random() < 0.2:
            return Asked(verb=verb, path=self.chance.choice(PATHS))
        resource, _, subresource = self.chance.choice(RESOURCES).partition("/")
        return Asked(
            verb=verb,
            path="",
            is_resource=True,
            group=self.chance.choice(GROUPS),
            resource=resource,
            subresource=subresource,
            namespace=self.chance.choice(("", self.namespace, "elsewhere")),
            name=self.chance.choice(NAMES),
        )

    def identity(self) -> Identity:
        groups = self.chance.sample(self.groups, self.chance.randint(0, 2))
        return Identity(
            user=self.chance.choice([*self.users, *self.accounts]), groups=tuple(groups)
        )


@pytest.fixture(params=range(4))
async def maker(
    request: pytest.FixtureRequest, client: Client, namespace: str
) -> AsyncIterator[Maker]:
    maker = Maker(request.param, namespace)
    name = maker.prefix
    cluster_roles = [maker.role(f"{name}-{each}", of_cluster=True) for each in range(4)]
    roles = [maker.role(f"{name}-{each}", of_cluster=False) for each in range(4)]
    of_cluster = [
        access.binding(f"{name}-{each}", "ClusterRole", f"{name}-{each}", maker.subject())
        for each in range(2)
    ]
    in_namespace = [
        access.binding(
            f"{name}-{kind}-{each}".lower(),
            kind,
            f"{name}-{each}",
            maker.subject(),
            maker.subject(),
        )
        for kind in ("Role", "ClusterRole")
        for each in range(1, 5)  # the last of each is not there
    ]
    await access.made(client, CLUSTER_ROLES, cluster_roles)
    await access.made(client, ROLES, roles, namespace)
    await access.made(client, CLUSTER_ROLE_BINDINGS, of_cluster)
    await access.made(client, ROLE_BINDINGS, in_namespace, namespace)
    yield maker
    for plural, objects in ((CLUSTER_ROLE_BINDINGS, of_cluster), (CLUSTER_ROLES, cluster_roles)):
        for each in objects:
            await client.delete(ACCESS[plural], each["metadata"]["name"])


async def answer(client: Client, asked: Asked, identity: Identity) -> tuple[bool, str]:
    spec: dict[str, Any] = {"user": identity.user, "groups": list(identity.groups)}
    if asked.is_resource:
        names = ("verb", "group", "resource", "subresource", "namespace", "name")
        spec["resourceAttributes"] = {name: getattr(asked, name) for name in names}
    else:
        spec["nonResourceAttributes"] = {"verb": asked.verb, "path": asked.path}
    status = await reviewed(client, "SubjectAccessReview", spec)
    return status.get("allowed", False), status.get("reason", "")


def causes(reason: str) -> set[str]:
    """What a reason consists of: a server tells the same in any order."""
    return set(reason.removeprefix("RBAC: ").strip("[]").split(", "))


async def settled(client: Client, ours: Authorization, maker: Maker) -> None:
    """A server's evaluator may lag behind what was stored."""
    asked = Asked(verb="get", path="", is_resource=True, resource="none", namespace=maker.namespace)
    async with asyncio.timeout(120):
        for user in (*maker.users, *maker.accounts):
            who = Identity(user=user, groups=tuple(maker.groups))
            expected = ours.authorize(asked, who)
            while True:
                allowed, reason = await answer(client, asked, who)
                if allowed == expected.allowed and causes(reason) == causes(expected.reason):
                    break


async def test_random_policies_allow_what_the_evaluator_says(client: Client, maker: Maker) -> None:
    ours = await as_seen(client)
    await settled(client, ours, maker)
    yes = 0
    for _ in range(QUESTIONS):
        asked, who = maker.asked(), maker.identity()
        allowed, reason = await answer(client, asked, who)
        decision = ours.authorize(asked, who)
        assert decision.allowed == allowed, (asked, who, reason, decision)
        if allowed:
            # Of several bindings that allow it, any may be named.
            assert reason.startswith("RBAC: allowed by ")
            holdings = ours.policy.holdings(who, asked.namespace)
            sources = {each.binding.source(each.subject) for each in holdings.held}
            assert reason.removeprefix("RBAC: allowed by ") in sources
            assert decision.reason.removeprefix("RBAC: allowed by ") in sources
        else:
            assert causes(decision.reason) == causes(reason)
        yes += allowed
    assert 0 < yes < QUESTIONS, "the questions tell nothing"


async def test_the_default_roles_are_those_of_kubernetes(client: Client) -> None:
    for plural, ours in defaults.objects():
        metadata = ours["metadata"]
        where = [metadata["namespace"]] if "namespace" in metadata else []
        found = await client.get(ACCESS[plural], metadata["name"], *where)
        if metadata["name"] in {"admin", "edit", "view"}:  # others may have added to these
            continue
        assert found.get("rules") == ours.get("rules"), metadata["name"]
        assert found.get("roleRef") == ours.get("roleRef")
        assert found.get("subjects") == ours.get("subjects")
        assert found["metadata"]["labels"] == metadata["labels"]
        assert found["metadata"]["annotations"] == metadata["annotations"]


@pytest.mark.parametrize("name", ["admin", "edit", "view"])
async def test_what_people_are_bound_to_has_all_that_kubernetes_gives(
    client: Client, name: str
) -> None:
    ours = next(each for _, each in defaults.objects() if each["metadata"]["name"] == name)
    found = await client.get(ACCESS[CLUSTER_ROLES], name)
    assert found["aggregationRule"] == ours["aggregationRule"]
    assert found["metadata"]["labels"] == ours["metadata"]["labels"]
    for rule in ours["rules"]:
        assert rule in found["rules"]


async def test_a_label_adds_a_role_to_another(client: Client) -> None:
    label = {"contract.example/gathered": "true"}
    parts = [
        access.role("gathered-b", access.rule("get", "core", "pods"), labels=label),
        access.role(
            "gathered-a",
            access.rule("list", "core", "pods"),
            access.rule("get", "core", "pods"),
            labels=label,
        ),
    ]
    whole = {
        **access.role("gathered"),
        "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": label}]},
    }
    await access.made(client, CLUSTER_ROLES, [*parts, whole])
    try:
        wanted = [access.rule("list", "core", "pods"), access.rule("get", "core", "pods")]
        async with asyncio.timeout(120):
            while True:
                found = await client.get(ACCESS[CLUSTER_ROLES], "gathered")
                if found.get("rules") == wanted:
                    break
    finally:
        for each in (*parts, whole):
            await client.delete(ACCESS[CLUSTER_ROLES], each["metadata"]["name"])


async def test_a_role_that_is_missing_is_named_in_the_refusal(
    people: People, client: Client, namespace: str
) -> None:
    bound = access.binding("to-nothing", "ClusterRole", "nothing-there", access.user("eve"))
    await access.made(client, ROLE_BINDINGS, [bound], namespace)
    wanted = (
        f'secrets "x" is forbidden: User "eve" cannot get resource "secrets" in API group "" in the '
        f'namespace "{namespace}": RBAC: clusterrole.rbac.authorization.k8s.io "nothing-there" not found'
    )
    secrets = access.resource("", "secrets", "Secret")
    async with Client(config_of(people.kubeconfig_for("eve"))) as eve, asyncio.timeout(120):
        while True:
            with pytest.raises(Forbidden) as caught:
                await eve.get(secrets, "x", namespace)
            if caught.value.status.message == wanted:
                break


@pytest.mark.parametrize(
    ("method", "path", "about", "what"),
    [
        (
            *("GET", "/api/v1/namespaces/default/pods/one/status"),
            'pods "one" is forbidden',
            'get resource "pods/status" in API group "" in the namespace "default"',
        ),
        (
            *("GET", "/apis/apps/v1/deployments"),
            "deployments.apps is forbidden",
            'list resource "deployments" in API group "apps" at the cluster scope',
        ),
        ("GET", "/metrics", "forbidden", 'get path "/metrics"'),
        (
            *("GET", "/api/v1/namespaces/default"),
            'namespaces "default" is forbidden',
            'get resource "namespaces" in API group "" in the namespace "default"',
        ),
        (
            *("DELETE", "/api/v1/namespaces/default/secrets"),
            "secrets is forbidden",
            'deletecollection resource "secrets" in API group "" in the namespace "default"',
        ),
    ],
)
async def test_a_refusal_says_who_may_not_do_what(
    people: People, method: str, path: str, about: str, what: str
) -> None:
    async with Client(config_of(people.kubeconfig_for("ann<>"))) as ann:
        with pytest.raises(Forbidden) as caught:
            await ann.raw(method, path)
    status = caught.value.status
    assert status.message == f'{about}: User "ann&lt;&gt;" cannot {what}'
    assert (status.code, status.reason) == (403, "Forbidden")
