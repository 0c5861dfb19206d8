"""What a server says that it serves."""

import pytest

from kubevirt.apiserver.kinds import builtin, discovery
from kubevirt.apiserver.kinds.kind import Kind, Names, Version

LAMPS = Kind(
    group="house.example",
    names=Names(plural="lamps", singular="lamp", kind="Lamp", list_kind="LampList", short=("lp",)),
    namespaced=True,
    is_custom=True,
    versions=(
        Version(name="v1", schema=dict, subresources=("status", "scale")),
        Version(name="v1beta1", schema=dict, storage=False),
        Version(name="v1alpha1", schema=dict, storage=False, served=False),
    ),
)


@pytest.mark.parametrize(
    ("versions", "ordered"),
    [
        ("v1beta1 v1 v1alpha2 v2", "v2 v1 v1beta1 v1alpha2"),
        ("v1beta1 v1beta10 v1beta2", "v1beta10 v1beta2 v1beta1"),
        ("foo v1alpha1 bar", "v1alpha1 bar foo"),
        ("v10 v2 v2beta1 v11alpha1", "v10 v2 v2beta1 v11alpha1"),
    ],
)
def test_versions_are_preferred_as_kubernetes_does(versions: str, ordered: str) -> None:
    assert sorted(versions.split(), key=discovery.version_rank) == ordered.split()


def test_a_group_shows_what_is_served() -> None:
    found = discovery.groups([LAMPS])["house.example"]
    document = discovery.group(found)
    assert [each["version"] for each in document["versions"]] == ["v1", "v1beta1"]
    assert document["preferredVersion"]["groupVersion"] == "house.example/v1"


def test_resources_have_their_subresources_behind_them() -> None:
    found = discovery.groups([LAMPS])["house.example"]
    lines = discovery.resource_list(found, "v1")["resources"]
    assert [each["name"] for each in lines] == ["lamps", "lamps/status", "lamps/scale"]
    assert lines[0]["shortNames"] == ["lp"]
    assert (lines[2]["group"], lines[2]["kind"]) == ("autoscaling", "Scale")
    assert [each["name"] for each in discovery.resource_list(found, "v1beta1")["resources"]] == [
        "lamps"
    ]


def test_both_ways_of_asking_tell_the_same() -> None:
    for found in discovery.groups([*builtin.kinds(), LAMPS]).values():
        for version in found.versions:
            lines = discovery.resource_list(found, version)["resources"]
            whole = discovery.aggregated_version(found, version)
            assert whole["version"] == version
            told = [
                name
                for each in whole["resources"]
                for name in [
                    each["resource"],
                    *(
                        f"{each['resource']}/{below['subresource']}"
                        for below in each.get("subresources", ())
                    ),
                ]
            ]
            assert told == [each["name"] for each in lines]


def test_the_core_group_has_no_name() -> None:
    found = discovery.groups(builtin.kinds())[""]
    assert discovery.resource_list(found, "v1")["groupVersion"] == "v1"
    (item,) = discovery.aggregated([("", [discovery.aggregated_version(found, "v1")])])["items"]
    assert item["metadata"] == {}
