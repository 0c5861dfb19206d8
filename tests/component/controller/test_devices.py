"""Devices that a launcher asks its node for: those that it has, wherever it goes."""

from collections.abc import Mapping

from tests.component.controller.house import House

from clusterup import waiting
from kubevirt.api.configuration import DeveloperConfiguration, KubeVirtConfiguration
from kubevirt.api.scheme import NODES, VIRTUAL_MACHINE_INSTANCES
from kubevirt.components.controller.controlling import VirtController
from kubevirt.kube.patches import MergePatch, StrategicMergePatch
from kubevirt.testing.builders import an_instance
from kubevirt.virt.pod.config import KVM, TUN, VHOST_NET
from kubevirt.virt.pod.names import SCHEDULABLE


async def _has(house: House, node: str, places: str) -> None:
    """As its kubelet says."""
    amounts = dict.fromkeys((TUN, VHOST_NET), places)
    patch = StrategicMergePatch({"status": {"capacity": amounts, "allocatable": amounts}})
    await house.client.patch_status(NODES, node, patch)


async def _until_known(controller: VirtController, wanted: frozenset[str]) -> None:
    async def is_so() -> bool:
        return controller.caches.devices == wanted

    await waiting.until(is_so, limit_s=60, what="the nodes' devices are known")


async def _asked_for(house: House, name: str) -> Mapping[str, str | int]:
    vmi = an_instance(name, house.namespace, configuration=house.configuration)
    await house.client.create(VIRTUAL_MACHINE_INSTANCES, vmi)
    found = await house.until_phase(name, "Running")
    [pod] = [each for each in await house.pods() if each.metadata.uid in found.status.active_pods]
    assert pod.spec is not None
    resources = pod.spec.containers[0].resources
    limits = resources.limits if resources else {}
    return {key: value for key, value in limits.items() if key.startswith("devices.kubevirt.io/")}


async def test_a_launcher_asks_for_a_card_in_the_kernel_where_every_node_has_one(
    house: House,
) -> None:
    """virt-handler offered it, and no launcher ever asked."""
    developer = DeveloperConfiguration(use_emulation=False)
    house.configuration = KubeVirtConfiguration(developer_configuration=developer)
    both = frozenset({TUN, VHOST_NET})
    async with house.controlled() as controller, house.with_nodes() as nodes:
        one, other = nodes.names
        await _has(house, one, "1k")
        assert await _asked_for(house, "first") == {KVM: "1", TUN: "1"}

        await _has(house, other, "1k")
        await _until_known(controller, both)
        assert await _asked_for(house, "second") == {KVM: "1", TUN: "1", VHOST_NET: "1"}

        await _has(house, other, "0")
        await _until_known(controller, frozenset({TUN}))
        closed = MergePatch({"metadata": {"labels": {SCHEDULABLE: "false"}}})
        await house.client.patch(NODES, other, closed)
        await _until_known(controller, both)
