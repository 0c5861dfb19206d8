"""A body that is not what an endpoint takes: another kind, another type, no object at all."""

from typing import Any

import pytest
from tests.contract.lamps import CONFIG_MAPS, a_config_map

from kubevirt.kube.client import Client
from kubevirt.kube.errors import BadRequest, InternalError

_STRUCT = (
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; '
    'Kind string "json:\\"kind,omitempty\\"" }'
)
_SCHEME = 'in scheme "pkg/runtime/scheme.go:110"'
_CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}}
_HOME = "/api/v1/namespaces/default"
ENDPOINTS = {
    f"{_HOME}/secrets": ("Secret", "core"),
    f"{_HOME}/bindings": ("Binding", "core"),
    f"{_HOME}/pods/one/binding": ("Binding", "core"),
    f"{_HOME}/pods/one/eviction": ("Eviction", "policy"),
    f"{_HOME}/serviceaccounts/default/token": ("TokenRequest", "authentication"),
    "/apis/rbac.authorization.k8s.io/v1/clusterroles": ("ClusterRole", "rbac"),
    "/apis/storage.k8s.io/v1/storageclasses": ("StorageClass", "storage"),
    "/apis/authorization.k8s.io/v1/subjectaccessreviews": ("SubjectAccessReview", "authorization"),
}


@pytest.mark.parametrize("path", ENDPOINTS)
async def test_another_kind_is_not_taken(client: Client, path: str) -> None:
    kind, package = ENDPOINTS[path]
    with pytest.raises(BadRequest) as caught:
        await client.raw("POST", path, _CONFIG_MAP)
    assert caught.value.status.message == (
        f'ConfigMap in version "v1" cannot be handled as a {kind}: '
        f"converting (v1.ConfigMap) to ({package}.{kind}): unknown conversion"
    )


@pytest.mark.parametrize("path", ENDPOINTS)
async def test_a_list_is_no_object(client: Client, path: str) -> None:
    kind, _ = ENDPOINTS[path]
    with pytest.raises(BadRequest) as caught:
        await client.raw("POST", path, [])
    assert caught.value.status.message == (
        f"the object provided is unrecognized (must be of type {kind}): couldn't get version/kind; "
        f"json parse error: json: cannot unmarshal array into Go value of type {_STRUCT} (5b5d)"
    )


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "CustomResourceDefinition"),
        ("/apis/apiregistration.k8s.io/v1/apiservices", "APIService"),
    ],
)
async def test_some_know_no_kinds_but_theirs(client: Client, path: str, kind: str) -> None:
    with pytest.raises(BadRequest) as caught:
        await client.raw("POST", path, _CONFIG_MAP)
    assert caught.value.status.message == (
        f'ConfigMap in version "v1" cannot be handled as a {kind}: '
        f'no kind "ConfigMap" is registered for version "v1" {_SCHEME}'
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"gracePeriodSeconds": "a"}, "string into Go struct field DeleteOptions.{} of type int64"),
        (
            {"gracePeriodSeconds": 1.5},
            "number 1.5 into Go struct field DeleteOptions.{} of type int64",
        ),
        ({"orphanDependents": {}}, "object into Go struct field DeleteOptions.{} of type bool"),
        ({"dryRun": "All"}, "string into Go struct field DeleteOptions.{} of type []string"),
        ({"dryRun": [1]}, "number into Go struct field DeleteOptions.{} of type string"),
        (
            {"propagationPolicy": 1},
            "number into Go struct field DeleteOptions.{} of type v1.DeletionPropagation",
        ),
        (
            {"preconditions": []},
            "array into Go struct field DeleteOptions.{} of type v1.Preconditions",
        ),
        (
            {"preconditions": {"uid": 1}},
            "number into Go struct field Preconditions.{}.uid of type types.UID",
        ),
    ],
    ids=str,
)
async def test_options_of_a_deletion_have_their_types(
    client: Client, namespace: str, options: dict[str, Any], words: str
) -> None:
    await client.create(CONFIG_MAPS, a_config_map("one"), namespace=namespace)
    with pytest.raises(InternalError) as caught:
        await client.raw("DELETE", f"/api/v1/namespaces/{namespace}/configmaps/one", options)
    (name,) = options
    assert caught.value.status.message == f"json: cannot unmarshal {words.format(name)}"


async def test_a_deletion_is_not_told_by_another_kind(client: Client, namespace: str) -> None:
    await client.create(CONFIG_MAPS, a_config_map("one"), namespace=namespace)
    with pytest.raises(InternalError) as caught:
        await client.raw("DELETE", f"/api/v1/namespaces/{namespace}/configmaps/one", _CONFIG_MAP)
    assert caught.value.status.message == (
        f'no kind "ConfigMap" is registered for version "v1" {_SCHEME}'
    )
