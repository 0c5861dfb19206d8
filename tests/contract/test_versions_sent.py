"""The resourceVersion that a write comes with: what it was made for, said well, badly, or of what is not there yet."""

from typing import Any

import pytest
from tests.contract.lamps import CONFIG_MAPS, a_config_map, a_lamp
from tests.contract.test_refusals import refusal

from kubevirt.api.resource import Resource
from kubevirt.kube.client import Client

MERGE = "application/merge-patch+json"
APPLY = "application/apply-patch+yaml"
MAPS = "/api/v1/namespaces/{namespace}/configmaps"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases"
LAMPS = "/apis/house.example/v1/namespaces/{namespace}/lamps"
CHANGED = (
    "the object has been modified; please apply your changes to the latest version and try again"
)
NO_NUMBER = 'strconv.ParseUint: parsing "x": invalid syntax'
NEEDED = (
    'lamps.house.example "one" is invalid: metadata.resourceVersion: Invalid value: 0: '
    "must be specified for an update"
)


def a_map(name: str, version: str) -> dict[str, Any]:
    metadata = {"name": name, "resourceVersion": version}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}


def lamp_of(name: str, version: str) -> dict[str, Any]:
    metadata = {"name": name, "resourceVersion": version}
    named = {"apiVersion": "house.example/v1", "kind": "Lamp"}
    return {**named, "metadata": metadata, "spec": {"watts": 40}}


def a_scale(version: str) -> dict[str, Any]:
    metadata = {"name": "one", "resourceVersion": version}
    named = {"apiVersion": "autoscaling/v1", "kind": "Scale"}
    return {**named, "metadata": metadata, "spec": {"replicas": 1}}


def a_lease(version: str) -> dict[str, Any]:
    return {"metadata": {"name": "new", "resourceVersion": version}, "spec": {}}


@pytest.mark.parametrize(
    ("method", "path", "type_", "body"),
    [
        ("POST", MAPS, "", a_map("new", "x")),
        ("POST", MAPS, "", a_map("new", "0")),
        ("POST", f"{MAPS}?dryRun=All", "", a_map("new", "5")),
        ("PUT", f"{MAPS}/one", "", a_map("one", "0")),
        ("PUT", f"{LEASES}/new", "", a_lease("5")),
        ("PATCH", f"{MAPS}/new", APPLY, a_map("new", "5")),
        ("PATCH", f"{LAMPS}/new", APPLY, lamp_of("new", "5")),
    ],
)
async def test_a_version_that_says_nothing_is_no_hindrance(
    client: Client,
    namespace: str,
    lamps: Resource[dict[str, Any]],
    method: str,
    path: str,
    type_: str,
    body: Any,
) -> None:
    await client.create(CONFIG_MAPS, a_config_map("one"), namespace=namespace)
    params = {"fieldManager": "me"}
    if path.endswith("?dryRun=All"):
        path, params = path.partition("?")[0], {**params, "dryRun": "All"}
    path = path.format(namespace=namespace)
    type_ = type_ or "application/json"
    assert await client.raw(method, path, body, params=params, content_type=type_)


@pytest.mark.parametrize(
    ("method", "path", "type_", "body", "code", "message"),
    [
        ("POST", MAPS, "", a_map("new", "5"), 500, "resourceVersion should not be set on objects"),
        ("POST", MAPS, "", a_map("A_", "5"), 422, 'ConfigMap "A_" is invalid: metadata.name'),
        ("PUT", f"{MAPS}/one", "", a_map("one", "x"), 500, NO_NUMBER),
        ("PUT", f"{MAPS}/one", "", a_map("one", "1"), 409, CHANGED),
        ("PATCH", f"{MAPS}/one", MERGE, {"metadata": {"resourceVersion": "x"}}, 500, NO_NUMBER),
        ("PATCH", f"{MAPS}/one", MERGE, {"metadata": {"resourceVersion": "1"}}, 409, CHANGED),
        ("PATCH", f"{MAPS}/one", APPLY, a_map("one", "x"), 500, NO_NUMBER),
        ("PATCH", f"{MAPS}/new", APPLY, a_map("new", "x"), 500, NO_NUMBER),
        ("PUT", f"{LEASES}/new", "", a_lease("x"), 500, NO_NUMBER),
        ("PUT", f"{LAMPS}/one", "", lamp_of("one", "0"), 422, NEEDED),
        ("PUT", f"{LAMPS}/one", "", lamp_of("one", "x"), 500, NO_NUMBER),
        ("PATCH", f"{LAMPS}/one", APPLY, lamp_of("one", "0"), 422, NEEDED),
        ("PATCH", f"{LAMPS}/one", APPLY, lamp_of("one", "1"), 409, CHANGED),
        (
            *("PATCH", f"{LAMPS}/one/status", MERGE),
            *({"metadata": {"resourceVersion": "x"}}, 500, NO_NUMBER),
        ),
        ("PUT", f"{LAMPS}/one/scale", "", a_scale("0"), 422, NEEDED),
        ("PUT", f"{LAMPS}/one/scale", "", a_scale("x"), 500, NO_NUMBER),
        ("PUT", f"{LAMPS}/one/scale", "", a_scale("1"), 409, CHANGED),
    ],
)
async def test_a_version_that_cannot_be_is_refused(
    client: Client,
    namespace: str,
    lamps: Resource[dict[str, Any]],
    *,
    method: str,
    path: str,
    type_: str,
    body: Any,
    code: int,
    message: str,
) -> None:
    await client.create(CONFIG_MAPS, a_config_map("one"), namespace=namespace)
    await client.create(lamps, a_lamp("one"), namespace=namespace)
    params = {"fieldManager": "me", "force": "true"} if type_ == APPLY else {}
    found = await refusal(client, method, path.format(namespace=namespace), body, type_, **params)
    assert found[0] == code
    assert message in found[2]
