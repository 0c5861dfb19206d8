"""The end of namespaces: how they are emptied, what they say meanwhile, and which of them stay."""

from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest
from tests.contract.conftest import NAMESPACES, SERVICE_ACCOUNTS, Mortal, config_of
from tests.contract.family import HOLD, LIMIT_S, Family
from tests.contract.lamps import CONFIG_MAPS, PODS, a_lamp, a_pod

from clusterup import waiting
from kubevirt.api.resource import Resource
from kubevirt.kube.client import Client
from kubevirt.kube.errors import ApiError, Conflict, Forbidden

Object = dict[str, Any]

SECRETS = Resource("", "v1", "secrets", "Secret", True, dict[str, Any])
LEASES = Resource("coordination.k8s.io", "v1", "leases", "Lease", True, dict[str, Any])
CLUSTER_ROLES = Resource(
    "rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole", False, dict[str, Any]
)
API_SERVICES = Resource(
    "apiregistration.k8s.io", "v1", "apiservices", "APIService", False, dict[str, Any]
)
ROOT_CA = "kube-root-ca.crt"
ENDING_LIMIT_S = 120.0
"""Kubernetes waits five seconds before it begins, and looks again only now and then."""


@pytest.fixture
async def family(client: Client) -> AsyncIterator[Family]:
    """In a namespace that the test may delete."""
    made = await client.create(NAMESPACES, {"metadata": {"generateName": "life-"}})
    name = made["metadata"]["name"]
    yield Family(client, name)
    if await namespace_of(client, name):
        await client.delete(NAMESPACES, name)


async def namespace_of(client: Client, name: str) -> Object | None:
    return await Family(client, "").get(name, kind=NAMESPACES)


async def is_over(family: Family) -> None:
    nobody = Family(family.client, "")
    await nobody.has_gone(family.namespace, kind=NAMESPACES, limit_s=ENDING_LIMIT_S)


async def says(family: Family, **expected: tuple[str, str]) -> Object:
    """Once its conditions that are true are these, by type: reason and message."""
    found: Object = {}

    async def does() -> bool:
        found.clear()
        found.update(await namespace_of(family.client, family.namespace) or {})
        conditions = found.get("status", {}).get("conditions") or ()
        true = {
            each["type"]: (each["reason"], each["message"])
            for each in conditions
            if each["status"] == "True"
        }
        return len(conditions) == 5 and true == expected

    await waiting.until(does, limit_s=ENDING_LIMIT_S, what=f"conditions {sorted(expected)}")
    return found


async def test_all_that_is_in_a_namespace_goes_with_it(
    family: Family, lamps: Resource[dict[str, Any]]
) -> None:
    outside = await family.create(family.namespace, kind=CLUSTER_ROLES, rules=[])
    try:
        for kind in (CONFIG_MAPS, SECRETS, LEASES):
            await family.create("thing", kind=kind)
        await family.create("thing", kind=lamps, spec=a_lamp("x")["spec"])
        await family.client.delete(NAMESPACES, family.namespace)
        await is_over(family)
        for kind in (CONFIG_MAPS, SECRETS, LEASES, lamps):
            assert await family.get("thing", kind) is None
        left = await family.get(family.namespace, kind=CLUSTER_ROLES)
        assert left
        assert left["metadata"]["uid"] == outside["metadata"]["uid"]
    finally:
        await family.delete(family.namespace, kind=CLUSTER_ROLES)


async def test_a_namespace_says_what_holds_it_up(
    family: Family, lamps: Resource[dict[str, Any]]
) -> None:
    await family.create("one", finalizers=[HOLD, "example.org/other"])
    await family.create("two", finalizers=[HOLD])
    spec = a_lamp("x")["spec"]
    await family.create("three", kind=lamps, spec=spec, finalizers=[HOLD])
    await family.create("free", kind=SECRETS)
    going = await family.client.delete(NAMESPACES, family.namespace)
    assert going
    assert going["status"]["phase"] == "Terminating"
    namespace = await says(
        family,
        NamespaceContentRemaining=(
            "SomeResourcesRemain",
            (
                "Some resources are remaining: configmaps. has 2 resource instances, "
                "lamps.house.example has 1 resource instances"
            ),
        ),
        NamespaceFinalizersRemaining=(
            "SomeFinalizersRemain",
            (
                "Some content in the namespace has finalizers remaining: example.org/hold in 3 resource "
                "instances, example.org/other in 1 resource instances"
            ),
        ),
    )
    assert [each["type"] for each in namespace["status"]["conditions"]] == [
        "NamespaceDeletionDiscoveryFailure",
        "NamespaceDeletionGroupVersionParsingFailure",
        "NamespaceDeletionContentFailure",
        "NamespaceContentRemaining",
        "NamespaceFinalizersRemaining",
    ]
    assert namespace["status"]["phase"] == "Terminating"
    assert namespace["spec"]["finalizers"] == ["kubernetes"]
    assert await family.get("free", kind=SECRETS) is None
    await family.is_marked("three", kind=lamps)
    for name, kind in (("one", CONFIG_MAPS), ("two", CONFIG_MAPS), ("three", lamps)):
        await family.patch(name, {"finalizers": None}, kind)
    await is_over(family)


async def test_pods_go_first_and_hold_up_the_rest(family: Family) -> None:
    await family.appears("default", SERVICE_ACCOUNTS)
    pod = a_pod("pod")
    # Pods of a node that is known to be gone are collected at once; of this one nobody has heard.
    node = f"node-of-{family.namespace}"
    pod["spec"] |= {"nodeName": node, "terminationGracePeriodSeconds": 1}
    await family.client.create(PODS, pod, family.namespace)
    await family.create("needed")
    await family.client.delete(NAMESPACES, family.namespace)
    await says(
        family,
        NamespaceDeletionContentFailure=(
            "ContentDeletionFailed",
            (
                "Failed to delete all resource types, 1 remaining: unexpected items still remain in "
                f"namespace: {family.namespace} for gvr: /v1, Resource=pods"
            ),
        ),
    )
    assert await family.get("needed")
    assert (await family.is_marked("pod", PODS))["deletionGracePeriodSeconds"] == 1
    await family.client.delete(PODS, "pod", family.namespace, grace_period_s=0)
    await is_over(family)


async def test_finalizers_of_a_namespace_itself_are_waited_for(family: Family) -> None:
    path = f"/api/v1/namespaces/{family.namespace}"
    await family.create("thing")
    await Family(family.client, "").patch(family.namespace, {"finalizers": [HOLD]}, kind=NAMESPACES)
    await family.client.delete(NAMESPACES, family.namespace)

    async def is_finalized() -> bool:
        found = await namespace_of(family.client, family.namespace) or {}
        return not found["spec"].get("finalizers")

    await waiting.until(is_finalized, limit_s=ENDING_LIMIT_S, what="content finalized")
    assert await family.get("thing") is None
    await family.client.raw(
        "PATCH",
        path,
        {"metadata": {"finalizers": None}},
        content_type="application/merge-patch+json",
    )
    await is_over(family)


async def test_whoever_finalizes_a_namespace_is_waited_for(family: Family) -> None:
    path = f"/api/v1/namespaces/{family.namespace}/finalize"
    found = await namespace_of(family.client, family.namespace) or {}
    mine = {**found, "spec": {"finalizers": ["kubernetes", "example.org/mine"]}}
    answer = msgspec.json.decode(await family.client.raw("PUT", path, mine))
    assert answer["spec"]["finalizers"] == ["kubernetes", "example.org/mine"]
    await family.client.delete(NAMESPACES, family.namespace)

    async def is_mine_alone() -> bool:
        found.update(await namespace_of(family.client, family.namespace) or {})
        return bool(found["spec"].get("finalizers") == ["example.org/mine"])

    await waiting.until(is_mine_alone, limit_s=ENDING_LIMIT_S, what="one finalizer left")
    await family.client.raw("PUT", path, {**found, "spec": {"finalizers": []}})
    await is_over(family)


@pytest.mark.parametrize("method", ["GET", "PATCH", "DELETE", "POST"])
async def test_a_namespace_is_only_replaced_to_be_finalized(family: Family, method: str) -> None:
    path = f"/api/v1/namespaces/{family.namespace}/finalize"
    body: Object | None = None if method == "GET" else {}
    type_ = "application/merge-patch+json" if method == "PATCH" else "application/json"
    with pytest.raises(ApiError) as caught:
        await family.client.raw(method, path, body, content_type=type_)
    assert caught.value.code == 405


async def test_a_finalizer_of_a_namespace_has_a_qualified_name(family: Family) -> None:
    path = f"/api/v1/namespaces/{family.namespace}/finalize"
    found = await namespace_of(family.client, family.namespace) or {}
    with pytest.raises(ApiError) as caught:
        await family.client.raw("PUT", path, {**found, "spec": {"finalizers": ["no good", "mine"]}})
    assert caught.value.code == 422
    assert [(cause.field, cause.message) for cause in caught.value.causes] == [
        (
            "spec.finalizers[0]",
            (
                "Invalid value: \"no good\": name part must consist of alphanumeric characters, '-', '_' "
                "or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or "
                "'my.name',  or '123-abc', regex used for validation is "
                "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
            ),
        ),
        (
            "spec.finalizers[0]",
            (
                'Invalid value: "no good": name is neither a standard finalizer name nor is it fully '
                "qualified"
            ),
        ),
        (
            "spec.finalizers[1]",
            'Invalid value: "mine": name is neither a standard finalizer name nor is it fully qualified',
        ),
    ]


async def test_a_namespace_is_terminating_only_while_it_is(family: Family) -> None:
    path = f"/api/v1/namespaces/{family.namespace}/status"
    patch = {"status": {"phase": "Terminating"}}
    with pytest.raises(ApiError) as caught:
        await family.client.raw("PATCH", path, patch, content_type="application/merge-patch+json")
    assert caught.value.code == 422
    assert [(cause.field, cause.message) for cause in caught.value.causes] == [
        (
            "status.Phase",
            (
                "Invalid value: \"Terminating\": may only be 'Active' if `deletionTimestamp` is empty"
            ),
        )
    ]


@pytest.mark.parametrize("name", ["default", "kube-system", "kube-public"])
async def test_the_servers_own_namespaces_stay(client: Client, name: str) -> None:
    with pytest.raises(Forbidden) as caught:
        await client.delete(NAMESPACES, name)
    assert caught.value.status.message == (
        f'namespaces "{name}" is forbidden: this namespace may not be deleted'
    )
    assert caught.value.status.details
    assert caught.value.status.details.kind == "namespaces"
    assert caught.value.status.details.name == name
    found = await namespace_of(client, name)
    assert found
    assert found["status"] == {"phase": "Active"}


async def test_only_the_very_namespace_is_deleted(family: Family) -> None:
    found = await namespace_of(family.client, family.namespace) or {}
    uid, version = found["metadata"]["uid"], found["metadata"]["resourceVersion"]
    subject = (
        f'Operation cannot be fulfilled on namespaces "{family.namespace}": Precondition failed'
    )
    with pytest.raises(Conflict) as caught:
        await family.client.delete(NAMESPACES, family.namespace, uid="another")
    assert caught.value.status.message == (
        f"{subject}: UID in precondition: another, UID in object meta: {uid}"
    )
    with pytest.raises(Conflict) as caught:
        await family.client.delete(NAMESPACES, family.namespace, resource_version="1")
    assert caught.value.status.message == (
        f"{subject}: ResourceVersion in precondition: 1, ResourceVersion in object meta: {version}"
    )


async def test_an_api_that_is_away_holds_up_every_namespace(mortal: Mortal) -> None:
    """On a server of its own: others would have to wait, too."""
    service = {
        "metadata": {"name": "v1.away.example"},
        "spec": {
            "group": "away.example",
            "version": "v1",
            "service": {"name": "nobody", "namespace": "default"},
            "groupPriorityMinimum": 100,
            "versionPriority": 100,
            "insecureSkipTLSVerify": True,
        },
    }
    async with Client(config_of(mortal.kubeconfig)) as client:
        await client.create(API_SERVICES, service)

        async def is_away() -> bool:
            found = await client.get(API_SERVICES, "v1.away.example")
            conditions = found.get("status", {}).get("conditions") or ()
            return any(each["status"] == "False" for each in conditions)

        await waiting.until(is_away, limit_s=LIMIT_S, what="the API is said to be away")
        made = await client.create(NAMESPACES, {"metadata": {"generateName": "life-"}})
        family = Family(client, made["metadata"]["name"])
        await client.delete(NAMESPACES, family.namespace)
        await says(
            family,
            NamespaceDeletionDiscoveryFailure=(
                "DiscoveryFailed",
                (
                    "Discovery failed for some groups, 1 failing: unable to retrieve the complete list of "
                    "server APIs: away.example/v1: stale GroupVersion discovery: away.example/v1"
                ),
            ),
        )
        await client.delete(API_SERVICES, "v1.away.example")
        await is_over(family)
