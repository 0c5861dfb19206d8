"""The dynamic client of the `kubernetes` package, which knows only what discovery tells it."""

from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from kubernetes.dynamic import DynamicClient, EagerDiscoverer, LazyDiscoverer, exceptions
from tests.contract.lamps import a_lamp

from kubevirt.api.resource import Resource


@pytest.fixture(params=[LazyDiscoverer, EagerDiscoverer])
def dynamic(
    request: pytest.FixtureRequest, api: Any, tmp_path: Path, lamps: Resource[dict[str, Any]]
) -> Any:
    return DynamicClient(api, cache_file=str(tmp_path / "found.json"), discoverer=request.param)


@pytest.fixture
def dynamic_lamps(dynamic: Any, lamps: Resource[dict[str, Any]]) -> Any:
    return dynamic.resources.get(api_version=lamps.api_version, kind=lamps.kind)


def a_whole_lamp(name: str, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": "house.example/v1", "kind": "Lamp", **a_lamp(name, **spec)}


@pytest.mark.parametrize(
    ("version", "kind", "plural", "namespaced"),
    [
        ("v1", "ConfigMap", "configmaps", True),
        ("v1", "Node", "nodes", False),
        ("v1", "Pod", "pods", True),
        ("apps/v1", "ControllerRevision", "controllerrevisions", True),
        ("rbac.authorization.k8s.io/v1", "ClusterRole", "clusterroles", False),
        ("coordination.k8s.io/v1", "Lease", "leases", True),
        ("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets", True),
        (
            "apiextensions.k8s.io/v1",
            "CustomResourceDefinition",
            "customresourcedefinitions",
            False,
        ),
        ("apiregistration.k8s.io/v1", "APIService", "apiservices", False),
        ("house.example/v1", "Lamp", "lamps", True),
        ("house.example/v1alpha1", "Lamp", "lamps", True),
    ],
)
def test_kinds_are_discovered(
    dynamic: Any, version: str, kind: str, plural: str, *, namespaced: bool
) -> None:
    found = dynamic.resources.get(api_version=version, kind=kind)
    assert (found.name, found.namespaced) == (plural, namespaced)
    assert {"get", "list", "watch", "create", "patch"} <= set(found.verbs)


def test_subresources_and_versions_are_discovered(dynamic: Any, dynamic_lamps: Any) -> None:
    assert set(dynamic_lamps.subresources) == {"status", "scale"}
    assert dynamic.resources.get(kind="Lamp", preferred=True).group_version == "house.example/v1"
    found = dynamic.resources.search(kind="Lamp")
    assert {each.group_version for each in found} >= {"house.example/v1", "house.example/v1alpha1"}
    with pytest.raises(exceptions.ResourceNotFoundError):
        dynamic.resources.get(api_version="house.example/v1", kind="Candle")
    assert dynamic.version["kubernetes"]["major"] == "1"


def test_an_object_lives_its_life(dynamic_lamps: Any, namespace: str) -> None:
    made = dynamic_lamps.create(body=a_whole_lamp("desk"), namespace=namespace)
    assert made.metadata.generation == 1
    made.spec.watts = 50
    replaced = dynamic_lamps.replace(body=made, namespace=namespace)
    assert replaced.spec.watts == 50
    patched = dynamic_lamps.patch(
        name="desk",
        namespace=namespace,
        body={"spec": {"bulbs": 2}},
        content_type="application/merge-patch+json",
    )
    assert patched.metadata.generation == 3
    dynamic_lamps.status.patch(
        name="desk",
        namespace=namespace,
        body={"status": {"lit": True}},
        content_type="application/merge-patch+json",
    )
    assert dynamic_lamps.get(name="desk", namespace=namespace).status.lit
    scale = dynamic_lamps.scale.get(name="desk", namespace=namespace)
    assert scale.spec.replicas == 2
    assert [each.metadata.name for each in dynamic_lamps.get(namespace=namespace).items] == ["desk"]
    dynamic_lamps.delete(name="desk", namespace=namespace)
    with pytest.raises(exceptions.NotFoundError):
        dynamic_lamps.get(name="desk", namespace=namespace)


def test_what_is_applied_is_owned(dynamic_lamps: Any, namespace: str) -> None:
    def applied(by: str, *, force: bool | None = None, **spec: Any) -> Any:
        return dynamic_lamps.server_side_apply(
            body=a_whole_lamp("owned", **spec),
            namespace=namespace,
            field_manager=by,
            force_conflicts=force,
        )

    assert applied("ann", watts=40).metadata.managedFields[0].manager == "ann"
    with pytest.raises(exceptions.ConflictError, match='conflict with \\\\"ann\\\\"'):
        applied("bob", watts=60)
    assert applied("bob", watts=60, force=True).spec.watts == 60


def test_a_watch_tells_what_happens(dynamic_lamps: Any, namespace: str) -> None:
    before = dynamic_lamps.get(namespace=namespace).metadata.resourceVersion
    dynamic_lamps.create(body=a_whole_lamp("one"), namespace=namespace)
    dynamic_lamps.create(body=a_whole_lamp("two"), namespace=namespace)
    dynamic_lamps.delete(name="one", namespace=namespace)
    stream = dynamic_lamps.watch(namespace=namespace, resource_version=before, timeout=20)
    with closing(stream):
        events = [(each["type"], each["object"].metadata.name) for each in islice(stream, 3)]
    assert events == [("ADDED", "one"), ("ADDED", "two"), ("DELETED", "one")]


@pytest.mark.parametrize(
    ("error", "body"),
    [
        (exceptions.UnprocessibleEntityError, a_whole_lamp("bad", watts=0)),
        (exceptions.UnprocessibleEntityError, {**a_whole_lamp("bad"), "kind": "Candle"}),
        (exceptions.BadRequestError, {**a_whole_lamp("bad"), "apiVersion": "house.example/v9"}),
    ],
)
def test_refusals_have_their_classes(
    dynamic_lamps: Any, namespace: str, error: type[Exception], body: dict[str, Any]
) -> None:
    with pytest.raises(error):
        dynamic_lamps.create(body=body, namespace=namespace)
