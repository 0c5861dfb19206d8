"""Mutating webhooks: what they make of an object, in which order, and who sees it again."""

import base64
import json
from contextlib import AsyncExitStack
from typing import Any

import pytest
from tests.contract import hooks
from tests.contract.hooks import ASK_ABOUT_MAPS, MUTATING, VALIDATING, Hook, add
from tests.contract.lamps import CONFIG_MAPS, a_config_map, a_lamp

from kubevirt.api.resource import Resource
from kubevirt.kube.client import Client
from kubevirt.kube.errors import ApiError

Object = dict[str, Any]
MERGE = "application/merge-patch+json"
ASK_ABOUT_LAMPS = {
    "operations": ["*"],
    "apiGroups": ["house.example"],
    "apiVersions": ["v1"],
    "resources": ["lamps"],
}


async def test_a_patch_is_applied(client: Client, namespace: str) -> None:
    async with hooks.one(client, MUTATING, namespace, add("/data/added", "by a webhook")):
        made = await client.create(CONFIG_MAPS, a_config_map("one", x="y"), namespace=namespace)
    assert made["data"] == {"x": "y", "added": "by a webhook"}
    kept = await client.get(CONFIG_MAPS, "one", namespace=namespace)
    assert kept["data"] == made["data"]


async def test_a_patch_of_an_update_is_applied(client: Client, namespace: str) -> None:
    made = await client.create(CONFIG_MAPS, a_config_map("one", x="y"), namespace=namespace)
    async with hooks.one(client, MUTATING, namespace, add("/data/x", "w")):
        changed = {**made, "data": {"x": "z"}}
        path = f"/api/v1/namespaces/{namespace}/configmaps/one"
        await client.raw("PUT", path, changed)
    assert (await client.get(CONFIG_MAPS, "one", namespace=namespace))["data"] == {"x": "w"}


async def test_webhooks_are_asked_by_name_and_in_order_and_see_what_was_done(
    client: Client, namespace: str
) -> None:
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(hooks.served())
        for name in ("second", "first-a", "first-b"):
            server.hooks[f"/{name}"] = Hook(add(f"/data/{name}", str(len(server.hooks))))

        def entry(name: str) -> Object:
            url = server.url(f"/{name}")
            return hooks.webhook(url, namespace, name=f"{name}.hooks.example")

        unique = namespace.removeprefix("contract-")
        for number, names in ((2, ("second",)), (1, ("first-b", "first-a"))):
            configuration = hooks.in_effect(
                client,
                MUTATING,
                namespace,
                [entry(name) for name in names],
                name=f"hooks-{unique}-{number}",
            )
            await stack.enter_async_context(configuration)
        server.order.clear()
        await client.create(CONFIG_MAPS, a_config_map("one", x="y"), namespace=namespace)
    assert server.order == ["/first-b", "/first-a", "/second"]
    seen = [sorted(server.hooks[path].asked[-1]["object"]["data"]) for path in server.order]
    assert seen == [["x"], ["first-b", "x"], ["first-a", "first-b", "x"]]


async def _asked_in_order(
    client: Client, namespace: str, *entries: tuple[str, hooks.Answer, str]
) -> list[str]:
    """By paths: webhooks with their answers and their reinvocation policies."""
    async with hooks.served() as server:
        made = []
        for path, answer, policy in entries:
            server.hooks[f"/{path}"] = Hook(answer)
            url = server.url(f"/{path}")
            name = f"{path}.hooks.example"
            made.append(hooks.webhook(url, namespace, name=name, reinvocationPolicy=policy))
        async with hooks.in_effect(client, MUTATING, namespace, made):
            server.order.clear()
            await client.create(CONFIG_MAPS, a_config_map("one", x="y"), namespace=namespace)
            return list(server.order)


async def test_who_wants_to_see_changes_behind_it_is_asked_again(
    client: Client, namespace: str
) -> None:
    found = await _asked_in_order(
        client,
        namespace,
        ("again", hooks.yes, "IfNeeded"),
        ("once", hooks.yes, "Never"),
        ("changes", add("/data/b", "c"), "IfNeeded"),
    )
    assert found == ["/again", "/once", "/changes", "/again"]


async def test_nobody_is_asked_again_about_what_nobody_changed(
    client: Client, namespace: str
) -> None:
    same = hooks.patch({"op": "replace", "path": "/data/x", "value": "y"})
    found = await _asked_in_order(
        client,
        namespace,
        ("changes", add("/data/b", "c"), "Never"),
        ("again", hooks.yes, "IfNeeded"),
        ("same", same, "IfNeeded"),
    )
    assert found == ["/changes", "/again", "/same"]


async def test_nobody_is_asked_three_times(client: Client, namespace: str) -> None:
    def count(request: Object) -> Object:
        seen = request["object"]["data"]
        answer: Object = add("/data/n", str(int(seen.get("n", "0")) + 1))(request)
        return answer

    found = await _asked_in_order(
        client, namespace, ("a", count, "IfNeeded"), ("b", count, "IfNeeded")
    )
    assert found == ["/a", "/b", "/a", "/b"]


async def test_an_object_is_defaulted_and_pruned_after_a_webhook_changed_it(
    client: Client, namespace: str, lamps: Resource[Object]
) -> None:
    answer = hooks.patch(
        {"op": "add", "path": "/spec/unknown", "value": 1},
        {"op": "add", "path": "/spec/bulbs", "value": 3},
    )
    async with hooks.one(client, MUTATING, namespace, answer, rules=[ASK_ABOUT_LAMPS]):
        made = await client.create(lamps, a_lamp("hall"), namespace=namespace)
    assert made["spec"] == {"watts": 40, "bulbs": 3}


async def test_what_a_webhook_makes_is_judged_by_the_schema(
    client: Client, namespace: str, lamps: Resource[Object]
) -> None:
    answer = hooks.patch({"op": "replace", "path": "/spec/watts", "value": 1000})
    async with (
        hooks.one(client, MUTATING, namespace, answer, rules=[ASK_ABOUT_LAMPS]),
        hooks.one(client, VALIDATING, namespace, rules=[ASK_ABOUT_LAMPS]) as validating,
    ):
        with pytest.raises(ApiError) as caught:
            await client.create(lamps, a_lamp("hall"), namespace=namespace)
    assert caught.value.status.code == 422
    words = (
        "spec.watts: Invalid value: 1000: spec.watts in body should be less than or equal to 100"
    )
    assert words in caught.value.status.message
    assert not validating.asked


async def test_validating_webhooks_see_what_mutating_ones_made(
    client: Client, namespace: str
) -> None:
    async with (
        hooks.one(client, MUTATING, namespace, add("/data/a", "b")),
        hooks.one(client, VALIDATING, namespace) as validating,
    ):
        await client.create(CONFIG_MAPS, a_config_map("one", x="y"), namespace=namespace)
    (asked,) = validating.asked
    assert asked["object"]["data"] == {"x": "y", "a": "b"}


async def test_a_dry_run_is_changed_too(client: Client, namespace: str) -> None:
    async with hooks.one(client, MUTATING, namespace, add("/data/a", "b")):
        path = f"/api/v1/namespaces/{namespace}/configmaps"
        text = await client.raw("POST", path, a_config_map("one", x="y"), params={"dryRun": "All"})
    assert json.loads(text)["data"] == {"x": "y", "a": "b"}


async def test_fields_of_webhooks_and_their_owner(client: Client, namespace: str) -> None:
    async with hooks.one(client, MUTATING, namespace, add("/data/a", "b")):
        path = f"/api/v1/namespaces/{namespace}/configmaps"
        params = {"fieldManager": "me"}
        made = json.loads(await client.raw("POST", path, a_config_map("one", x="y"), params=params))
        body = {"data": {"x": "z"}}
        text = await client.raw("PATCH", f"{path}/one", body, params=params, content_type=MERGE)
    owned = [each["fieldsV1"]["f:data"] for each in made["metadata"]["managedFields"]]
    assert owned == [{".": {}, "f:x": {}}]
    after = [each["fieldsV1"]["f:data"] for each in json.loads(text)["metadata"]["managedFields"]]
    assert after == [{".": {}, "f:x": {}}]


async def test_who_applies_does_not_own_what_a_webhook_adds(client: Client, namespace: str) -> None:
    """So that it stays when the same is applied again, by somebody who knows nothing of it."""
    path = f"/api/v1/namespaces/{namespace}/configmaps/one"
    body = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "one"},
        "data": {"x": "y"},
    }
    params = {"fieldManager": "me"}
    media = "application/apply-patch+yaml"
    async with hooks.one(client, MUTATING, namespace, add("/data/a", "b")):
        made = json.loads(await client.raw("PATCH", path, body, params=params, content_type=media))
    again = json.loads(await client.raw("PATCH", path, body, params=params, content_type=media))
    for each in (made, again):
        assert each["data"] == {"x": "y", "a": "b"}
        (owner,) = each["metadata"]["managedFields"]
        assert owner["fieldsV1"]["f:data"] == {"f:x": {}}
    assert again["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]


async def test_owners_that_a_webhook_spoils_are_kept(client: Client, namespace: str) -> None:
    heard: list[str] = []
    spoilt = [{"manager": "x", "operation": "Guess", "fieldsType": "FieldsV1", "fieldsV1": {}}]
    async with hooks.one(client, MUTATING, namespace, add("/metadata/managedFields", spoilt)):
        speaking = client.heard_by(lambda warning: heard.append(str(warning)))
        made = await speaking.create(CONFIG_MAPS, a_config_map("one", x="y"), namespace=namespace)
    assert [each["operation"] for each in made["metadata"]["managedFields"]] == ["Update"]
    (warning,) = heard
    assert ".metadata.managedFields was in an invalid state after admission" in warning


def raw_patch(text: str, **more: Any) -> hooks.Answer:
    encoded = base64.b64encode(text.encode()).decode()
    return lambda _: {"allowed": True, "patchType": "JSONPatch", "patch": encoded, **more}


FAILED = 'failed calling webhook "one.hooks.example": '


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (
            raw_patch("[]", patchType=None),
            FAILED + "received invalid webhook response: webhook returned response.patch but not "
            "response.patchType",
        ),
        (
            lambda _: {"allowed": True, "patchType": "JSONPatch"},
            FAILED
            + "received invalid webhook response: webhook returned response.patchType but not "
            "response.patch",
        ),
        (raw_patch('[{"op":"add"}]', patchType="Merge"), FAILED + 'unsupported patch type "Merge"'),
        (
            raw_patch("{}"),
            FAILED
            + "received undecodable patch in webhook response: json: cannot unmarshal object into "
            "Go value of type jsonpatch.Patch",
        ),
        (raw_patch("no"), FAILED + "received undecodable patch in webhook response: "),
        (
            lambda _: {"allowed": True, "patchType": "JSONPatch", "patch": "%%"},
            FAILED + "failed to call webhook: illegal base64 data at input byte 0",
        ),
        (
            hooks.patch({"op": "remove", "path": "/data/gone"}),
            "error in remove for path: '/data/gone': Unable to remove nonexistent key: gone: missing value",
        ),
        (
            hooks.patch({"op": "replace", "path": "/spec/x", "value": 1}),
            "replace operation does not apply: doc is missing path: /spec/x: missing value",
        ),
        (
            add("/spec/x/y", 1),
            'add operation does not apply: doc is missing path: "/spec/x/y": missing value',
        ),
        (
            hooks.patch({"op": "test", "path": "/data/x", "value": "no"}),
            "testing value /data/x failed: test failed",
        ),
        (
            hooks.patch({"op": "move", "from": "/data/n", "path": "/data/x"}),
            "error in move for path: 'n': Unable to remove nonexistent key: n: missing value",
        ),
        (
            hooks.patch({"op": "copy", "from": "/spec/n", "path": "/data/x"}),
            "copy operation does not apply: doc is missing from path: /spec/n: missing value",
        ),
        (hooks.patch({"op": "frob", "path": "/data/x"}), "Unexpected kind: frob"),
        (
            add("/data/n", 5),
            "json: cannot unmarshal number into Go struct field ConfigMap.data of type string",
        ),
        (add("/kind", "Secret"), ""),
    ],
    ids=[
        *("no type", "no patch", "merge", "object", "text", "base64", "remove", "replace", "add"),
        *("test", "move", "copy", "frob", "number", "kind"),
    ],
)
async def test_patches_that_are_none(
    client: Client, namespace: str, answer: hooks.Answer, words: str
) -> None:
    async with hooks.one(client, MUTATING, namespace, answer):
        with pytest.raises(ApiError) as caught:
            await client.create(CONFIG_MAPS, a_config_map("one", x="y"), namespace=namespace)
    status = caught.value.status
    assert (status.code, status.reason) == (500, "InternalError")
    assert status.message.startswith(f"Internal error occurred: {words}")


async def test_an_empty_patch_changes_nothing(client: Client, namespace: str) -> None:
    async with hooks.one(client, MUTATING, namespace, raw_patch("[]")):
        made = await client.create(CONFIG_MAPS, a_config_map("one", x="y"), namespace=namespace)
    assert made["data"] == {"x": "y"}


async def test_a_deletion_cannot_be_patched(client: Client, namespace: str) -> None:
    await client.create(CONFIG_MAPS, a_config_map("one", x="y"), namespace=namespace)
    rules = [{**ASK_ABOUT_MAPS, "operations": ["DELETE"]}]
    async with hooks.one(client, MUTATING, namespace, add("/data/a", "b"), rules=rules):
        with pytest.raises(ApiError) as caught:
            await client.delete(CONFIG_MAPS, "one", namespace=namespace)
    assert caught.value.status.message == (
        'Internal error occurred: admission webhook "one.hooks.example" attempted to modify the object, '
        "which is not supported for this operation"
    )


async def test_what_only_the_server_says_cannot_be_changed(client: Client, namespace: str) -> None:
    answer = hooks.patch(
        {"op": "add", "path": "/metadata/uid", "value": "mine"},
        {"op": "add", "path": "/metadata/creationTimestamp", "value": "2001-01-01T00:00:00Z"},
    )
    async with hooks.one(client, MUTATING, namespace, answer):
        made = await client.create(CONFIG_MAPS, a_config_map("one"), namespace=namespace)
    assert made["metadata"]["uid"] != "mine"
    assert not made["metadata"]["creationTimestamp"].startswith("2001")


async def test_a_webhook_may_name_what_is_nameless_and_rename_what_is_not(
    client: Client, namespace: str
) -> None:
    async with hooks.one(client, MUTATING, namespace, add("/metadata/name", "other")):
        made = await client.create(CONFIG_MAPS, a_config_map("one"), namespace=namespace)
    assert made["metadata"]["name"] == "other"


async def test_a_webhook_moves_nothing_to_another_namespace(client: Client, namespace: str) -> None:
    async with hooks.one(client, MUTATING, namespace, add("/metadata/namespace", "default")):
        with pytest.raises(ApiError) as caught:
            await client.create(CONFIG_MAPS, a_config_map("one"), namespace=namespace)
    assert caught.value.status.message == (
        "the namespace of the provided object does not match the namespace sent on the request"
    )


async def test_a_webhook_that_knows_another_version_of_an_object(
    client: Client, namespace: str
) -> None:
    made = await client.create(CONFIG_MAPS, a_config_map("one"), namespace=namespace)
    async with hooks.one(client, MUTATING, namespace, add("/metadata/resourceVersion", "1")):
        path = f"/api/v1/namespaces/{namespace}/configmaps/one"
        with pytest.raises(ApiError) as caught:
            await client.raw("PUT", path, {**made, "data": {"x": "z"}})
    assert (caught.value.status.code, caught.value.status.reason) == (409, "Conflict")


async def test_what_a_webhook_no_longer_says_of_an_object_is_still_so(
    client: Client, namespace: str
) -> None:
    answer = hooks.patch({"op": "remove", "path": "/kind"}, {"op": "add", "path": "/x", "value": 1})
    async with hooks.one(client, MUTATING, namespace, answer):
        made = await client.create(CONFIG_MAPS, a_config_map("one"), namespace=namespace)
    assert made["kind"] == "ConfigMap"
    assert "x" not in made
