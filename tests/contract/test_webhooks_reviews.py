"""What a webhook is told about a write: which resource, which operation, by whom, how, before and after."""

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from tests.contract import hooks
from tests.contract.hooks import ASK_ABOUT_MAPS, VALIDATING
from tests.contract.lamps import CONFIG_MAPS, LAMPS, PODS, a_config_map, a_lamp, a_pod

from kubevirt.api.resource import Resource
from kubevirt.kube.client import Client
from kubevirt.kube.errors import ApiError

Object = dict[str, Any]
MERGE = "application/merge-patch+json"
META = "meta.k8s.io/v1"
ASK_ABOUT_LAMPS = {
    "operations": ["*"],
    "apiGroups": ["house.example"],
    "apiVersions": ["v1"],
    "resources": ["lamps", "lamps/*"],
}
ASK_ABOUT_PODS = {**ASK_ABOUT_MAPS, "resources": ["pods", "pods/*"]}


def outline(asked: Object) -> Object:
    """A request without what the server makes up, and without its objects."""
    kept: Object = hooks.without_nulls(asked)
    for name in ("uid", "object", "oldObject"):
        kept.pop(name, None)
    return kept


def metadata(object_: Any) -> Object:
    """What an object says of itself, without what the server makes up."""
    found = hooks.without_nulls(object_ or {}).get("metadata", {})
    return {name: value for name, value in found.items() if name != "managedFields"}


def about_map(namespace: str, name: str, operation: str, options: Object, **more: Any) -> Object:
    kind = {"group": "", "version": "v1", "kind": "ConfigMap"}
    resource = {"group": "", "version": "v1", "resource": "configmaps"}
    return {
        "kind": kind,
        "resource": resource,
        "requestKind": kind,
        "requestResource": resource,
        "namespace": namespace,
        "name": name,
        "operation": operation,
        "userInfo": {
            "username": "kubernetes-admin",
            "groups": ["system:masters", "system:authenticated"],
        },
        "dryRun": False,
        "options": {"apiVersion": META, **options},
        **more,
    }


def without_extra(request: Object) -> Object:
    """Kubernetes says more of a certificate than its name."""
    user = {name: value for name, value in request["userInfo"].items() if name != "extra"}
    return {**request, "userInfo": user}


async def test_a_creation_shows_the_object_before_it_is_born(
    client: Client, namespace: str
) -> None:
    async with hooks.one(client, hooks.MUTATING, namespace) as hook:
        path = f"/api/v1/namespaces/{namespace}/configmaps"
        params = {"fieldManager": "me", "fieldValidation": "Strict"}
        await client.raw("POST", path, a_config_map("one", {"a": "b"}, x="y"), params=params)
    (asked,) = hook.asked
    options = {"kind": "CreateOptions", **params}
    assert without_extra(outline(asked)) == about_map(namespace, "one", "CREATE", options)
    new = hooks.without_nulls(asked["object"])
    assert asked["oldObject"] is None
    assert (new["kind"], new["apiVersion"], new["data"]) == ("ConfigMap", "v1", {"x": "y"})
    assert metadata(new) == {"name": "one", "namespace": namespace, "labels": {"a": "b"}}
    assert new["metadata"]["managedFields"][0]["manager"] == "me"
    assert hook.queries == ["timeout=10s"]
    headers = hook.headers[-1]
    assert headers["Content-Type"] == "application/json"
    assert headers["User-Agent"] == "kube-apiserver-admission"


async def test_a_generated_name_is_made_up_after_those_who_may_change_it(
    client: Client, namespace: str
) -> None:
    async with (
        hooks.one(client, hooks.MUTATING, namespace) as mutating,
        hooks.one(client, VALIDATING, namespace) as validating,
    ):
        made = await client.create(
            CONFIG_MAPS, {"metadata": {"generateName": "some-"}}, namespace=namespace
        )
    (early,), (late,) = mutating.asked, validating.asked
    assert "name" not in hooks.without_nulls(early["object"]["metadata"])
    assert late["object"]["metadata"]["name"] == made["metadata"]["name"]
    assert late["object"]["metadata"]["uid"] == made["metadata"]["uid"]
    assert "name" not in early
    assert late["name"] == made["metadata"]["name"]


async def test_an_update_shows_both_objects(client: Client, namespace: str) -> None:
    made = await client.create(CONFIG_MAPS, a_config_map("one", x="y"), namespace=namespace)
    async with hooks.one(client, VALIDATING, namespace) as hook:
        await client.raw(
            "PUT",
            f"/api/v1/namespaces/{namespace}/configmaps/one",
            {**made, "data": {"x": "z"}},
            params={"dryRun": "All"},
        )
    (asked,) = hook.asked
    options = {"kind": "UpdateOptions", "dryRun": ["All"]}
    expected = about_map(namespace, "one", "UPDATE", options, dryRun=True)
    assert without_extra(outline(asked)) == expected
    assert (asked["oldObject"]["data"], asked["object"]["data"]) == ({"x": "y"}, {"x": "z"})
    assert asked["object"]["metadata"]["uid"] == made["metadata"]["uid"]
    version = made["metadata"]["resourceVersion"]
    assert asked["oldObject"]["metadata"]["resourceVersion"] == version


@pytest.mark.parametrize(
    ("media", "body"),
    [
        (MERGE, {"data": {"x": "z"}}),
        ("application/json-patch+json", [{"op": "add", "path": "/data/x", "value": "z"}]),
        ("application/strategic-merge-patch+json", {"data": {"x": "z"}}),
    ],
)
async def test_a_patch_is_an_update(client: Client, namespace: str, media: str, body: Any) -> None:
    await client.create(CONFIG_MAPS, a_config_map("one", x="y"), namespace=namespace)
    async with hooks.one(client, VALIDATING, namespace) as hook:
        path = f"/api/v1/namespaces/{namespace}/configmaps/one"
        await client.raw("PATCH", path, body, params={"fieldManager": "me"}, content_type=media)
    (asked,) = hook.asked
    options = {"kind": "UpdateOptions", "fieldManager": "me"}
    assert without_extra(outline(asked)) == about_map(namespace, "one", "UPDATE", options)
    assert asked["object"]["data"] == {"x": "z"}


async def test_an_apply_creates_or_updates(client: Client, namespace: str) -> None:
    async with hooks.one(client, VALIDATING, namespace) as hook:
        path = f"/api/v1/namespaces/{namespace}/configmaps/one"
        for value in ("y", "z"):
            body = {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": "one"},
                "data": {"x": value},
            }
            await client.raw(
                "PATCH",
                path,
                body,
                params={"fieldManager": "me", "force": "true"},
                content_type="application/apply-patch+yaml",
            )
    told = [(each["operation"], each["options"]["kind"], each["name"]) for each in hook.asked]
    assert told == [("CREATE", "CreateOptions", "one"), ("UPDATE", "UpdateOptions", "one")]


async def test_a_deletion_shows_what_goes_and_how(client: Client, namespace: str) -> None:
    made = await client.create(CONFIG_MAPS, a_config_map("one"), namespace=namespace)
    said = {
        "gracePeriodSeconds": 0,
        "propagationPolicy": "Background",
        "preconditions": {"uid": made["metadata"]["uid"]},
    }
    for kind in (hooks.MUTATING, VALIDATING):
        async with hooks.one(client, kind, namespace) as hook:
            path = f"/api/v1/namespaces/{namespace}/configmaps/one"
            body = {"apiVersion": "v1", "kind": "DeleteOptions", **said, "dryRun": ["All"]}
            await client.raw("DELETE", path, body)
        (asked,) = hook.asked
        options = {"kind": "DeleteOptions", **said, "dryRun": ["All"]}
        expected = about_map(namespace, "one", "DELETE", options, dryRun=True)
        assert without_extra(outline(asked)) == expected
        assert asked["object"] is None
        assert asked["oldObject"]["metadata"]["uid"] == made["metadata"]["uid"]


async def test_each_object_of_a_deleted_collection_is_asked_about(
    client: Client, namespace: str
) -> None:
    for name in ("one", "two"):
        body = a_config_map(name, {"of": "test"})
        await client.create(CONFIG_MAPS, body, namespace=namespace)
    async with hooks.one(client, VALIDATING, namespace) as hook:
        path = f"/api/v1/namespaces/{namespace}/configmaps"
        await client.raw("DELETE", path, params={"labelSelector": "of=test"})
    assert sorted(each["oldObject"]["metadata"]["name"] for each in hook.asked) == ["one", "two"]
    for asked in hook.asked:
        outlined = without_extra(outline(asked))
        expected = about_map(namespace, "", "DELETE", {"kind": "DeleteOptions"})
        del expected["name"]
        assert outlined == expected


async def test_a_status_is_told_from_the_rest(
    client: Client, namespace: str, lamps: Resource[Object]
) -> None:
    await client.create(lamps, a_lamp("hall"), namespace=namespace)
    async with hooks.one(client, VALIDATING, namespace, rules=[ASK_ABOUT_LAMPS]) as hook:
        path = f"/apis/house.example/v1/namespaces/{namespace}/lamps/hall/status"
        await client.raw("PATCH", path, {"status": {"lit": True}}, content_type=MERGE)
    (asked,) = hook.asked
    assert (asked["subResource"], asked["requestSubResource"]) == ("status", "status")
    assert asked["kind"] == {"group": "house.example", "version": "v1", "kind": "Lamp"}
    assert asked["object"]["status"] == {"lit": True}


async def test_a_scale_is_asked_about_as_a_scale(
    client: Client, namespace: str, lamps: Resource[Object]
) -> None:
    await client.create(lamps, a_lamp("hall", bulbs=2), namespace=namespace)
    async with hooks.one(
        client, hooks.MUTATING, namespace, hooks.add("/spec/replicas", 7), rules=[ASK_ABOUT_LAMPS]
    ) as hook:
        path = f"/apis/house.example/v1/namespaces/{namespace}/lamps/hall/scale"
        await client.raw("PATCH", path, {"spec": {"replicas": 3}}, content_type=MERGE)
    (asked,) = hook.asked
    assert asked["subResource"] == "scale"
    assert asked["kind"] == {"group": "autoscaling", "version": "v1", "kind": "Scale"}
    assert asked["resource"] == {"group": "house.example", "version": "v1", "resource": "lamps"}
    assert asked["object"]["kind"] == "Scale"
    assert asked["object"]["spec"] == {"replicas": 3}
    assert asked["oldObject"]["spec"] == {"replicas": 2}
    lamp = await client.get(LAMPS, "hall", namespace=namespace)
    assert lamp["spec"]["bulbs"] == 7


async def test_a_namespace_is_within_itself(client: Client) -> None:
    rules = [{**ASK_ABOUT_MAPS, "resources": ["namespaces"]}]
    namespaces = Resource("", "v1", "namespaces", "Namespace", False, Object)
    made = await client.create(namespaces, {"metadata": {"generateName": "contract-"}})
    name = made["metadata"]["name"]
    try:
        async with hooks.one(client, VALIDATING, name, rules=rules) as hook:
            path = f"/api/v1/namespaces/{name}"
            await client.raw(
                "PATCH", path, {"metadata": {"annotations": {"a": "b"}}}, content_type=MERGE
            )
    finally:
        await client.delete(namespaces, name)
    (asked,) = hook.asked
    assert (asked["namespace"], asked["name"], asked["operation"]) == (name, name, "UPDATE")


async def test_a_binding_is_asked_about(client: Client, namespace: str) -> None:
    await client.create(PODS, a_pod("one"), namespace=namespace)
    async with hooks.one(client, VALIDATING, namespace, rules=[ASK_ABOUT_PODS]) as hook:
        path = f"/api/v1/namespaces/{namespace}/pods/one/binding"
        target = {"apiVersion": "v1", "kind": "Node", "name": "nowhere"}
        body = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": "one"},
            "target": target,
        }
        await client.raw("POST", path, body)
    (asked,) = [each for each in hook.asked if each.get("subResource")]
    assert (asked["operation"], asked["subResource"], asked["name"]) == ("CREATE", "binding", "one")
    assert asked["kind"] == {"group": "", "version": "v1", "kind": "Binding"}
    assert asked["object"]["target"] == target
    assert asked["options"]["kind"] == "CreateOptions"


async def test_an_eviction_is_asked_about_and_not_the_deletion_that_it_is(
    client: Client, namespace: str
) -> None:
    await client.create(PODS, a_pod("one"), namespace=namespace)
    async with hooks.one(client, VALIDATING, namespace, rules=[ASK_ABOUT_PODS]) as hook:
        body = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": "one"},
            "deleteOptions": {"gracePeriodSeconds": 0},
        }
        await client.raw("POST", f"/api/v1/namespaces/{namespace}/pods/one/eviction", body)
    (asked,) = hook.asked
    assert (asked["operation"], asked["subResource"]) == ("CREATE", "eviction")
    assert asked["kind"] == {"group": "policy", "version": "v1", "kind": "Eviction"}
    assert asked["object"]["deleteOptions"] == {"gracePeriodSeconds": 0}


async def test_a_terminal_is_asked_about_before_anybody_looks_for_its_node(
    client: Client, namespace: str
) -> None:
    await client.create(PODS, a_pod("one"), namespace=namespace)
    rules = [{**ASK_ABOUT_PODS, "operations": ["CONNECT"]}]
    params = {"stdin": "true", "stdout": "true", "container": "main", "command": "ls"}
    async with hooks.one(client, VALIDATING, namespace, hooks.no("hands off"), rules=rules) as hook:
        path = f"/api/v1/namespaces/{namespace}/pods/one/exec"
        with pytest.raises(ApiError) as caught:
            await client.raw("POST", path, params=params)
    denied = 'admission webhook "one.hooks.example" denied the request: hands off'
    assert caught.value.status.message == denied
    (asked,) = hook.asked
    assert (asked["operation"], asked["subResource"], asked["name"]) == ("CONNECT", "exec", "one")
    assert asked["kind"] == {"group": "", "version": "v1", "kind": "PodExecOptions"}
    assert (asked["options"], asked["oldObject"]) == (None, None)
    assert hooks.without_nulls(asked["object"]) == {
        "kind": "PodExecOptions",
        "apiVersion": "v1",
        "stdin": True,
        "stdout": True,
        "container": "main",
        "command": ["ls"],
    }


async def test_a_token_is_asked_about(client: Client, namespace: str) -> None:
    rules = [{**ASK_ABOUT_MAPS, "resources": ["serviceaccounts/token"]}]
    accounts = Resource("", "v1", "serviceaccounts", "ServiceAccount", True, Object)
    await client.create(accounts, {"metadata": {"name": "robot"}}, namespace=namespace)
    async with hooks.one(client, VALIDATING, namespace, rules=rules) as hook:
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts/robot/token"
        body = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {"expirationSeconds": 3600},
        }
        await client.raw("POST", path, body)
    (asked,) = hook.asked
    assert (asked["operation"], asked["subResource"], asked["name"]) == ("CREATE", "token", "robot")
    kind = {"group": "authentication.k8s.io", "version": "v1", "kind": "TokenRequest"}
    assert asked["kind"] == kind
    assert asked["object"]["spec"]["expirationSeconds"] == 3600


async def test_a_review_of_access_is_asked_about(client: Client, namespace: str) -> None:
    rules = [
        {
            "operations": ["*"],
            "apiGroups": ["authorization.k8s.io"],
            "apiVersions": ["v1"],
            "resources": ["localsubjectaccessreviews"],
        }
    ]
    async with hooks.one(client, VALIDATING, namespace, rules=rules) as hook:
        attributes = {"namespace": namespace, "verb": "get", "resource": "pods"}
        body = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "LocalSubjectAccessReview",
            "metadata": {"namespace": namespace},
            "spec": {"user": "anybody", "resourceAttributes": attributes},
        }
        path = f"/apis/authorization.k8s.io/v1/namespaces/{namespace}/localsubjectaccessreviews"
        await client.raw("POST", path, body)
    (asked,) = hook.asked
    assert (asked["operation"], asked["object"]["spec"]["user"]) == ("CREATE", "anybody")


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for name, below in value.items():
            yield from _leaves(below, f"{path}.{name}")
    else:
        yield path, value


async def test_a_custom_resource_is_shown_whole(
    client: Client, namespace: str, lamps: Resource[Object]
) -> None:
    async with hooks.one(client, VALIDATING, namespace, rules=[ASK_ABOUT_LAMPS]) as hook:
        made = await client.create(lamps, a_lamp("hall"), namespace=namespace)
    (asked,) = hook.asked
    shown = hooks.without_nulls(asked["object"])
    # All but what it gets by being stored.
    missing = dict(_leaves(made)).keys() - dict(_leaves(shown)).keys()
    assert missing == {".metadata.resourceVersion"}
    assert msgspec.json.decode(msgspec.json.encode(shown["spec"])) == made["spec"]
