"""A patch after which an object is none of its kind: it is the patch that is blamed."""

from typing import Any

import msgspec
import pytest
from tests.contract.lamps import CONFIG_MAPS, a_config_map

from kubevirt.api.resource import Resource
from kubevirt.kube.client import Client
from kubevirt.kube.errors import ApiError, Invalid, UnsupportedMediaType

STRATEGIC = "application/strategic-merge-patch+json"
MERGE = "application/merge-patch+json"


@pytest.mark.parametrize(
    ("patch", "shown", "words"),
    [
        (
            '{"dota":{"a":"b"},"data":null}',
            "map[data:<nil> dota:map[a:b]]",
            'strict decoding error: unknown field "dota"',
        ),
        (
            '{"data":{"a":"1","a":"2"},"dota":1}',
            "map[data:map[a:2] dota:1]",
            'strict decoding error: duplicate field "data.a", unknown field "dota"',
        ),
        ('{"data":[]}', "map[data:[]]", "cannot restore map from slice"),
        ('{"data":"a"}', "map[data:a]", "cannot restore map from string"),
        ('{"data":{"a":1}}', "map[data:map[a:1]]", "cannot convert int64 to string"),
        (
            '{"metadata":{"labels":[]}}',
            "map[metadata:map[labels:[]]]",
            "cannot restore map from slice",
        ),
        ('{"immutable":"yes"}', "map[immutable:yes]", "unrecognized type: bool"),
        ('{"metadata":"x"}', "map[metadata:x]", "cannot restore struct from: string"),
    ],
)
async def test_a_strategic_patch_is_shown_as_go_prints_it(
    client: Client, namespace: str, patch: str, shown: str, words: str
) -> None:
    refused = await _refused(client, namespace, msgspec.Raw(patch.encode()), STRATEGIC)
    assert refused.status.message == f' "" is invalid: patch: Invalid value: "{shown}": {words}'
    assert [(each.field, each.reason) for each in refused.causes] == [
        ("patch", "FieldValueInvalid")
    ]


async def test_of_a_merge_patch_what_it_made_is_shown(client: Client, namespace: str) -> None:
    refused = await _refused(client, namespace, {"dota": 1}, MERGE)
    message = refused.status.message
    assert message.startswith(' "" is invalid: patch: Invalid value: "{\\"apiVersion\\":\\"v1\\"')
    assert message.endswith('": strict decoding error: unknown field "dota"')


async def _refused(client: Client, namespace: str, patch: Any, type_: str) -> Invalid:
    await client.create(CONFIG_MAPS, a_config_map("one", a="b"), namespace=namespace)
    path = f"/api/v1/namespaces/{namespace}/configmaps/one"
    with pytest.raises(Invalid) as caught:
        await client.raw(
            "PATCH", path, patch, content_type=type_, params={"fieldValidation": "Strict"}
        )
    return caught.value


async def test_a_patch_is_in_one_of_four_languages(client: Client, namespace: str) -> None:
    await client.create(CONFIG_MAPS, a_config_map("one", a="b"), namespace=namespace)
    path = f"/api/v1/namespaces/{namespace}/configmaps/one"
    with pytest.raises(ApiError) as caught:
        await client.raw("PATCH", path, msgspec.Raw(b"garbage"), content_type="text/plain")
    assert (caught.value.status.code, caught.value.status.message) == (
        415,
        "415: Unsupported Media Type",
    )


@pytest.mark.parametrize("type_", ["text/plain", STRATEGIC])
async def test_a_patch_of_a_custom_resource_is_in_one_of_three(
    client: Client, namespace: str, lamps: Resource[dict[str, Any]], type_: str
) -> None:
    path = f"/apis/house.example/v1/namespaces/{namespace}/lamps/one"
    with pytest.raises(UnsupportedMediaType) as caught:
        await client.raw("PATCH", path, {}, content_type=type_)
    assert caught.value.status.message == (
        "the body of the request was in an unknown format - accepted media types include: "
        "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"
    )
