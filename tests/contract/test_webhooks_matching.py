"""Which writes a webhook is asked about: by rules, by labels, by version, by conditions."""

import asyncio
from typing import Any

import pytest
from tests.contract import hooks
from tests.contract.hooks import ASK_ABOUT_MAPS, MUTATING, VALIDATING, no
from tests.contract.lamps import CONFIG_MAPS, LAMPS, OLD_LAMPS, PODS, a_config_map, a_lamp, a_pod

from kubevirt.api.resource import Resource
from kubevirt.kube.client import Client
from kubevirt.kube.errors import ApiError

Object = dict[str, Any]
MERGE = "application/merge-patch+json"


def rule(**more: Any) -> Object:
    every = {"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"]}
    return {**every, **more}


async def write(client: Client, namespace: str) -> None:
    """A config map comes, changes and goes; a lamp comes, is lit and scaled."""
    path = f"/api/v1/namespaces/{namespace}/configmaps/one"
    await client.create(CONFIG_MAPS, a_config_map("one"), namespace=namespace)
    await client.raw("PATCH", path, {"data": {"x": "y"}}, content_type=MERGE)
    await hooks.settled(client, path)
    await client.delete(CONFIG_MAPS, "one", namespace=namespace)
    await client.create(LAMPS, a_lamp("hall"), namespace=namespace)
    path = f"/apis/house.example/v1/namespaces/{namespace}/lamps/hall"
    await client.raw("PATCH", f"{path}/status", {"status": {"lit": True}}, content_type=MERGE)
    await hooks.settled(client, path)
    await client.raw("PATCH", f"{path}/scale", {"spec": {"replicas": 2}}, content_type=MERGE)


def told(hook: hooks.Hook) -> list[str]:
    """In short, of the writes above: others of the cluster are at work too."""
    return [
        f"{each['operation']} {each['resource']['resource']}"
        + (f"/{each['subResource']}" if each.get("subResource") else "")
        for each in hook.asked
        if each["resource"]["resource"] in ("configmaps", "lamps")
        and each.get("name") in ("one", "hall")
    ]


MAPS = ["CREATE configmaps", "UPDATE configmaps", "DELETE configmaps"]
BELOW = ["UPDATE lamps/status", "UPDATE lamps/scale"]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (rule(), [*MAPS, "CREATE lamps"]),
        (rule(resources=["*/*"]), [*MAPS, "CREATE lamps", *BELOW]),
        (rule(resources=["configmaps"]), MAPS),
        (rule(resources=["lamps/*"]), ["CREATE lamps", *BELOW]),
        (rule(resources=["*/status"]), ["UPDATE lamps/status"]),
        (rule(resources=["lamps/scale"]), ["UPDATE lamps/scale"]),
        (rule(operations=["CREATE"]), ["CREATE configmaps", "CREATE lamps"]),
        (rule(operations=["UPDATE", "DELETE"]), ["UPDATE configmaps", "DELETE configmaps"]),
        (rule(operations=["CONNECT"]), []),
        (rule(apiGroups=[""]), MAPS),
        (rule(apiGroups=["house.example"]), ["CREATE lamps"]),
        (rule(apiGroups=["house"]), []),
        (rule(apiVersions=["v2"]), []),
        (rule(scope="Namespaced"), [*MAPS, "CREATE lamps"]),
        (rule(scope="Cluster"), []),
    ],
    ids=[
        *("all", "all and below", "maps", "lamps and below", "any status", "scale", "created"),
        *("changed", "connected", "core", "house", "no group", "no version", "inside", "outside"),
    ],
)
async def test_rules(
    client: Client,
    namespace: str,
    lamps: Resource[Object],
    wanted: Object,
    expected: list[str],
) -> None:
    async with hooks.one(client, VALIDATING, namespace, rules=[wanted]) as hook:
        await write(client, namespace)
        assert told(hook) == expected


async def test_a_webhook_without_rules_is_never_asked(client: Client, namespace: str) -> None:
    async with hooks.one(client, VALIDATING, namespace, no(), rules=None):
        await client.create(CONFIG_MAPS, a_config_map("one"), namespace=namespace)


async def test_the_scope_of_a_namespace_is_the_cluster(client: Client) -> None:
    namespaces = Resource("", "v1", "namespaces", "Namespace", False, Object)
    made = await client.create(namespaces, {"metadata": {"generateName": "contract-"}})
    name = made["metadata"]["name"]
    change = {"metadata": {"annotations": {"a": "b"}}}
    try:
        for scope, is_asked in (("Cluster", True), ("Namespaced", False)):
            wanted = rule(resources=["namespaces"], scope=scope)
            async with hooks.one(client, VALIDATING, name, rules=[wanted]) as hook:
                path = f"/api/v1/namespaces/{name}"
                await client.raw("PATCH", path, change, content_type=MERGE)
            assert bool(hook.asked) is is_asked
            change = {"metadata": {"annotations": {"a": "c"}}}
    finally:
        await client.delete(namespaces, name)


# Labels


@pytest.mark.parametrize(
    ("selector", "is_asked"),
    [
        ({"matchLabels": {"room": "hall"}}, True),
        ({"matchLabels": {"room": "attic"}}, False),
        ({"matchExpressions": [{"key": "room", "operator": "In", "values": ["hall"]}]}, True),
        ({"matchExpressions": [{"key": "room", "operator": "NotIn", "values": ["hall"]}]}, False),
        ({"matchExpressions": [{"key": "floor", "operator": "NotIn", "values": ["1"]}]}, True),
        ({"matchExpressions": [{"key": "room", "operator": "Exists"}]}, True),
        ({"matchExpressions": [{"key": "room", "operator": "DoesNotExist"}]}, False),
        (
            {
                "matchLabels": {"room": "hall"},
                "matchExpressions": [{"key": "x", "operator": "Exists"}],
            },
            False,
        ),
        ({}, True),
    ],
    ids=str,
)
async def test_labels_of_objects(
    client: Client, namespace: str, selector: Object, *, is_asked: bool
) -> None:
    async with hooks.one(client, VALIDATING, namespace, objectSelector=selector) as hook:
        body = a_config_map("one", {"room": "hall"})
        await client.create(CONFIG_MAPS, body, namespace=namespace)
    assert bool(hook.asked) is is_asked


async def test_an_object_is_known_by_the_labels_that_it_had(client: Client, namespace: str) -> None:
    body = a_config_map("one", {"room": "hall"})
    made = await client.create(CONFIG_MAPS, body, namespace=namespace)
    selector = {"matchLabels": {"room": "hall"}}
    async with hooks.one(client, VALIDATING, namespace, no("it stays"), objectSelector=selector):
        without = {**made, "metadata": {**made["metadata"], "labels": {}}}
        path = f"/api/v1/namespaces/{namespace}/configmaps/one"
        with pytest.raises(ApiError):
            await client.raw("PUT", path, without)


async def test_labels_of_other_namespaces(client: Client, namespace: str) -> None:
    selector = {
        "matchExpressions": [
            {"key": "kubernetes.io/metadata.name", "operator": "In", "values": [namespace]},
            {"key": "watched", "operator": "Exists"},
        ]
    }
    path = f"/api/v1/namespaces/{namespace}"
    async with hooks.one(client, VALIDATING, namespace, namespaceSelector=selector) as hook:
        await client.create(CONFIG_MAPS, a_config_map("before"), namespace=namespace)
        await client.raw(
            "PATCH", path, {"metadata": {"labels": {"watched": "yes"}}}, content_type=MERGE
        )
        async with asyncio.timeout(120):
            while not hook.asked:  # a real server learns of it by watching
                body = {"metadata": {"generateName": "after-"}}
                await client.create(CONFIG_MAPS, body, namespace=namespace)
    assert hook.asked[0]["name"].startswith("after-")


async def test_what_is_in_no_namespace_is_not_spared_by_one(client: Client, namespace: str) -> None:
    classes = Resource("scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", False, Object)
    wanted = rule(resources=["priorityclasses"])
    label = namespace
    selector = {"matchLabels": {"of": label}}
    async with hooks.one(
        client, VALIDATING, namespace, rules=[wanted], objectSelector=selector
    ) as hook:
        body = {"metadata": {"generateName": "hooks-", "labels": {"of": label}}, "value": 1}
        made = await client.create(classes, body)
        await client.delete(classes, made["metadata"]["name"])
    assert [each["operation"] for each in hook.asked] == ["CREATE", "DELETE"]
    assert "namespace" not in hook.asked[0]


# Versions


def for_version(version: str) -> list[Object]:
    return [rule(apiGroups=["house.example"], apiVersions=[version], resources=["lamps"])]


@pytest.mark.parametrize("asks_in", ["v1", "v1alpha1"])
@pytest.mark.parametrize("speaks", [LAMPS, OLD_LAMPS], ids=lambda each: each.version)
async def test_another_version_of_a_resource_is_the_same_resource(
    client: Client,
    namespace: str,
    lamps: Resource[Object],
    asks_in: str,
    speaks: Resource[Object],
) -> None:
    """Whatever the client speaks, the webhook hears the version that it knows."""
    async with hooks.one(
        client, MUTATING, namespace, hooks.add("/spec/bulbs", 3), rules=for_version(asks_in)
    ) as hook:
        made = await client.create(speaks, a_lamp("hall"), namespace=namespace)
    (asked,) = hook.asked
    assert asked["kind"] == {"group": "house.example", "version": asks_in, "kind": "Lamp"}
    assert asked["resource"]["version"] == asks_in
    assert asked["requestKind"]["version"] == speaks.version
    assert asked["requestResource"]["version"] == speaks.version
    assert asked["object"]["apiVersion"] == f"house.example/{asks_in}"
    assert made["apiVersion"] == f"house.example/{speaks.version}"
    assert made["spec"]["bulbs"] == 3


async def test_who_insists_on_a_version_hears_of_no_other(
    client: Client, namespace: str, lamps: Resource[Object]
) -> None:
    async with hooks.one(
        client, VALIDATING, namespace, rules=for_version("v1alpha1"), matchPolicy="Exact"
    ) as hook:
        await client.create(LAMPS, a_lamp("hall"), namespace=namespace)
        await client.create(OLD_LAMPS, a_lamp("attic"), namespace=namespace)
    assert [each["name"] for each in hook.asked] == ["attic"]


# Conditions


def when(*expressions: str) -> list[Object]:
    return [
        {"name": f"number-{index}", "expression": expression}
        for index, expression in enumerate(expressions)
    ]


@pytest.mark.parametrize(
    ("expressions", "is_asked"),
    [
        (["true"], True),
        (["true", "false"], False),
        (["object.metadata.name == 'one'"], True),
        (["object.data['x'] == 'z'"], False),
        (["oldObject == null"], True),
        (["request.operation == 'CREATE' && request.name == 'one'"], True),
        (["request.resource.resource == 'configmaps' && request.kind.kind == 'ConfigMap'"], True),
        (["request.userInfo.username == 'kubernetes-admin'"], True),
        (["'system:masters' in request.userInfo.groups"], True),
        (["!('system:masters' in request.userInfo.groups)"], False),
        (["request.dryRun"], False),
        (["has(object.metadata.labels) && 'a' in object.metadata.labels"], False),
        (["object.data.x.startsWith('y')"], True),
        (["object.missing.x == 1", "false"], False),  # a false one settles it
    ],
    ids=str,
)
async def test_conditions(
    client: Client, namespace: str, expressions: list[str], *, is_asked: bool
) -> None:
    async with hooks.one(client, VALIDATING, namespace, matchConditions=when(*expressions)) as hook:
        body = {"metadata": {"name": "one"}, "data": {"x": "y"}}
        await client.create(CONFIG_MAPS, body, namespace=namespace)
    assert bool(hook.asked) is is_asked


async def test_a_condition_sees_what_was_before(client: Client, namespace: str) -> None:
    made = await client.create(CONFIG_MAPS, a_config_map("one", x="y"), namespace=namespace)
    conditions = when("object.data.x != oldObject.data.x")
    path = f"/api/v1/namespaces/{namespace}/configmaps/one"
    rules = [{**ASK_ABOUT_MAPS, "operations": ["UPDATE"]}]
    async with hooks.one(
        client, VALIDATING, namespace, rules=rules, matchConditions=conditions
    ) as hook:
        same = {**made, "metadata": {**made["metadata"], "annotations": {"a": "b"}}}
        await client.raw(
            "PUT", path, {**same, "metadata": {**same["metadata"], "resourceVersion": ""}}
        )
        assert not hook.asked
        await hooks.settled(client, path)
        other = {**same, "data": {"x": "z"}}
        await client.raw(
            "PUT", path, {**other, "metadata": {**same["metadata"], "resourceVersion": ""}}
        )
    assert len(hook.asked) == 1


@pytest.mark.parametrize(
    ("expressions", "words"),
    [
        (
            ["object.missing.x == 1"],
            "expression 'object.missing.x == 1' resulted in error: no such key: missing",
        ),
        (
            ["object.missing == 1", "object.gone == 2"],
            (
                "[expression 'object.missing == 1' resulted in error: no such key: missing, "
                "expression 'object.gone == 2' resulted in error: no such key: gone]"
            ),
        ),
    ],
    ids=["one", "two"],
)
async def test_a_condition_without_an_answer_is_a_webhook_that_fails(
    client: Client, namespace: str, expressions: list[str], words: str
) -> None:
    conditions = when(*expressions)
    async with hooks.one(client, VALIDATING, namespace, matchConditions=conditions) as hook:
        with pytest.raises(ApiError) as caught:
            await client.create(CONFIG_MAPS, a_config_map("one"), namespace=namespace)
    status = caught.value.status
    assert (status.code, status.reason) == (403, "Forbidden")
    assert status.message == f'configmaps "one" is forbidden: {words}'
    assert not hook.asked
    async with hooks.one(
        client, VALIDATING, namespace, matchConditions=conditions, failurePolicy="Ignore"
    ) as hook:
        await client.create(CONFIG_MAPS, a_config_map("one"), namespace=namespace)
    assert not hook.asked


# Whom nobody is asked about


async def test_nobody_is_asked_about_webhooks(client: Client, namespace: str) -> None:
    wanted = rule(apiGroups=["admissionregistration.k8s.io"])
    async with hooks.one(client, VALIDATING, namespace, no("mine"), rules=[wanted]):
        for kind in (MUTATING, VALIDATING):
            made = await client.create(kind, {"metadata": {"generateName": "hooks-"}})
            await client.delete(kind, made["metadata"]["name"])


async def test_a_configuration_takes_effect_and_loses_it(client: Client, namespace: str) -> None:
    async with hooks.one(client, VALIDATING, namespace, no("not now")):
        with pytest.raises(ApiError):
            await client.create(CONFIG_MAPS, a_config_map("one"), namespace=namespace)
    async with asyncio.timeout(120):
        while True:  # a real server learns of it by watching
            try:
                await client.create(CONFIG_MAPS, a_config_map("one"), namespace=namespace)
            except ApiError:
                continue
            return


async def test_a_changed_configuration_takes_effect(client: Client, namespace: str) -> None:
    async with hooks.served() as server:
        server.hooks["/hook"] = hooks.Hook(no("not now"))
        entry = hooks.webhook(server.url("/hook"), namespace)
        async with hooks.in_effect(client, VALIDATING, namespace, [entry]) as made:
            with pytest.raises(ApiError):
                await client.create(CONFIG_MAPS, a_config_map("one"), namespace=namespace)
            path = f"/apis/{hooks.GROUP}/v1/validatingwebhookconfigurations/"
            harmless = [{"op": "replace", "path": "/webhooks/0/rules", "value": []}]
            await client.raw(
                "PATCH",
                path + made["metadata"]["name"],
                harmless,
                content_type="application/json-patch+json",
            )
            async with asyncio.timeout(120):
                while True:
                    try:
                        await client.create(CONFIG_MAPS, a_config_map("one"), namespace=namespace)
                    except ApiError:
                        continue
                    return


async def test_pods_pass_webhooks_after_the_servers_own_steps(
    client: Client, namespace: str
) -> None:
    """What the server itself fills in is there when a webhook looks."""
    rules = [{**ASK_ABOUT_MAPS, "operations": ["CREATE"], "resources": ["pods"]}]
    async with hooks.one(client, MUTATING, namespace, rules=rules) as hook:
        await client.create(PODS, a_pod("one"), namespace=namespace)
    (asked,) = hook.asked
    spec = asked["object"]["spec"]
    assert spec["serviceAccountName"] == "default"
    assert spec["priority"] == 0
    assert {each["key"] for each in spec["tolerations"]} == {
        "node.kubernetes.io/not-ready",
        "node.kubernetes.io/unreachable",
    }
