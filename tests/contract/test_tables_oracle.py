"""What `kubectl get -o wide` prints of objects that live, compared with a real server."""

import json
from typing import Any

import pytest
from tests.contract.oracle import DRY, Oracle
from tests.contract.table_cases import SHOWN, Shown
from tests.contract.test_tables import TABLE

from kubevirt.kube.client import Client

MERGE = "application/merge-patch+json"


@pytest.fixture
async def oracle(client: Client, records_answers: bool) -> Oracle:  # noqa: FBT001
    return Oracle("tables", client, records=records_answers)


@pytest.mark.parametrize("name", SHOWN)
async def test_a_row_is_that_of_the_server(
    oracle: Oracle, client: Client, namespace: str, name: str
) -> None:
    shown = SHOWN[name]
    root = f"/apis/{shown.group}/v1" if shown.group else "/api/v1"
    place = "" if shown.is_of_cluster else f"/namespaces/{namespace}"
    folder = f"{root}{place}/{shown.plural}"
    body = json.loads(
        json.dumps(shown.object).replace("NAMESPACE", namespace).replace("NAME", namespace)
    )
    if shown.status is None:
        answer = await client.raw("POST", folder, body, params=DRY, accept=TABLE)
    else:
        answer = await with_status(client, folder, body, shown)
    found = json.loads(answer)
    names = [each["name"] for each in found["columnDefinitions"]]
    [row] = found["rows"]
    cells = dict(zip(names, row["cells"], strict=True))
    for each in ("Age", "Created At"):
        cells.pop(each, None)
    oracle.hold(name, json.loads(json.dumps(cells).replace(namespace, "NAMESPACE")))


async def with_status(client: Client, folder: str, body: dict[str, Any], shown: Shown) -> bytes:
    """The answer to the very write, for controllers may have something to say about it later."""
    await client.raw("POST", folder, body)
    path = f"{folder}/{body['metadata']['name']}"
    try:
        return await client.raw(
            "PATCH",
            f"{path}/status",
            {"status": shown.status},
            params=DRY,
            content_type=MERGE,
            accept=TABLE,
        )
    finally:
        if shown.is_of_cluster:
            await client.raw("DELETE", path)
