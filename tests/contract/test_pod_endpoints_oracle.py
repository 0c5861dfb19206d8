"""What can be done to pods: changed in few ways, bound once, evicted within a budget."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any, NamedTuple

import pytest
from tests.contract.oracle import DRY, Oracle
from tests.contract.pod_cases import container, pod

from kubevirt.api.resource import Resource
from kubevirt.kube.client import Client
from kubevirt.kube.errors import NotFound

Object = dict[str, Any]
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
PATH = "/api/v1/namespaces/default/pods"
BUDGET_KIND: Resource[Object] = Resource(
    "policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", True, Object
)
BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"


@pytest.fixture
async def oracle(client: Client, an_account: None, records_answers: bool) -> Oracle:  # noqa: FBT001
    return Oracle("pod_endpoints", client, records=records_answers)


class Pods:
    """Pods that are there for one test, under names that only it knows."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._paths: list[str] = []

    async def put(self, name: str, *, labels: Any = None, **spec: Any) -> str:
        made = pod(name=name, **{"terminationGracePeriodSeconds": 0, **spec})
        made["metadata"]["labels"] = labels or {}
        return await self.create(PATH, made)

    async def create(self, path: str, object_: Object) -> str:
        await self._client.raw("POST", path, object_)
        self._paths.append(f"{path}/{object_['metadata']['name']}")
        return self._paths[-1]

    async def bind(self, path: str, node: str = "node01") -> None:
        name = path.rpartition("/")[2]
        body = {"metadata": {"name": name}, "target": {"kind": "Node", "name": node}}
        await self._client.raw("POST", f"{path}/binding", body)

    async def status(self, path: str, **status: Any) -> None:
        await self._client.raw("PATCH", f"{path}/status", {"status": status}, content_type=MERGE)

    async def clear(self) -> None:
        for path in self._paths:
            try:
                await self._client.raw("DELETE", path, params={"gracePeriodSeconds": "0"})
            except NotFound:
                continue


@pytest.fixture
async def pods(client: Client) -> AsyncIterator[Pods]:
    made = Pods(client)
    yield made
    await made.clear()


# Changes

CHANGES: dict[str, Object] = {
    "another image": {"spec": {"containers": [{"name": "main", "image": "other:2"}]}},
    "no image": {"spec": {"containers": [{"name": "main", "image": ""}]}},
    "a padded image": {"spec": {"containers": [{"name": "main", "image": " x"}]}},
    "another image of an init container": {
        "spec": {"initContainers": [{"name": "first", "image": "other:2"}]}
    },
    "another container": {"spec": {"containers": [{"name": "more", "image": "x"}]}},
    "another argument": {"spec": {"containers": [{"name": "main", "args": ["x"]}]}},
    "a deadline": {"spec": {"activeDeadlineSeconds": 50}},
    "a later deadline": {"spec": {"activeDeadlineSeconds": 500}},
    "a deadline below nothing": {"spec": {"activeDeadlineSeconds": -1}},
    "no deadline": {"spec": {"activeDeadlineSeconds": None}},
    "more tolerations": {
        "spec": {
            "tolerations": [
                {"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 9},
                {"operator": "Exists", "key": "new"},
            ]
        }
    },
    "fewer tolerations": {"spec": {"tolerations": []}},
    "another node selector": {"spec": {"nodeSelector": {"a": "b"}}},
    "another grace": {"spec": {"terminationGracePeriodSeconds": 7}},
    "another account": {"spec": {"serviceAccountName": "x"}},
    "labels and annotations": {"metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}}},
    "a mirror": {"metadata": {"annotations": {"kubernetes.io/config.mirror": "x"}}},
    "a gate more": {"spec": {"schedulingGates": [{"name": "a/b"}]}},
    "a status through the front door": {"status": {"phase": "Running"}},
}


@pytest.mark.parametrize("name", CHANGES)
async def test_a_pod_changes_in_few_ways(oracle: Oracle, pods: Pods, name: str) -> None:
    path = await pods.put(
        "changes",
        initContainers=[container("first")],
        activeDeadlineSeconds=100,
        tolerations=[{"key": "a", "operator": "Exists", "effect": "NoExecute"}],
    )
    await oracle.asked(
        f"change: {name}", "PATCH", path, CHANGES[name], content_type=STRATEGIC, **DRY
    )


GATED: dict[str, Object] = {
    "no gates": {"spec": {"schedulingGates": [{"$patch": "replace"}]}},
    "one gate less": {"spec": {"schedulingGates": [{"name": "a/b", "$patch": "delete"}]}},
    "another gate": {"spec": {"schedulingGates": [{"name": "e/f"}]}},
    "where it shall go": {"spec": {"nodeSelector": {"a": "b"}}},
}


@pytest.mark.parametrize("name", GATED)
async def test_a_pod_that_is_held_back(oracle: Oracle, pods: Pods, name: str) -> None:
    path = await pods.put("held", schedulingGates=[{"name": "a/b"}, {"name": "c/d"}])
    await oracle.asked(f"held: {name}", "PATCH", path, GATED[name], content_type=STRATEGIC, **DRY)


STATUSES: dict[str, Object] = {
    "running": {"phase": "Running", "podIP": "10.0.0.1", "podIPs": [{"ip": "10.0.0.1"}]},
    "another quality": {"qosClass": "Guaranteed"},
    "no quality": {"qosClass": None},
    "conditions": {"conditions": [{"type": "Ready", "status": "True"}]},
    "a wrong condition": {"conditions": [{"type": "a b", "status": "True"}]},
    "an observed generation": {"observedGeneration": 1},
    "a wrong generation": {"observedGeneration": -1},
    "a wrong nomination": {"nominatedNodeName": "A"},
    "back to life": {"containerStatuses": [{"name": "main", "state": {"running": {}}}]},
}


@pytest.mark.parametrize("name", STATUSES)
async def test_a_status_of_a_pod(oracle: Oracle, pods: Pods, name: str) -> None:
    path = await pods.put("status", restartPolicy="Never")
    ended = {"name": "main", "state": {"terminated": {"exitCode": 0}}, "image": "", "imageID": ""}
    await pods.status(path, containerStatuses=[ended | {"ready": False, "restartCount": 0}])
    change = {"status": STATUSES[name]}
    await oracle.asked(
        f"status: {name}", "PATCH", f"{path}/status", change, content_type=MERGE, **DRY
    )


@pytest.mark.parametrize("policy", ["Never", "OnFailure"])
async def test_a_sidecar_comes_back_whatever_the_policy_of_its_pod(pods: Pods, policy: str) -> None:
    beside = {**container(name="beside"), "restartPolicy": "Always"}
    path = await pods.put("status", restartPolicy=policy, initContainers=[beside])
    told = {"name": "beside", "image": "", "imageID": "", "ready": False, "restartCount": 0}

    states: list[Object] = [{"terminated": {"exitCode": 0}}, {"waiting": {}}, {"running": {}}]
    for state in states:
        await pods.status(path, initContainerStatuses=[told | {"state": state}])


# Looking into it

LOOKING: dict[str, Object] = {
    "a look": {"name": "more", "image": "x:1"},
    "a look at another": {"name": "more", "image": "x:1", "targetContainerName": "main"},
    "a look at nobody": {"name": "more", "image": "x:1", "targetContainerName": "x"},
    "a look of a name that is taken": {"name": "main", "image": "x:1"},
    "a look with too much": {
        "name": "more",
        "image": "x:1",
        "ports": [{"containerPort": 1}],
        "resources": {"limits": {"cpu": "1"}},
        "livenessProbe": {"httpGet": {"port": 1}},
    },
    "a changed look": {"name": "there", "image": "y:1"},
}


@pytest.mark.parametrize("name", LOOKING)
async def test_somebody_looks_into_a_pod(
    oracle: Oracle, pods: Pods, client: Client, name: str
) -> None:
    path = await pods.put("looked-at")
    there = {"spec": {"ephemeralContainers": [{"name": "there", "image": "x:1"}]}}
    below = f"{path}/ephemeralcontainers"
    await client.raw("PATCH", below, there, content_type=STRATEGIC)
    change = {"spec": {"ephemeralContainers": [LOOKING[name]]}, "metadata": {"labels": {"a": "b"}}}
    await oracle.asked(name, "PATCH", below, change, content_type=STRATEGIC, **DRY)


async def test_who_looks_does_not_leave(oracle: Oracle, pods: Pods, client: Client) -> None:
    path = await pods.put("looked-at")
    there = {"spec": {"ephemeralContainers": [{"name": "there", "image": "x:1"}]}}
    below = f"{path}/ephemeralcontainers"
    await client.raw("PATCH", below, there, content_type=STRATEGIC)
    nobody: Object = {"spec": {"ephemeralContainers": []}}
    await oracle.asked("a look that leaves", "PATCH", below, nobody, content_type=MERGE)
    await oracle.asked("a look through the front door", "PATCH", path, nobody, content_type=MERGE)


# Binding

BINDINGS: dict[str, Object] = {
    "a node": {"target": {"kind": "Node", "name": "node01"}},
    "another name": {"metadata": {"name": "x"}, "target": {"name": "node01"}},
    "another uid": {"metadata": {"name": "bound", "uid": "x"}, "target": {"name": "node01"}},
    "no node": {"target": {}},
    "no node at all": {"target": {"kind": "Pod", "name": "x"}},
}


@pytest.mark.parametrize("name", BINDINGS)
async def test_a_pod_is_bound(oracle: Oracle, pods: Pods, name: str) -> None:
    path = await pods.put("bound")
    body = {"metadata": {"name": "bound"}, **BINDINGS[name]}
    await oracle.asked(f"binding: {name}", "POST", f"{path}/binding", body, **DRY)
    if name != "another name":
        bindings = "/api/v1/namespaces/default/bindings"
        await oracle.asked(f"binding as of old: {name}", "POST", bindings, body, **DRY)


async def test_a_pod_is_bound_once(oracle: Oracle, pods: Pods) -> None:
    path = await pods.put("bound")
    body = {
        "metadata": {"name": "bound", "annotations": {"a": "b"}},
        "target": {"kind": "Node", "name": "node01"},
    }
    await oracle.asked("bound", "POST", f"{path}/binding", body)
    await oracle.asked("bound as shown", "GET", path)
    await oracle.asked("bound twice", "POST", f"{path}/binding", body)


async def test_a_pod_that_is_held_back_is_not_bound(oracle: Oracle, pods: Pods) -> None:
    path = await pods.put("held", schedulingGates=[{"name": "a/b"}])
    body = {"metadata": {"name": "held"}, "target": {"name": "node01"}}
    await oracle.asked("bound though held", "POST", f"{path}/binding", body)


async def test_a_pod_that_is_not_there_is_not_bound(oracle: Oracle) -> None:
    body = {"metadata": {"name": "nobody"}, "target": {"name": "node01"}}
    await oracle.asked("bound though not there", "POST", f"{PATH}/nobody/binding", body)


# Eviction


def eviction(name: str = "evicted", **more: Any) -> Object:
    return {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}, **more}


EVICTIONS: dict[str, Object] = {
    "plain": eviction(),
    "with grace": eviction(deleteOptions={"gracePeriodSeconds": 5}),
    "another uid": eviction(deleteOptions={"preconditions": {"uid": "x"}}),
    "another version": eviction(deleteOptions={"preconditions": {"resourceVersion": "1"}}),
    "another name": eviction("x"),
    "a dry run in the body": eviction(deleteOptions={"dryRun": ["All"]}),
    "wrong options": eviction(deleteOptions={"propagationPolicy": "x"}),
}


@pytest.mark.parametrize("name", EVICTIONS)
async def test_a_pod_goes_when_it_is_evicted(oracle: Oracle, pods: Pods, name: str) -> None:
    path = await pods.put("evicted")
    await oracle.asked(f"eviction: {name}", "POST", f"{path}/eviction", EVICTIONS[name])


async def test_nobody_is_evicted(oracle: Oracle) -> None:
    body = eviction("nobody")
    await oracle.asked("eviction of nobody", "POST", f"{PATH}/nobody/eviction", body)


async def test_a_pod_that_runs_is_evicted_with_grace(oracle: Oracle, pods: Pods) -> None:
    path = await pods.put("evicted", terminationGracePeriodSeconds=30)
    await pods.bind(path)
    await pods.status(path, phase="Running")
    await oracle.asked("eviction with time", "POST", f"{path}/eviction", eviction())
    await oracle.asked("evicted as shown", "GET", path)


# Budgets: whoever counts them has to be waited for


def budget(name: str = "keep", **spec: Any) -> Object:
    selector = {"matchLabels": {"app": "budget"}}
    return {"metadata": {"name": name}, "spec": {"selector": selector, **spec}}


class Case(NamedTuple):
    spec: Object
    ready: int = 1
    others: int = 0
    """Pods beside, that are not ready."""


BUDGETS_KEPT = {
    "the last": Case({"minAvailable": 1}),
    "one of two": Case({"minAvailable": 1}, ready=2),
    "none is needed": Case({"minAvailable": 0}),
    "one of no use": Case({"minAvailable": 1}, ready=0, others=1),
    "one of no use that may always go": Case(
        {"minAvailable": 1, "unhealthyPodEvictionPolicy": "AlwaysAllow"}, ready=0, others=1
    ),
    "one of no use beside one of use": Case({"minAvailable": 1}, ready=0, others=1),
    "a share of what nobody made": Case({"maxUnavailable": "50%"}),
    "a part of what nobody made": Case({"minAvailable": "50%"}),
}


@pytest.mark.parametrize("name", BUDGETS_KEPT)
async def test_a_budget_is_kept(oracle: Oracle, pods: Pods, client: Client, name: str) -> None:
    case = BUDGETS_KEPT[name]
    paths = []
    for number in range(case.ready + case.others):
        path = await pods.put(f"evicted-{number}", labels={"app": "budget"})
        await pods.bind(path)
        conditions = [{"type": "Ready", "status": "True"}] if number < case.ready else []
        await pods.status(path, phase="Running", conditions=conditions)
        paths.append(path)
    kept = await pods.create(BUDGETS, budget(**case.spec))
    await counted(client, kept, case.ready)
    await oracle.asked(f"budget as counted: {name}", "GET", kept)
    body = eviction("evicted-0")
    await oracle.asked(f"budget: {name}", "POST", f"{paths[0]}/eviction", body, **DRY)


async def counted(client: Client, path: str, healthy: int) -> None:
    namespace, name = path.split("/")[5], path.rpartition("/")[2]
    watch = client.watch(
        BUDGET_KIND, namespace, resource_version=None, field_selector=f"metadata.name={name}"
    )
    async with asyncio.timeout(120):
        async for event in watch:
            if isinstance(event.object, dict):
                status = event.object.get("status", {})
                if status.get("observedGeneration") and status["currentHealthy"] == healthy:
                    return


async def test_an_eviction_is_counted(oracle: Oracle, pods: Pods, client: Client) -> None:
    path = await pods.put("evicted", labels={"app": "budget"}, terminationGracePeriodSeconds=60)
    await pods.bind(path)
    ready = [{"type": "Ready", "status": "True"}]
    await pods.status(path, phase="Running", conditions=ready)
    kept = await pods.create(BUDGETS, budget(minAvailable=0))
    await counted(client, kept, 1)
    await oracle.asked("counted eviction", "POST", f"{path}/eviction", eviction())
    await counted(client, kept, 0)
    await oracle.asked("budget after an eviction", "GET", kept)


async def test_two_budgets_are_one_too_many(oracle: Oracle, pods: Pods) -> None:
    path = await pods.put("evicted", labels={"app": "budget"})
    await pods.bind(path)
    await pods.status(path, phase="Running")
    for name in ("keep", "keep-too"):
        await pods.create(BUDGETS, budget(name, minAvailable=0))
    await oracle.asked("two budgets", "POST", f"{path}/eviction", eviction())
