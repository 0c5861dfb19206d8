"""Who the collector is to others: its writes come by webhooks like everybody's, and can be refused."""

from typing import Any

import pytest
from tests.contract import hooks
from tests.contract.conftest import NAMESPACES
from tests.contract.family import LIMIT_S, Family
from tests.contract.hooks import ASK_ABOUT_MAPS, VALIDATING
from tests.contract.test_namespace_life import is_over, says

from clusterup import waiting
from kubevirt.kube.client import Client

Object = dict[str, Any]

DELETIONS = {**ASK_ABOUT_MAPS, "operations": ["DELETE"]}
GROUPS = [
    "system:serviceaccounts",
    "system:serviceaccounts:kube-system",
    "system:authenticated",
]


@pytest.fixture
def family(client: Client, namespace: str) -> Family:
    return Family(client, namespace)


async def test_the_garbage_collector_is_a_service_account(family: Family) -> None:
    owner, other = await family.create("owner"), await family.create("other")
    part = await family.create("part", owner)
    await family.create("shared", owner, other)
    async with hooks.one(family.client, VALIDATING, family.namespace) as hook:
        await family.delete("owner")
        await family.has_gone("part")
        await family.has_owners("shared", "other")
    said = {(each["operation"], each["name"]): each for each in hook.asked}
    for asked in (said["DELETE", "part"], said["UPDATE", "shared"]):
        user = asked["userInfo"]
        assert user["username"] == "system:serviceaccount:kube-system:generic-garbage-collector"
        assert user["groups"] == GROUPS
    metadata = part["metadata"]
    assert said["DELETE", "part"]["options"] == {
        "apiVersion": "meta.k8s.io/v1",
        "kind": "DeleteOptions",
        "propagationPolicy": "Background",
        "preconditions": {
            "uid": metadata["uid"],
            "resourceVersion": metadata["resourceVersion"],
        },
    }


async def test_a_dependant_that_may_not_go_is_tried_again(family: Family) -> None:
    owner = await family.create("owner")
    await family.create("part", owner)
    refuse = hooks.no("not today")
    rules = [DELETIONS]
    async with hooks.one(family.client, VALIDATING, family.namespace, refuse, rules=rules) as hook:
        hook.answer = lambda asked: refuse(asked) if asked["name"] == "part" else hooks.yes(asked)
        await family.delete("owner")

        async def was_tried_twice() -> bool:
            return bool(sum(each["name"] == "part" for each in hook.asked) >= 2)

        await waiting.until(was_tried_twice, limit_s=LIMIT_S, what="a second attempt")
        assert await family.get("part")
        hook.answer = hooks.yes
        await family.has_gone("part")


async def test_content_that_may_not_go_holds_its_namespace_up(client: Client) -> None:
    made = await client.create(NAMESPACES, {"metadata": {"generateName": "life-"}})
    family = Family(client, made["metadata"]["name"])
    await family.appears("kube-root-ca.crt")
    answer, rules = hooks.no("not today"), [DELETIONS]
    async with hooks.one(client, VALIDATING, family.namespace, answer, rules=rules) as hook:
        await client.delete(NAMESPACES, family.namespace)
        words = 'admission webhook "one.hooks.example" denied the request: not today'
        await says(
            family,
            NamespaceDeletionContentFailure=(
                "ContentDeletionFailed",
                f"Failed to delete all resource types, 1 remaining: {words}",
            ),
        )
        user = hook.asked[0]["userInfo"]
        assert user["username"] == "system:serviceaccount:kube-system:namespace-controller"
        assert user["groups"] == GROUPS
        hook.answer = hooks.yes
        await is_over(family)
