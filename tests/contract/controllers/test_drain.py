"""kubectl drain and uncordon, as an administrator uses them before and after work on a machine."""

from typing import Any, Protocol

import pytest
from tests.contract.controllers.machines import Machines, taints

from clusterup.processes import Outcome
from kubevirt.api.scheme import NODES, POD_DISRUPTION_BUDGETS, PODS
from kubevirt.kube.patches import StrategicMergePatch

Object = dict[str, Any]
APP = {"app": "db"}
UNSCHEDULABLE = ("node.kubernetes.io/unschedulable", "NoSchedule")


class Kubectl(Protocol):
    async def run_kubectl(self, *words: str, check: bool = ...) -> Outcome: ...


@pytest.fixture
def kubectl(server: Kubectl) -> Kubectl:
    return server


async def ready(machines: Machines, name: str, node: str) -> None:
    await machines.pod(name, labels=APP, nodeSelector={"kubernetes.io/hostname": node})
    await machines.placed(name)
    status = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    patch = StrategicMergePatch({"status": status})
    await machines.client.patch_status(PODS, name, patch, machines.namespace)


async def one_stays(machines: Machines, may_go: int) -> None:
    """A budget, once it has counted."""
    spec = {"minAvailable": 1, "selector": {"matchLabels": APP}}
    body = {"metadata": {"name": "budget"}, "spec": spec}
    await machines.client.create(POD_DISRUPTION_BUDGETS.raw, body, machines.namespace)

    def has_counted(found: Object | None) -> bool:
        status = (found or {}).get("status") or {}
        return bool(status.get("disruptionsAllowed") == may_go)

    await machines.until(POD_DISRUPTION_BUDGETS.raw, "budget", has_counted)


async def test_a_drained_node_is_empty_and_takes_pods_again_after_uncordon(
    machines: Machines, kubectl: Kubectl
) -> None:
    one = await machines.node("one")
    two = await machines.node("two")
    for name, node in (("a", one), ("b", one), ("c", two)):
        await ready(machines, name, node)
    await one_stays(machines, 2)

    await kubectl.run_kubectl("drain", one, "--force", "--timeout=30s")

    left = {
        pod.metadata.name for pod in (await machines.client.list(PODS, machines.namespace)).items
    }
    assert left == {"c"}
    await machines.node_until(one, lambda node: UNSCHEDULABLE in taints(node))
    await machines.pod("late", nodeSelector={"kubernetes.io/hostname": one})
    assert "1 node(s) were unschedulable" in await machines.refused("late")

    await kubectl.run_kubectl("uncordon", one)

    assert await machines.placed("late") == one
    assert not (await machines.client.get(NODES, one)).spec.unschedulable


async def test_a_drain_stops_at_the_budget(machines: Machines, kubectl: Kubectl) -> None:
    one = await machines.node("one")
    for name in ("a", "b"):
        await ready(machines, name, one)
    await one_stays(machines, 1)

    done = await kubectl.run_kubectl("drain", one, "--force", "--timeout=6s", check=False)

    assert done.code == 1
    assert "Cannot evict pod as it would violate the pod's disruption budget." in done.stderr
    left = (await machines.client.list(PODS, machines.namespace)).items
    assert len(left) == 1
