"""Owners of replicas, seen from an object and from its scale."""

from typing import Any

from kubevirt.apiserver.apply import scaling

PATHS: scaling.Paths = {
    "box.example/v1": scaling.replicas_path(".spec.count"),
    "box.example/v0": None,
}


def entry(manager: str, fields: dict[str, Any], version: str = "box.example/v1") -> dict[str, Any]:
    return {
        "apiVersion": version,
        "fieldsType": "FieldsV1",
        "fieldsV1": fields,
        "manager": manager,
        "operation": "Update",
        "time": "2026-01-01T00:00:00Z",
    }


COUNT: dict[str, Any] = {"f:spec": {"f:count": {}}}
BOTH: dict[str, Any] = {"f:spec": {"f:count": {}, "f:size": {}}}
SIZE: dict[str, Any] = {"f:spec": {"f:size": {}}}
REPLICAS: dict[str, Any] = {"f:spec": {"f:replicas": {}}}


def test_a_scale_is_owned_by_whoever_owns_the_replicas() -> None:
    shown = scaling.to_scale([entry("ann", BOTH), entry("bob", SIZE)], PATHS)
    assert shown == [entry("ann", REPLICAS, "autoscaling/v1")]


def test_a_scale_that_took_the_replicas_takes_them_from_the_parent() -> None:
    parent = [entry("ann", BOTH), entry("bob", COUNT), entry("old", SIZE, "box.example/v0")]
    scale = [{**entry("cid", REPLICAS, "autoscaling/v1"), "subresource": "scale"}]
    after = scaling.to_parent(parent, scale, PATHS, "box.example/v1")
    fields = {each["manager"]: each["fieldsV1"] for each in after}
    assert fields == {"ann": SIZE, "old": SIZE, "cid": COUNT}
    assert [each.get("subresource") for each in after if each["manager"] == "cid"] == ["scale"]


def test_owners_that_a_scale_left_alone_stay() -> None:
    parent = [{**entry("ann", BOTH), "operation": "Apply"}]
    scale = scaling.to_scale(parent, PATHS)
    assert scaling.to_parent(parent, scale, PATHS, "box.example/v1") == parent


def test_owners_in_a_version_that_is_gone_are_forgotten() -> None:
    assert (
        scaling.to_parent([entry("x", SIZE, "box.example/v9")], [], PATHS, "box.example/v1") == []
    )
