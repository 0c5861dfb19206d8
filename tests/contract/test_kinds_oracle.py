"""Built-in kinds but pods, as a real server fills them in, refuses them and lets them change."""

import json

import pytest
from tests.contract.kind_cases import CHANGES, NEW
from tests.contract.oracle import DRY, Answer, Oracle

from kubevirt.kube.client import Client

MERGE = "application/merge-patch+json"
ASIDE = ("metadata.finalizers", "spec.taints[")
"""What controllers take away, which the embedded server has not: it does not put it there either."""


@pytest.fixture
async def oracle(client: Client, records_answers: bool) -> Oracle:  # noqa: FBT001
    return Oracle("kinds", client, records=records_answers)


@pytest.mark.parametrize("name", NEW)
async def test_a_new_object(oracle: Oracle, name: str) -> None:
    new = NEW[name]
    found = await oracle.answer("POST", new.path, new.body, **DRY)
    oracle.hold(name, without_numbers(found))


@pytest.mark.parametrize("name", CHANGES)
async def test_a_change(oracle: Oracle, client: Client, namespace: str, name: str) -> None:
    new, patch = CHANGES[name]
    body = {**new.body, "metadata": {"name": namespace}}
    folder = new.path.replace("/namespaces/default/", f"/namespaces/{namespace}/")
    await client.raw("POST", folder, body)
    path = f"{folder}/{namespace}"
    try:
        found = await oracle.answer("PATCH", path, patch, content_type=MERGE, **DRY)
    finally:
        if new.is_of_cluster:
            await client.raw("DELETE", path)
    text = json.dumps(without_numbers(found)).replace(namespace, "NAMESPACE")
    oracle.hold(f"change: {name}", json.loads(text))


async def test_the_server_is_a_service(oracle: Oracle) -> None:
    found = await oracle.answer("GET", "/api/v1/namespaces/default/services/kubernetes", None)
    found["spec.ports[0].targetPort"] = "(a port)"
    oracle.hold("the server", found)


@pytest.mark.parametrize("name", ["system-node-critical", "system-cluster-critical"])
async def test_the_system_has_priorities(oracle: Oracle, name: str) -> None:
    path = f"/apis/scheduling.k8s.io/v1/priorityclasses/{name}"
    await oracle.asked(name, "GET", path)


async def test_an_address_is_of_one_service(oracle: Oracle, client: Client, namespace: str) -> None:
    folder = f"/api/v1/namespaces/{namespace}/services"
    spec = {"ports": [{"port": 80}]}
    one = json.loads(await client.raw("POST", folder, {"metadata": {"name": "one"}, "spec": spec}))
    address = one["spec"]["clusterIP"]
    taken = {"metadata": {"name": "two"}, "spec": {**spec, "clusterIP": address}}
    found = await oracle.answer("POST", folder, taken)
    text = json.dumps(found).replace(address, "ADDRESS")
    oracle.hold("an address that is taken", json.loads(text))
    await client.raw("DELETE", f"{folder}/one")
    again = json.loads(await client.raw("POST", folder, taken))
    assert again["spec"]["clusterIP"] == address


def without_numbers(answer: Answer) -> Answer:
    """Addresses and ports are given by chance."""
    made = {at: value for at, value in answer.items() if not at.startswith(ASIDE)}
    for at, value in made.items():
        if isinstance(value, str) and at.startswith("spec.clusterIP") and value.startswith("10."):
            made[at] = "(an address)"
        elif at.endswith((".nodePort", "healthCheckNodePort")) and isinstance(value, int):
            made[at] = "(a port)"
    return made
