"""Mistakes of a client for which Kubernetes answers 500: each of them, in its words, and none beside them."""

from typing import Any

import msgspec
import pytest
from tests.contract.failures import FAILURES, HELD, Example, Failure
from tests.contract.lamps import CONFIG_MAPS, PODS, a_config_map, a_lamp, a_pod

from kubevirt.api.resource import Resource
from kubevirt.kube.client import Client
from kubevirt.kube.errors import ApiError

CASES = [(failure, example) for failure in FAILURES for example in failure.examples]


@pytest.mark.parametrize(
    ("failure", "example"), CASES, ids=[f"{each.cause}: {it.says[:40]}" for each, it in CASES]
)
async def test_both_servers_fail_in_the_same_words(
    client: Client,
    namespace: str,
    lamps: Resource[dict[str, Any]],
    failure: Failure,
    example: Example,
) -> None:
    await client.create(CONFIG_MAPS, a_config_map("one"), namespace=namespace)
    pod = a_pod("one")
    pod["metadata"]["finalizers"] = [HELD]
    await client.create(PODS, pod, namespace=namespace)
    await client.create(lamps, a_lamp("one"), namespace=namespace)
    text = msgspec.json.encode(example.body).replace(b"{namespace}", namespace.encode())
    path = example.path.replace("{namespace}", namespace)
    with pytest.raises(ApiError) as caught:
        await client.raw(
            example.method,
            path,
            None if example.method == "GET" else msgspec.Raw(text),
            params=example.query,
            content_type=example.type,
        )
    status = caught.value.status
    says = example.says.replace("{namespace}", namespace)
    assert (status.code, status.reason, status.message) == (500, "", says)
    assert failure.explains(example.method, path, says)
