"""What is sent to an endpoint below an object and is none of the kind that it takes."""

from typing import Any

import pytest
from tests.contract.lamps import PODS, a_lamp, a_pod
from tests.contract.test_refusals import refusal

from kubevirt.api.resource import Resource
from kubevirt.kube.client import Client

JSON = "application/json"
MERGE = "application/merge-patch+json"
HOME = "/api/v1/namespaces/{namespace}"
SCALE = "/apis/house.example/v1/namespaces/{namespace}/lamps/one/scale"
NO_SCALE = 'no kind is registered for the type v1.Scale in scheme "pkg/runtime/scheme.go:110"'
NO_NAME = "the name of the object (one based on URL) was undeterminable: name must be provided"
EMPTY = 'the spec replicas field ".spec.bulbs" cannot be empty'
ONE = {"metadata": {"name": "one"}}
A_SCALE = {"apiVersion": "autoscaling/v1", "kind": "Scale"}


def unreadable(kind: str, words: str) -> str:
    return f'{kind} in version "v1" cannot be handled as a {kind}: json: cannot unmarshal {words}'


@pytest.mark.parametrize(
    ("method", "path", "body", "code", "message"),
    [
        # It was answered as a mistake of the server's.
        ("PUT", SCALE, {**A_SCALE, **ONE, "spec": -1}, 400, NO_SCALE),
        ("PUT", SCALE, {**A_SCALE, **ONE, "spec": {"replicas": "x"}}, 400, NO_SCALE),
        ("PUT", SCALE, {**A_SCALE, "metadata": 5}, 400, NO_SCALE),
        ("PUT", SCALE, {**ONE, "apiVersion": "house.example/v1", "kind": "Lamp"}, 400, NO_SCALE),
        ("PUT", SCALE, [], 400, NO_SCALE),
        ("PUT", SCALE, {**A_SCALE, "spec": {"replicas": 1}}, 400, NO_NAME),
        (
            *("PUT", SCALE, {**A_SCALE, "metadata": {"name": "two"}}, 400),
            "the name of the object (two) does not match the name on the URL (one)",
        ),
        (
            *("PATCH", SCALE, {"spec": 5}, 422),
            "json: cannot unmarshal number into Go struct field Scale.spec of type v1.ScaleSpec",
        ),
        (
            *("PATCH", SCALE, {"spec": {"replicas": "x"}}, 422),
            "json: cannot unmarshal string into Go struct field ScaleSpec.spec.replicas of type int32",
        ),
        (
            *("PATCH", SCALE, {"kind": "Lamp"}, 422),
            'no kind "Lamp" is registered for version "autoscaling/v1" in scheme',
        ),
        ("PATCH", SCALE, {"metadata": None}, 400, NO_NAME),
        ("PATCH", SCALE, {"metadata": {"labels": {"a": "b"}}}, 400, EMPTY),
        (
            *("POST", f"{HOME}/bindings", {**ONE, "target": {"kind": [[]]}}, 400),
            unreadable(
                "Binding", "array into Go struct field ObjectReference.target.kind of type string"
            ),
        ),
        (
            *("POST", f"{HOME}/bindings", {**ONE, "target": []}, 400),
            unreadable("Binding", "array into Go struct field Binding.target of type"),
        ),
        (
            *("POST", f"{HOME}/bindings", {"metadata": 5}, 400),
            unreadable(
                "Binding", "number into Go struct field Binding.metadata of type v1.ObjectMeta"
            ),
        ),
        ("POST", f"{HOME}/bindings", {"target": {"name": "x"}}, 400, "Name parameter required."),
        (
            *("POST", f"{HOME}/pods/one/binding", {**ONE, "target": {"name": 5}}, 400),
            unreadable(
                "Binding", "number into Go struct field ObjectReference.target.name of type string"
            ),
        ),
        (
            *("POST", f"{HOME}/pods/one/binding", {"target": {"name": "x"}}, 400),
            "name in URL does not match name in Binding object",
        ),
        (
            *("POST", f"{HOME}/pods/one/eviction", {"metadata": 5}, 400),
            unreadable(
                "Eviction", "number into Go struct field Eviction.metadata of type v1.ObjectMeta"
            ),
        ),
        (
            *("POST", f"{HOME}/pods/one/eviction", {**ONE, "deleteOptions": []}, 400),
            unreadable("Eviction", "array into Go struct field Eviction.deleteOptions of type"),
        ),
        (
            *("POST", f"{HOME}/pods/one/eviction", {}, 400),
            "name in URL does not match name in Eviction object",
        ),
        (
            *("POST", f"{HOME}/configmaps", {"metadata": 5}, 400),
            unreadable(
                "ConfigMap", "number into Go struct field ConfigMap.metadata of type v1.ObjectMeta"
            ),
        ),
    ],
    ids=str,
)
async def test_it_is_refused_in_the_words_of_the_decoder(
    client: Client,
    namespace: str,
    lamps: Resource[dict[str, Any]],
    method: str,
    path: str,
    body: Any,
    code: int,
    message: str,
) -> None:
    await client.create(PODS, a_pod("one"), namespace=namespace)
    await client.create(lamps, a_lamp("one"), namespace=namespace)
    type_ = MERGE if method == "PATCH" else JSON
    found = await refusal(client, method, path.format(namespace=namespace), body, type_)
    assert found[0] == code
    assert message in found[2]
