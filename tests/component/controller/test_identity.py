"""Whose instance it is, what it was made from, and who lets it go."""

from msgspec.structs import replace
from tests.component.controller.house import House

from clusterup import waiting
from kubevirt.api.machine import VirtualMachine
from kubevirt.api.scheme import (
    CONTROLLER_REVISIONS,
    VIRTUAL_MACHINE_INSTANCES,
    VIRTUAL_MACHINES,
)
from kubevirt.base.tasks import background
from kubevirt.components.controller.caches import Caches
from kubevirt.components.controller.machines.carrying import Carrying
from kubevirt.components.controller.telling import Teller
from kubevirt.kube.events import EventRecorder
from kubevirt.kube.expectations import Expectations
from kubevirt.kube.key import Key
from kubevirt.kube.patches import MergePatch
from kubevirt.testing.builders import GUEST, a_machine, an_instance
from kubevirt.virt.conditions import found, is_true
from kubevirt.virt.machine.actions import Adopt
from kubevirt.virt.ownership import controller_of


async def test_an_orphan_is_adopted_by_a_machine_of_its_name_and_runs_on(house: House) -> None:
    async with house.controlled(), house.with_nodes():
        vmi = an_instance(namespace=house.namespace)
        await house.client.create(VIRTUAL_MACHINE_INSTANCES, vmi)
        orphan = await house.until_phase("testvm", "Running")
        vm = await house.create(a_machine(namespace=house.namespace, runStrategy="Always"))
        await house.until_word("testvm", "Running")
        adopted = await house.until_phase("testvm", "Running")
        owner = controller_of(adopted)
        assert owner is not None
        assert owner.uid == vm.metadata.uid
        assert adopted.metadata.uid == orphan.metadata.uid
        await house.delete(VIRTUAL_MACHINES, "testvm")
        await house.until_gone(VIRTUAL_MACHINES, "testvm")
        assert await house.instance("testvm") is None


async def test_a_guest_that_is_left_behind_runs_on_and_is_adopted_again(house: House) -> None:
    """Kubernetes' garbage collector patches what is left behind, and compares copies byte by byte."""
    words = "#!/bin/sh\necho 'a' && echo <b> \u2028 ä"
    seed = {"name": "seed", "cloudInitNoCloud": {"userData": words}}
    guest = {"volumes": [*GUEST["volumes"], seed]}
    await house.leaves_instances_behind()
    async with house.controlled(), house.with_nodes():
        vm = a_machine(namespace=house.namespace, guest=guest, runStrategy="Always")
        await house.create(vm)
        before = await house.until_phase("testvm", "Running")
        await house.leave_behind("testvm")
        await house.create(a_machine(namespace=house.namespace, runStrategy="Always"))
        await house.until_word("testvm", "Running")
        after = await house.until_phase("testvm", "Running")
        assert after.metadata.uid == before.metadata.uid


async def test_a_machine_that_goes_unheard_adopts_nobody(house: House) -> None:
    """Now and then the guest that a machine left behind was deleted: adopted by what the cache still knew of the machine."""
    caches = Caches.of(house.client, house.clock)
    recorder = EventRecorder(house.client, component="test", clock=house.clock)
    teller = Teller(recorder, VIRTUAL_MACHINES)
    carrying = Carrying(house.client, caches, teller, Expectations(house.clock), lambda _: None)
    async with background(caches.run()):
        await caches.wait_synced()
        machine = a_machine(namespace=house.namespace, runStrategy="Always")
        unheard = await house.create(held(machine))
        await house.client.create(VIRTUAL_MACHINE_INSTANCES, an_instance(namespace=house.namespace))
        await house.delete(VIRTUAL_MACHINES, "testvm")
        await waiting.until(
            lambda: _is_known(caches, unheard), limit_s=60, what="the cache knows the instance"
        )
        left = caches.instances.get(Key.of(unheard))
        assert left is not None
        await carrying.out(unheard, Adopt(left.metadata.uid))
        alone = await house.instance("testvm")
        assert alone is not None
        assert controller_of(alone) is None
    released = MergePatch({"metadata": {"finalizers": None}})
    await house.client.patch(VIRTUAL_MACHINES, "testvm", released, house.namespace)


def held(machine: VirtualMachine) -> VirtualMachine:
    metadata = replace(machine.metadata, finalizers=("example.org/hold",))
    return replace(machine, metadata=metadata)


async def _is_known(caches: Caches, vm: VirtualMachine) -> bool:
    return caches.instances.get(Key.of(vm)) is not None


async def test_an_instance_of_somebody_else_is_left_alone(house: House) -> None:
    async with house.controlled(), house.with_nodes():
        owner = await house.create(a_machine("other", house.namespace, runStrategy="Halted"))
        reference = {
            "apiVersion": "kubevirt.io/v1",
            "kind": "VirtualMachine",
            "name": "other",
            "uid": owner.metadata.uid,
            "controller": True,
        }
        vmi = await house.client.create(
            VIRTUAL_MACHINE_INSTANCES, an_instance(namespace=house.namespace)
        )
        patch = MergePatch({"metadata": {"ownerReferences": [reference]}})
        await house.client.patch(VIRTUAL_MACHINE_INSTANCES, "testvm", patch, house.namespace)
        await house.create(a_machine(namespace=house.namespace, runStrategy="Always"))
        vm = await house.until_machine(
            "testvm", lambda vm: is_true(vm.status.conditions, "Failure"), "tells whose it is"
        )
        condition = found(vm.status.conditions, "Failure")
        assert condition is not None
        assert "belongs to VirtualMachine other" in (condition.message or "")
        found_again = await house.instance("testvm")
        assert found_again is not None
        assert found_again.metadata.uid == vmi.metadata.uid


async def test_a_changed_template_needs_a_restart_and_the_restart_settles_it(house: House) -> None:
    async with house.controlled(), house.with_nodes():
        await house.create(a_machine(namespace=house.namespace, runStrategy="Always"))
        vm = await house.until_word("testvm", "Running")
        memory = {"template": {"spec": {"domain": {"memory": {"guest": "128Mi"}}}}}
        await house.edit("testvm", **memory)
        vm = await house.until_machine(
            "testvm", lambda vm: is_true(vm.status.conditions, "RestartRequired"), "needs a restart"
        )
        assert vm.status.desired_generation == 2
        assert vm.status.observed_generation == 1

        old = await house.until_phase("testvm", "Running")
        await house.ask("testvm", "Stop", old.metadata.uid)
        vm = await house.until_machine(
            "testvm",
            lambda vm: vm.status.observed_generation == 2 and bool(vm.status.ready),
            "runs as it is written",
        )
        assert not is_true(vm.status.conditions, "RestartRequired")
        copies = (await house.client.list(CONTROLLER_REVISIONS, house.namespace)).items
        assert [each.metadata.name for each in copies] == [f"revision-start-vm-{vm.metadata.uid}-2"]


async def test_a_change_of_the_strategy_needs_no_restart(house: House) -> None:
    async with house.controlled(), house.with_nodes():
        await house.create(a_machine(namespace=house.namespace, runStrategy="Always"))
        await house.until_word("testvm", "Running")
        await house.edit("testvm", runStrategy="Manual")
        vm = await house.until_machine(
            "testvm", lambda vm: vm.status.run_strategy == "Manual", "follows the other strategy"
        )
        assert not is_true(vm.status.conditions, "RestartRequired")
        assert vm.status.observed_generation == 2


async def test_a_machine_without_finalizer_is_given_one(house: House) -> None:
    async with house.controlled(), house.with_nodes():
        vm = await house.create(a_machine(namespace=house.namespace, runStrategy="Halted"))
        nothing = MergePatch({"metadata": {"finalizers": None}})
        await house.client.patch(VIRTUAL_MACHINES, "testvm", nothing, house.namespace)
        again = await house.until_machine(
            "testvm", lambda vm: bool(vm.metadata.finalizers), "has a finalizer"
        )
        assert again.metadata.finalizers == vm.metadata.finalizers
