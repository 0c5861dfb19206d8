"""What goes wrong, what is told of it, and how it goes on once it is mended."""

import msgspec
import pytest
from msgspec.structs import replace
from tests.component.controller.house import House

from clusterup import waiting
from kubevirt.api.configuration import KubeVirtConfiguration
from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.scheme import (
    NAMESPACES,
    NODES,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    PODS,
    PRIORITY_CLASSES,
    VIRTUAL_MACHINE_INSTANCES,
)
from kubevirt.components.controller.instances import controller as instances
from kubevirt.kube.patches import MergePatch
from kubevirt.testing.builders import a_claim, a_machine, an_instance
from kubevirt.virt.conditions import found
from kubevirt.virt.nodes import HEARTBEAT
from kubevirt.virt.pod.names import SCHEDULABLE

GATE = {"developerConfiguration": {"featureGates": ["HostDisk"]}}


def trouble(vmi: VirtualMachineInstance) -> tuple[str, str]:
    """What keeps it from going on: a word and a sentence."""
    condition = found(vmi.status.conditions, "Synchronized")
    if condition is None or condition.status != "False":
        return "", ""
    return condition.reason or "", condition.message or ""


async def test_a_launcher_that_crashes_is_tried_again_later_and_not_over_and_over(
    house: House,
) -> None:
    async with house.controlled(), house.with_nodes() as nodes:
        nodes.pods.crashing.add("testvm")
        await house.create(a_machine(namespace=house.namespace, runStrategy="Always"))
        vm = await house.until_word("testvm", "CrashLoopBackOff")
        failure = vm.status.start_failure
        assert failure is not None
        assert failure.consecutive_fail_count == 1
        await house.until_gone(VIRTUAL_MACHINE_INSTANCES, "testvm")
        [words] = set(await house.told("testvm", "Stopped"))
        assert words.endswith("ended: container compute ended with code 1")

        nodes.pods.crashing.clear()
        vm = await house.until_word("testvm", "Running")
        assert vm.status.start_failure is None


async def test_a_claim_that_is_missing_is_named_and_awaited(house: House) -> None:
    volumes = {"volumes": [{"name": "root", "persistentVolumeClaim": {"claimName": "disk"}}]}
    async with house.controlled(), house.with_nodes():
        vm = a_machine(namespace=house.namespace, guest=volumes, runStrategy="Always")
        await house.create(vm)
        await house.until_word("testvm", "ErrorPvcNotFound")
        vmi = await house.until_phase("testvm", "Pending")
        word, sentence = trouble(vmi)
        assert word == "FailedPvcNotFound"
        assert f"{house.namespace}/disk does not exist" in sentence

        claim = a_claim("disk", house.namespace, mode="Block")
        await house.client.create(PERSISTENT_VOLUME_CLAIMS, claim)
        await house.until_word("testvm", "Running")
        [pod] = await house.pods()
        assert pod.spec is not None
        assert [each.name for each in pod.spec.containers[0].volume_devices] == ["root"]
        vmi = await house.until_phase("testvm", "Running")
        [told] = vmi.status.volume_status
        assert told.persistent_volume_claim_info is not None
        assert told.persistent_volume_claim_info.volume_mode == "Block"
        assert trouble(vmi) == ("", "")


async def test_a_claim_that_has_no_volume_yet_is_waited_for(house: House) -> None:
    volumes = {"volumes": [{"name": "root", "persistentVolumeClaim": {"claimName": "disk"}}]}
    name = house.namespace  # a volume belongs to the whole cluster
    claim = a_claim("disk", house.namespace)
    claim = replace(claim, spec=replace(claim.spec, storage_class_name="", volume_name=name))
    volume = {
        "metadata": {"name": name},
        "spec": {
            "capacity": {"storage": "64Mi"},
            "accessModes": ["ReadWriteOnce"],
            "hostPath": {"path": "/nowhere"},
            "storageClassName": "",
        },
    }
    async with house.controlled(), house.with_nodes() as nodes:
        nodes.pods.waiting.add("testvm")
        await house.client.create(PERSISTENT_VOLUME_CLAIMS, claim)
        vm = a_machine(namespace=house.namespace, guest=volumes, runStrategy="Always")
        await house.create(vm)
        await house.until_word("testvm", "WaitingForVolumeBinding")
        await house.client.create(PERSISTENT_VOLUMES.raw, volume)
        try:
            # Where nobody binds claims the test does, as is done there.
            bound = MergePatch({"status": {"phase": "Bound"}})
            await house.client.patch_status(
                PERSISTENT_VOLUME_CLAIMS, "disk", bound, house.namespace
            )
            await house.until_word("testvm", "Starting")
        finally:
            await house.client.delete(PERSISTENT_VOLUMES, name)


async def test_what_the_server_refuses_is_told_and_goes_on_when_it_is_allowed(house: House) -> None:
    name = house.namespace  # a class belongs to the whole cluster
    async with house.controlled(), house.with_nodes():
        guest = {"priorityClassName": name}
        await house.create(a_machine(namespace=house.namespace, guest=guest, runStrategy="Always"))
        vmi = await house.until_instance("testvm", lambda vmi: bool(trouble(vmi)[0]), "tells it")
        word, sentence = trouble(vmi)
        assert word == "FailedCreate"
        assert sentence.startswith("failed to create virtual machine pod: ")
        assert f"no PriorityClass with name {name} was found" in sentence
        assert any("Error creating pod" in each for each in await house.told("testvm", word))

        await house.client.create(PRIORITY_CLASSES.raw, {"metadata": {"name": name}, "value": 1000})
        try:
            await house.until_word("testvm", "Running")
            assert trouble(await house.until_phase("testvm", "Running")) == ("", "")
        finally:
            await house.client.delete(PRIORITY_CLASSES, name)


@pytest.mark.parametrize("server", ["kubernetes"], indirect=True)
async def test_a_namespace_that_takes_no_pod_like_this_is_named_with_the_way_out(
    house: House,
) -> None:
    """It was told in Kubernetes' words alone. Our own server takes every pod, so only Kubernetes is asked."""
    volumes = [{"name": "root", "hostDisk": {"path": "/data/disk.img", "type": "DiskOrCreate"}}]
    house.configuration = msgspec.convert(GATE, KubeVirtConfiguration)

    async def enforce(level: str) -> None:
        labels = {"pod-security.kubernetes.io/enforce": level}
        patch = MergePatch({"metadata": {"labels": labels}})
        await house.client.patch(NAMESPACES, house.namespace, patch)

    await enforce("baseline")
    async with house.controlled(), house.with_nodes():
        vmi = an_instance(
            namespace=house.namespace, volumes=volumes, configuration=house.configuration
        )
        await house.client.create(VIRTUAL_MACHINE_INSTANCES, vmi)
        vmi = await house.until_instance("testvm", lambda vmi: bool(trouble(vmi)[0]), "tells it")
        word, sentence = trouble(vmi)
        name = f"{house.namespace}/testvm"
        words = f"failed to create pod for vmi {name}, it needs a privileged namespace to run: "
        assert word == "FailedCreate"
        assert sentence.startswith(words)
        assert 'violates PodSecurity "baseline:latest": hostPath volumes' in sentence
        assert f"kubectl label --overwrite namespace {house.namespace} " in sentence
        told = await house.told("testvm", word)
        assert any(f"failed to render launch manifest: {words}" in each for each in told)

        await enforce("privileged")
        assert trouble(await house.until_phase("testvm", "Running")) == ("", "")


async def test_a_pod_that_cannot_be_made_is_made_when_the_settings_allow_it(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(instances, "UNRENDERABLE_S", 0.5)
    volumes = [{"name": "root", "hostDisk": {"path": "/data/disk.img", "type": "DiskOrCreate"}}]
    async with house.controlled(), house.with_nodes():
        vmi = an_instance(namespace=house.namespace, volumes=volumes)
        await house.client.create(VIRTUAL_MACHINE_INSTANCES, vmi)
        vmi = await house.until_instance("testvm", lambda vmi: bool(trouble(vmi)[0]), "tells it")
        words = "failed to render launch manifest: HostDisk feature gate is not enabled"
        assert trouble(vmi) == ("FailedCreate", words)
        assert await house.pods() == []

        house.configuration = msgspec.convert(GATE, KubeVirtConfiguration)
        assert trouble(await house.until_phase("testvm", "Running")) == ("", "")


async def test_an_instance_whose_pod_vanishes_has_failed_and_can_be_deleted(house: House) -> None:
    async with house.controlled(), house.with_nodes() as nodes:
        nodes.guests.unwilling.add("testvm")
        vmi = an_instance(namespace=house.namespace)
        await house.client.create(VIRTUAL_MACHINE_INSTANCES, vmi)
        await house.until_phase("testvm", "Scheduled")
        [pod] = await house.pods()
        await house.delete(PODS, pod.metadata.name, grace_period_s=0)
        failed = await house.until_phase("testvm", "Failed")
        assert trouble(failed)[0] == "LauncherLost"
        await house.delete(VIRTUAL_MACHINE_INSTANCES, "testvm")
        await house.until_gone(VIRTUAL_MACHINE_INSTANCES, "testvm")


async def test_a_node_that_is_silent_takes_no_more_guests_and_those_without_a_pod_have_failed(
    house: House,
) -> None:
    async with house.controlled(), house.with_nodes() as nodes:
        nodes.guests.unwilling.add("testvm")
        vmi = an_instance(namespace=house.namespace)
        await house.client.create(VIRTUAL_MACHINE_INSTANCES, vmi)
        node = (await house.until_phase("testvm", "Scheduled")).status.node_name or ""
        old = MergePatch({"metadata": {"annotations": {HEARTBEAT: "2020-01-01T00:00:00Z"}}})
        await house.client.patch(NODES, node, old)

        async def is_closed() -> bool:
            return (await house.client.get(NODES, node)).metadata.labels[SCHEDULABLE] == "false"

        await waiting.until(is_closed, limit_s=60, what="the node takes no more guests")
        [pod] = await house.pods()
        await house.delete(PODS, pod.metadata.name, grace_period_s=0)
        failed = await house.until_phase("testvm", "Failed")
        assert failed.status.reason == "NodeUnresponsive"
        assert await house.told("testvm", "NodeUnresponsive")
        await house.delete(VIRTUAL_MACHINE_INSTANCES, "testvm")
        await house.until_gone(VIRTUAL_MACHINE_INSTANCES, "testvm")


async def test_a_pod_that_lost_its_labels_is_still_the_launcher_of_its_instance(
    house: House,
) -> None:
    """Nobody can have a second guest started beside the first by taking a label away."""
    async with house.controlled(), house.with_nodes():
        await house.create(a_machine(namespace=house.namespace, runStrategy="Always"))
        before = await house.until_phase("testvm", "Running")
        [pod] = await house.pods()
        nothing = MergePatch({"metadata": {"labels": None}})
        await house.client.patch(PODS, pod.metadata.name, nothing, house.namespace)
        await house.create(a_machine("second", house.namespace, runStrategy="Always"))
        await house.until_word("second", "Running")
        after = await house.until_phase("testvm", "Running")
        assert after.metadata.uid == before.metadata.uid
        assert len(await house.pods()) == 2
