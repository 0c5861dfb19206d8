"""What virt-api tells of itself: everything it does, and nothing that it does not."""

from kubevirt.components.virtapi import description, open_api
from kubevirt.virt.commands.calls import BUILT, CALLS


def test_discovery_lists_what_is_built() -> None:
    found = {each["name"]: each["verbs"] for each in description.resources("v1")["resources"]}
    assert found == {each.name: [each.verb] for each in BUILT}
    assert not [each for each in CALLS if each.missing and each.name in found]


def test_both_kinds_of_discovery_tell_the_same() -> None:
    old = {each["name"] for each in description.resources("v1")["resources"]}
    (group,) = description.aggregated()["items"]
    assert group["metadata"]["name"] == "subresources.kubevirt.io"
    assert [each["version"] for each in group["versions"]] == ["v1", "v1alpha3"]
    new = set()
    for resource in group["versions"][0]["resources"]:
        if resource["verbs"]:
            new.add(resource["resource"])
        new |= {
            f"{resource['resource']}/{each['subresource']}"
            for each in resource.get("subresources", [])
        }
    assert new == old


def test_the_group_has_the_name_that_kubevirt_gives_it() -> None:
    assert description.group()["name"] == "subresource.kubevirt.io"
    assert description.groups()["groups"][0]["name"] == "subresources.kubevirt.io"


def test_every_operation_has_a_name_of_its_own() -> None:
    paths = open_api.v2()["paths"]
    ids = [
        operation["operationId"]
        for path in paths.values()
        for method, operation in path.items()
        if method != "parameters"
    ]
    assert len(set(ids)) == len(ids)
    assert "/apis/subresources.kubevirt.io/v1/namespaces/{namespace}/expand-vm-spec" in paths


def test_parameters_of_a_path_are_told() -> None:
    path = "/apis/subresources.kubevirt.io/v1/namespaces/{namespace}/virtualmachines/{name}/portforward/{port}"
    found = open_api.v3("v1")["paths"][path]
    assert [each["name"] for each in found["parameters"]] == ["namespace", "name", "port"]
