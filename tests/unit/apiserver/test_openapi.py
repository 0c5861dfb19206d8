"""Kinds as OpenAPI documents: complete, and with what kubectl looks for in them."""

import re

import msgspec
import pytest
from tests.unit.apiserver.test_discovery import LAMPS

from kubevirt.apiserver.kinds import builtin, discovery, openapi
from kubevirt.apiserver.kinds.discovery import Group

GROUPS = discovery.groups([*builtin.kinds(), LAMPS])


@pytest.mark.parametrize("group", GROUPS.values(), ids=lambda group: group.name or "core")
def test_everything_that_is_pointed_to_is_there(group: Group) -> None:
    for version in group.versions:
        document = openapi.v3(group, version)
        text = msgspec.json.encode(document).decode()
        pointed_to = set(re.findall(r'"#/components/schemas/([^"]+)"', text))
        assert pointed_to <= document["components"]["schemas"].keys()


def test_a_kind_is_found_by_its_path_and_by_its_name() -> None:
    """As `kubectl explain` does it: from the resource to the kind, from the kind to its schema."""
    document = openapi.v3(GROUPS[""], "v1")
    operation = document["paths"]["/api/v1/namespaces/{namespace}/pods/{name}"]["get"]
    gvk = {"group": "", "version": "v1", "kind": "Pod"}
    assert operation["x-kubernetes-group-version-kind"] == gvk
    schemas = document["components"]["schemas"].values()
    (pod,) = [each for each in schemas if gvk in each.get("x-kubernetes-group-version-kind", ())]
    assert "spec" in pod["properties"]


def test_a_patch_takes_dry_run_and_field_validation() -> None:
    """Here kubectl looks whether it may send them."""
    document = openapi.v3(GROUPS["house.example"], "v1")
    patch = document["paths"]["/apis/house.example/v1/namespaces/{namespace}/lamps/{name}"]["patch"]
    names = [each["name"] for each in patch["parameters"]]
    assert {"dryRun", "fieldManager", "fieldValidation", "force"} <= set(names)


def test_a_custom_kind_keeps_its_schema_and_gets_metadata() -> None:
    shape = {"type": "object", "properties": {"spec": {"type": "object", "description": "What."}}}
    version = msgspec.structs.replace(LAMPS.versions[0], schema=lambda: shape)
    lamps = msgspec.structs.replace(LAMPS, versions=(version,))
    document = openapi.v3(discovery.groups([lamps])["house.example"], "v1")
    lamp = document["components"]["schemas"]["example.house.v1.Lamp"]
    assert lamp["properties"]["spec"]["description"] == "What."
    assert lamp["properties"]["metadata"] == {
        "allOf": [{"$ref": "#/components/schemas/ObjectMeta"}]
    }
    assert "metadata" not in shape["properties"]


def test_what_may_only_be_created_has_no_other_verbs() -> None:
    document = openapi.v3(GROUPS["authentication.k8s.io"], "v1")
    assert document["paths"]["/apis/authentication.k8s.io/v1/tokenreviews"].keys() == {"post"}


def test_the_index_tells_where_each_document_is() -> None:
    paths = openapi.index(GROUPS.values(), {"api/v1": "abc"})["paths"]
    assert paths["api/v1"]["serverRelativeURL"] == "/openapi/v3/api/v1?hash=abc"
    assert "apis/house.example/v1beta1" in paths
    assert "apis/house.example/v1alpha1" not in paths


def test_the_old_form_points_to_its_own_definitions() -> None:
    document = openapi.v2(GROUPS.values())
    text = msgspec.json.encode(document).decode()
    assert set(re.findall(r'"#/definitions/([^"]+)"', text)) <= document["definitions"].keys()
