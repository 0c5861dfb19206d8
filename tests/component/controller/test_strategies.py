"""Each run strategy, from create to Running to stop to delete."""

from tests.component.controller.house import House

from kubevirt.api.scheme import VIRTUAL_MACHINE_INSTANCES, VIRTUAL_MACHINES
from kubevirt.testing.builders import a_machine


async def test_a_machine_that_is_always_on_comes_to_run_and_goes_with_its_guest(
    house: House,
) -> None:
    async with house.controlled(), house.with_nodes():
        await house.create(a_machine(namespace=house.namespace, runStrategy="Always"))
        vm = await house.until_machine("testvm", lambda vm: bool(vm.status.ready), "is ready")
        assert (vm.status.printable_status, vm.status.created) == ("Running", True)
        vmi = await house.until_phase("testvm", "Running")
        assert vmi.status.node_name
        assert vmi.status.interfaces[0].ip_address
        assert vmi.metadata.labels["kubevirt.io/nodeName"] == vmi.status.node_name
        [pod] = await house.pods()
        assert vmi.status.active_pods == {pod.metadata.uid: vmi.status.node_name}
        [words] = await house.told("testvm", "SuccessfulHandOver")
        assert words == f"Pod ownership transferred to the node {vmi.status.node_name}"

        await house.delete(VIRTUAL_MACHINES, "testvm")
        await house.until_gone(VIRTUAL_MACHINES, "testvm")
        assert await house.instance("testvm") is None


async def test_a_guest_that_is_always_on_is_started_again_when_it_powers_off(house: House) -> None:
    async with house.controlled(), house.with_nodes() as nodes:
        await house.create(a_machine(namespace=house.namespace, runStrategy="Always"))
        first = await house.until_phase("testvm", "Running")
        nodes.guests.power_off(house.key("testvm"))
        second = await house.until_instance(
            "testvm",
            lambda vmi: vmi.metadata.uid != first.metadata.uid and vmi.status.phase == "Running",
            "runs again",
        )
        assert second.spec.domain.firmware == first.spec.domain.firmware
        await house.until_word("testvm", "Running")


async def test_a_halted_machine_is_off_until_it_is_started_and_a_start_makes_it_always_on(
    house: House,
) -> None:
    async with house.controlled(), house.with_nodes():
        await house.create(a_machine(namespace=house.namespace, running=False))
        vm = await house.until_word("testvm", "Stopped")
        assert vm.status.created is None
        await house.ask("testvm", "Start")
        vm = await house.until_word("testvm", "Running")
        assert (vm.spec.running, vm.spec.run_strategy) == (True, None)
        assert vm.status.state_change_requests == ()

        await house.edit("testvm", running=False)
        await house.until_word("testvm", "Stopped")
        await house.until_gone(VIRTUAL_MACHINE_INSTANCES, "testvm")


async def test_a_manual_machine_does_what_it_is_asked_to(house: House) -> None:
    async with house.controlled(), house.with_nodes() as nodes:
        await house.create(a_machine(namespace=house.namespace, runStrategy="Manual"))
        await house.until_word("testvm", "Stopped")
        await house.ask("testvm", "Start")
        await house.until_word("testvm", "Running")
        vmi = await house.until_phase("testvm", "Running")
        await house.ask("testvm", "Stop", vmi.metadata.uid)
        vm = await house.until_machine(
            "testvm",
            lambda vm: vm.status.printable_status == "Stopped" and not vm.status.created,
            "is off",
        )
        assert vm.status.state_change_requests == ()

        await house.ask("testvm", "Start")
        await house.until_phase("testvm", "Running")
        nodes.guests.power_off(house.key("testvm"))
        await house.until_word("testvm", "Stopped")
        assert (await house.until_phase("testvm", "Succeeded")).status.phase == "Succeeded"


async def test_a_guest_that_is_run_again_on_failure_is_so_only_then(house: House) -> None:
    async with house.controlled(), house.with_nodes() as nodes:
        await house.create(a_machine(namespace=house.namespace, runStrategy="RerunOnFailure"))
        first = await house.until_phase("testvm", "Running")
        nodes.guests.crash(house.key("testvm"))
        await house.until_instance(
            "testvm",
            lambda vmi: vmi.metadata.uid != first.metadata.uid and vmi.status.phase == "Running",
            "runs again",
        )
        nodes.guests.power_off(house.key("testvm"))
        await house.until_gone(VIRTUAL_MACHINE_INSTANCES, "testvm")
        vm = await house.until_word("testvm", "Stopped")
        assert vm.status.state_change_requests == ()
        assert vm.status.start_failure is None


async def test_a_guest_that_runs_once_stays_off_to_be_looked_at(house: House) -> None:
    async with house.controlled(), house.with_nodes() as nodes:
        await house.create(a_machine(namespace=house.namespace, runStrategy="Once"))
        await house.until_phase("testvm", "Running")
        nodes.guests.crash(house.key("testvm"))
        await house.until_phase("testvm", "Failed")
        await house.until_word("testvm", "Stopped")
        await house.delete(VIRTUAL_MACHINES, "testvm")
        await house.until_gone(VIRTUAL_MACHINES, "testvm")


async def test_a_guest_that_begins_paused_is_told_so_and_is_not_ready(house: House) -> None:
    async with house.controlled(), house.with_nodes() as nodes:
        guest = {"startStrategy": "Paused"}
        await house.create(a_machine(namespace=house.namespace, guest=guest, runStrategy="Always"))
        vm = await house.until_word("testvm", "Paused")
        assert vm.status.ready is None
        nodes.guests.unpause(house.key("testvm"))
        await house.until_machine("testvm", lambda vm: bool(vm.status.ready), "is ready")
