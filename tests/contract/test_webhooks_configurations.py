"""Configurations of webhooks as objects: what is filled in, and what is refused with which words."""

import json
from typing import Any

import pytest
from tests.contract.hooks import GROUP, MUTATING, VALIDATING
from tests.contract.webhook_cases import (
    CAN_BE,
    CASES,
    HOOK,
    RULE,
    UNREADABLE,
    WORDS,
    hook,
    with_service,
)

from kubevirt.api.resource import Resource
from kubevirt.kube.client import Client
from kubevirt.kube.errors import ApiError

Object = dict[str, Any]
KINDS = pytest.mark.parametrize("kind", [MUTATING, VALIDATING], ids=lambda each: each.kind)


async def tried(client: Client, kind: Resource[Object], webhooks: list[Object]) -> Object:
    """Nobody is to be asked, so nothing is kept."""
    path = f"/apis/{GROUP}/v1/{kind.plural}"
    body = {"metadata": {"name": "x"}, "webhooks": webhooks}
    made: Object = json.loads(await client.raw("POST", path, body, params={"dryRun": "All"}))
    return made


async def refused(client: Client, kind: Resource[Object], webhooks: list[Object]) -> str:
    with pytest.raises(ApiError) as caught:
        await tried(client, kind, webhooks)
    assert caught.value.status.code == 422
    return caught.value.status.message


@KINDS
@pytest.mark.parametrize("case", CASES)
async def test_configurations_that_cannot_be(
    client: Client, kind: Resource[Object], case: str
) -> None:
    found = await refused(client, kind, CASES[case])
    assert found == f'{kind.kind}.{GROUP} "x" is invalid: {WORDS[case]}'


@KINDS
@pytest.mark.parametrize("case", UNREADABLE)
async def test_conditions_that_are_no_expressions(
    client: Client, kind: Resource[Object], case: str
) -> None:
    found = await refused(client, kind, UNREADABLE[case])
    (expression,) = [each["expression"] for each in UNREADABLE[case][0]["matchConditions"]]
    assert found.startswith(
        f'{kind.kind}.{GROUP} "x" is invalid: webhooks[0].matchConditions[0].expression: Invalid value: '
        f'"{expression}": compilation failed: ERROR: <input>:1:'
    )


@KINDS
@pytest.mark.parametrize("case", CAN_BE)
async def test_configurations_that_can_be(
    client: Client, kind: Resource[Object], case: str
) -> None:
    made = await tried(client, kind, CAN_BE[case])
    assert len(made.get("webhooks") or ()) == len(CAN_BE[case])
    assert made["metadata"]["generation"] == 1


@KINDS
async def test_what_is_left_out_is_filled_in(client: Client, kind: Resource[Object]) -> None:
    (made,) = (await tried(client, kind, with_service()))["webhooks"]
    expected = {
        **HOOK,
        "clientConfig": {"service": {"namespace": "default", "name": "hooks", "port": 443}},
        "rules": [{**RULE, "scope": "*"}],
        "failurePolicy": "Fail",
        "matchPolicy": "Equivalent",
        "objectSelector": {},
        "timeoutSeconds": 10,
    }
    if kind is MUTATING:
        expected["reinvocationPolicy"] = "Never"
    assert made == expected


async def test_a_policy_for_asking_again(client: Client) -> None:
    (made,) = (await tried(client, MUTATING, hook(reinvocationPolicy="IfNeeded")))["webhooks"]
    assert made["reinvocationPolicy"] == "IfNeeded"
    found = await refused(client, MUTATING, hook(reinvocationPolicy="Always"))
    assert found.endswith(
        'webhooks[0].reinvocationPolicy: Unsupported value: "Always": supported values: "IfNeeded", "Never"'
    )


@KINDS
async def test_a_change_is_judged_too_and_counted(client: Client, kind: Resource[Object]) -> None:
    made = await client.create(
        kind, {"metadata": {"generateName": "hooks-"}, "webhooks": hook(rules=[])}
    )
    name = made["metadata"]["name"]
    path = f"/apis/{GROUP}/v1/{kind.plural}/{name}"
    try:
        changed = {**made, "webhooks": [{**made["webhooks"][0], "timeoutSeconds": 5}]}
        after = json.loads(await client.raw("PUT", path, changed))
        assert after["metadata"]["generation"] == 2
        same = json.loads(await client.raw("PUT", path, after))
        assert same["metadata"]["resourceVersion"] == after["metadata"]["resourceVersion"]
        wrong = {**after, "webhooks": [{**after["webhooks"][0], "timeoutSeconds": 50}]}
        with pytest.raises(ApiError) as caught:
            await client.raw("PUT", path, wrong)
        assert "the timeout value must be between 1 and 30 seconds" in caught.value.status.message
        metadata = {
            key: value for key, value in after["metadata"].items() if key != "resourceVersion"
        }
        with pytest.raises(ApiError) as caught:
            await client.raw("PUT", path, {**after, "metadata": metadata})
        assert "must be specified for an update" in caught.value.status.message
    finally:
        await client.delete(kind, name)
