"""The `lightkube` package: typed and generic resources, patches, apply, lists, tokens and its codecs.

It has no leader election. Its watches and waits are in test_lightkube_watching.py.
"""

from typing import Any

import lightkube
import pytest
from lightkube import ApiError, codecs
from lightkube.config import kubeconfig
from lightkube.generic_resource import (
    create_global_resource,
    create_namespaced_resource,
    get_generic_resource,
    load_in_cluster_generic_resources,
)
from lightkube.models.authentication_v1 import TokenRequestSpec
from lightkube.models.coordination_v1 import LeaseSpec
from lightkube.models.core_v1 import ServicePort, ServiceSpec
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.models.rbac_v1 import PolicyRule
from lightkube.operators import equal, exists, in_, not_equal
from lightkube.resources.apiextensions_v1 import CustomResourceDefinition
from lightkube.resources.authentication_v1 import SelfSubjectReview
from lightkube.resources.coordination_v1 import Lease
from lightkube.resources.core_v1 import (
    ConfigMap,
    Secret,
    Service,
    ServiceAccount,
    ServiceAccountToken,
)
from lightkube.resources.rbac_authorization_v1 import Role
from lightkube.types import PatchType
from tests.contract.conftest import People
from tests.contract.lamps import LAMP_CRD

from kubevirt.api.resource import Resource


def a_config_map(name: str, labels: dict[str, str] | None = None, **data: str) -> Any:
    return ConfigMap(metadata=ObjectMeta(name=name, labels=labels), data=data)


@pytest.fixture
def lamp(lamps: Resource[dict[str, Any]]) -> Any:
    return create_namespaced_resource(lamps.group, lamps.version, lamps.kind, lamps.plural)


def a_lamp(lamp: Any, name: str, **spec: Any) -> Any:
    return lamp(metadata=ObjectMeta(name=name), spec={"watts": 40, **spec})


def test_a_config_map_lives_its_life(light: Any) -> None:
    made = light.create(a_config_map("one", a="1"))
    made.data["b"] = "2"
    replaced = light.replace(made)
    assert replaced.data == {"a": "1", "b": "2"}
    assert replaced.metadata.managedFields[0].manager == "light"
    with pytest.raises(ApiError, match="the object has been modified") as refused:
        light.replace(made)
    assert (refused.value.status.code, refused.value.status.reason) == (409, "Conflict")
    light.delete(ConfigMap, "one")
    with pytest.raises(ApiError, match='configmaps "one" not found') as refused:
        light.get(ConfigMap, "one")
    assert refused.value.status.details.name == "one"


@pytest.mark.parametrize(
    "body",
    [
        Secret(metadata=ObjectMeta(name="typed"), data={"a": "MQ=="}, type="Opaque"),
        Service(
            metadata=ObjectMeta(name="typed"),
            spec=ServiceSpec(ports=[ServicePort(port=80)], clusterIP="None"),
        ),
        Lease(metadata=ObjectMeta(name="typed"), spec=LeaseSpec(holderIdentity="ann")),
        Role(metadata=ObjectMeta(name="typed"), rules=[PolicyRule(verbs=["*"], apiGroups=["x"])]),
        ServiceAccount(metadata=ObjectMeta(name="typed")),
    ],
    ids=lambda body: type(body).__name__,
)
def test_typed_resources_come_back(light: Any, body: Any) -> None:
    kind = type(body)
    if kind is Role:
        body.rules[0].resources = ["things"]
    made = light.create(body)
    read = light.get(kind, "typed")
    assert read == made
    assert read.metadata.creationTimestamp is not None
    assert [each.metadata.name for each in light.list(kind) if each.metadata.name == "typed"]
    light.delete(kind, "typed")


def test_every_type_of_patch_is_taken(light: Any) -> None:
    light.create(a_config_map("patched", a="1", b="2"))

    def patched(body: Any, type_: PatchType, **options: Any) -> Any:
        return light.patch(ConfigMap, "patched", body, patch_type=type_, **options).data

    assert patched({"data": {"a": None}}, PatchType.MERGE) == {"b": "2"}
    replace = {"data": {"$patch": "replace", "c": "3"}}
    assert patched(replace, PatchType.STRATEGIC) == {"c": "3"}
    move = [{"op": "move", "from": "/data/c", "path": "/data/d"}]
    assert patched(move, PatchType.JSON) == {"d": "3"}
    said = a_config_map("patched", e="5")
    assert patched(said, PatchType.APPLY) == {"d": "3", "e": "5"}


def test_what_is_applied_is_owned(light: Any) -> None:
    assert light.apply(a_config_map("owned", a="1", b="2"), field_manager="ann").data["a"] == "1"
    with pytest.raises(ApiError, match=r'conflict with "ann": \.data\.a') as refused:
        light.apply(a_config_map("owned", a="9"), field_manager="bob")
    assert refused.value.status.details.causes[0].reason == "FieldManagerConflict"
    forced = light.apply(a_config_map("owned", a="9"), field_manager="bob", force=True)
    assert forced.data == {"a": "9", "b": "2"}
    assert light.apply(a_config_map("owned"), field_manager="ann").data == {"a": "9"}


def test_lists_come_in_chunks_and_selections(light: Any) -> None:
    for number in range(5):
        labels = {"paged": "yes", "number": str(number)}
        light.create(a_config_map(f"page-{number}", labels))
    found = light.list(ConfigMap, chunk_size=2, labels={"paged": exists()})
    assert [each.metadata.name for each in found] == [f"page-{number}" for number in range(5)]
    assert int(found.resourceVersion) > 0

    def named(**selection: Any) -> list[str]:
        return [each.metadata.name for each in light.list(ConfigMap, **selection)]

    assert named(labels={"number": in_(["1", "4"])}) == ["page-1", "page-4"]
    assert named(labels={"paged": equal("yes"), "number": not_equal("0")}) == [
        f"page-{number}" for number in range(1, 5)
    ]
    assert named(fields={"metadata.name": "page-3"}) == ["page-3"]
    light.deletecollection(ConfigMap)
    assert named(labels={"paged": "yes"}) == []


def test_a_dry_run_leaves_nothing(light: Any) -> None:
    assert light.create(a_config_map("dry"), dry_run=True).metadata.uid
    with pytest.raises(ApiError):
        light.get(ConfigMap, "dry")


def test_refusals_tell_their_status(light: Any, people: People, namespace: str, lamp: Any) -> None:
    light.create(a_config_map("there"))
    with pytest.raises(ApiError) as refused:
        light.create(a_config_map("there"))
    assert refused.value.status.reason == "AlreadyExists"
    with pytest.raises(ApiError) as refused:
        light.create(a_lamp(lamp, "bad", watts=0))
    status = refused.value.status
    assert (status.code, status.reason) == (422, "Invalid")
    assert [each.field for each in status.details.causes] == ["spec.watts"]
    nobody = kubeconfig.KubeConfig.from_file(str(people.kubeconfig_for("nobody"))).get()
    with (
        lightkube.Client(config=nobody, namespace=namespace) as other,
        pytest.raises(ApiError, match='User "nobody" cannot get resource "secrets"') as refused,
    ):
        other.get(Secret, "x")
    assert refused.value.status.reason == "Forbidden"


def test_generic_resources_have_status_and_scale(light: Any, lamp: Any) -> None:
    made = light.create(a_lamp(lamp, "desk", bulbs=1))
    assert (made.spec["watts"], made.metadata.generation) == (40, 1)
    lit = light.patch(
        lamp.Status, "desk", {"status": {"lit": True, "bulbs": 1}}, patch_type=PatchType.MERGE
    )
    assert lit.status["lit"]
    scale = light.get(lamp.Scale, "desk")
    assert (scale.spec.replicas, scale.status.replicas) == (1, 1)
    scale.spec.replicas = 4
    light.replace(scale, "desk")
    assert light.get(lamp, "desk").spec["bulbs"] == 4
    applied = light.apply(a_lamp(lamp, "floor", watts=60))
    assert applied.spec == {"watts": 60}
    assert sorted(each.metadata.name for each in light.list(lamp)) == ["desk", "floor"]
    light.deletecollection(lamp)
    assert list(light.list(lamp)) == []


def test_generic_resources_are_found_by_their_definitions(light: Any, lamp: Any) -> None:
    load_in_cluster_generic_resources(light)
    assert get_generic_resource("house.example/v1", "Lamp") is lamp
    assert get_generic_resource("house.example/v1alpha1", "Lamp") is not None
    definitions = create_global_resource(
        "apiextensions.k8s.io",
        "v1",
        "CustomResourceDefinitionByHand",
        "customresourcedefinitions",
    )
    name = LAMP_CRD["metadata"]["name"]
    generic, typed = light.get(definitions, name), light.get(CustomResourceDefinition, name)
    assert generic.metadata.uid == typed.metadata.uid
    assert {each.type for each in typed.status.conditions} == {"NamesAccepted", "Established"}


MANIFESTS = """
apiVersion: v1
kind: ConfigMap
metadata: {name: from-yaml}
data: {a: "1"}
---
apiVersion: house.example/v1
kind: Lamp
metadata: {name: from-yaml}
spec: {watts: 15}
---
apiVersion: v1
kind: List
items:
- {apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: from-yaml}, spec: {}}
"""


def test_manifests_are_loaded_applied_and_dumped(light: Any, lamp: Any) -> None:
    loaded = codecs.load_all_yaml(MANIFESTS)
    assert [type(each).__name__ for each in loaded] == ["ConfigMap", "Lamp", "Lease"]
    made = [light.apply(each) for each in loaded]
    assert [light.apply(each).metadata.uid for each in loaded] == [
        each.metadata.uid for each in made
    ]
    dumped = codecs.load_all_yaml(codecs.dump_all_yaml(made))
    assert [each.metadata.uid for each in dumped] == [each.metadata.uid for each in made]


def test_a_service_account_comes_with_its_token(light: Any, people: People, namespace: str) -> None:
    light.create(ServiceAccount(metadata=ObjectMeta(name="worker")))
    asked = ServiceAccountToken(
        metadata=ObjectMeta(), spec=TokenRequestSpec(audiences=[], expirationSeconds=600)
    )
    token = light.create(asked, "worker").status.token
    known = kubeconfig.KubeConfig.from_file(str(people.kubeconfig_with_token(token))).get()
    with lightkube.Client(config=known, namespace=namespace) as worker:
        told = worker.create(SelfSubjectReview())
    assert told.status.userInfo.username == f"system:serviceaccount:{namespace}:worker"
