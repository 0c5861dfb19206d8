"""The life of guests under a virt-handler: real launchers, real QEMU, a real API server.

These guests have no system: their firmware looks for one as long as they live.
"""

import asyncio
import os
import shutil
import signal
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest
from tests.component.handler.world import Node, a_node, a_vmi
from tests.component.host.net_world import in_kernel, links_in

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.scheme import VIRTUAL_MACHINE_INSTANCES
from kubevirt.components.handler.launchers import attendant
from kubevirt.kube.events import reference

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: it makes a container for each test"),
    pytest.mark.skipif(not shutil.which("bwrap"), reason="no bwrap: install bubblewrap"),
    pytest.mark.skipif(not shutil.which("libvirtd"), reason="no libvirtd: install libvirt-daemon"),
    pytest.mark.timeout(600),
]


@pytest.fixture
async def node() -> AsyncIterator[Node]:
    async with a_node() as made:
        yield made


def conditions(vmi: VirtualMachineInstance) -> dict[str, tuple[str, str | None]]:
    return {each.type: (each.status, each.reason) for each in vmi.status.conditions}


async def test_a_scheduled_instance_is_started_and_told_of_in_one_write(node: Node) -> None:
    async with node.handler(), node.running(a_vmi()) as launcher:
        vmi = await node.phase("Running")
        assert launcher.pid_of("qemu")
        assert vmi.status.machine is not None
        assert conditions(vmi)["SoftwareEmulation"] == ("True", "NoHardwareAcceleration")
        assert node.writes() == 1


async def test_what_a_handler_tells_last_is_written_before_it_ends(node: Node) -> None:
    """How guests ended that went down with it was lost."""
    about = reference(VIRTUAL_MACHINE_INSTANCES, msgspec.convert(a_vmi(), VirtualMachineInstance))
    async with node.handler() as handler:
        handler.recorder.normal(about, "Stopped", "last words")
    assert "Stopped" in await node.reasons()


async def test_what_a_handler_has_begun_to_tell_it_tells_before_it_ends(
    node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`make down` in the very moment: the phase was written, the event that says how the guest ended was not,
    and whoever came next found nothing new to tell of.
    """
    is_written = asyncio.Event()
    async with node.running(a_vmi()) as launcher:
        async with node.handler():
            await node.phase("Running")
            patch = node.handler_client.patch

            async def slow(*words: Any) -> object:
                answer = await patch(*words)
                is_written.set()
                await asyncio.sleep(0.2)
                return answer

            monkeypatch.setattr(node.handler_client, "patch", slow)
            launcher.kill("qemu")
            await is_written.wait()
        assert (await node.vmi()).status.phase == "Failed"
        assert "Stopped" in await node.reasons()


async def test_a_guest_that_crashes_has_failed_and_nothing_is_kept_of_it(node: Node) -> None:
    async with node.handler() as handler, node.running(a_vmi()) as launcher:
        await node.phase("Running")
        launcher.kill("qemu")
        await node.phase("Failed")
        await launcher.until(lambda: not list(handler.attendants))
        assert not list((node.folder / "records").glob("*.json"))
        assert node.writes() == 2
        await node.told("Created", "Started", "Stopped")


async def test_a_deleted_guest_is_asked_again_and_again_and_ended_after_its_grace(
    node: Node,
) -> None:
    async with node.handler(), node.running(a_vmi(terminationGracePeriodSeconds=2)) as launcher:
        await node.phase("Running")
        await node.delete()
        vmi = await node.phase("Succeeded")  # without ACPI it could not have heard
        assert vmi.metadata.deletion_timestamp is not None
        assert await launcher.ended() == 0
        await node.told("ShuttingDown", "Deleted", "Stopped")
        assert node.writes() == 2


async def test_a_guest_outlives_its_handler_and_is_found_by_the_next(node: Node) -> None:
    async with node.running(a_vmi()) as launcher:
        async with node.handler():
            await node.phase("Running")
            before = (await node.vmi()).metadata.resource_version
        qemu = launcher.pid_of("qemu")
        async with node.handler() as handler:
            [found] = list(handler.attendants)
            await launcher.until(lambda: found.door and found.report)
            assert launcher.pid_of("qemu") == qemu
            assert (await node.vmi()).metadata.resource_version == before
            assert node.writes() == 0


async def test_a_handler_that_is_killed_leaves_its_guest_to_the_next(node: Node) -> None:
    async with node.counted() as writes, node.running(a_vmi()) as launcher:
        async with node.handler_process() as process:
            await node.phase("Running")
            qemu = launcher.pid_of("qemu")
            process.kill()
            await process.wait()
        async with node.handler_process():
            await node.delete()
            await node.phase("Succeeded")
            assert await launcher.ended() == 0
        assert qemu is not None
        # created, handed over; Running; deleted; Succeeded
        assert writes == ["", "Scheduled", "Running", "Running", "Succeeded"]


async def test_a_guest_that_ends_while_its_handler_is_away_is_told_of_by_the_next(
    node: Node,
) -> None:
    async with node.running(a_vmi()) as launcher:
        async with node.handler():
            await node.phase("Running")
        launcher.kill("qemu")
        async with node.handler():
            await node.phase("Failed")


async def test_a_manager_that_is_killed_is_found_again(node: Node) -> None:
    async with node.handler() as handler, node.running(a_vmi()) as launcher:
        await node.phase("Running")
        [found] = list(handler.attendants)
        killed = launcher.kill("manager")
        await launcher.is_back("manager", killed)
        await launcher.until(lambda: found.door and found.door.peer.pid != killed)
        await node.delete()
        await node.phase("Succeeded")


async def test_a_launcher_that_vanished_takes_its_instance_with_it(
    node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attendant, "LOST_S", 3.0)
    async with node.handler(), node.running(a_vmi()) as launcher:
        await node.phase("Running")
        os.kill(launcher.pid, 9)
        vmi = await node.phase("Failed")
        assert conditions(vmi)["Synchronized"] == ("False", "LauncherUnresponsive")


async def test_a_guest_that_was_given_up_is_ended_when_its_launcher_answers_again(
    node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attendant, "LOST_S", 3.0)
    monkeypatch.setattr(attendant, "PING_S", 0.5)
    async with node.handler() as handler, node.running(a_vmi()) as launcher:
        await node.phase("Running")
        manager = launcher.kill("manager", signal.SIGSTOP)
        vmi = await node.phase("Failed")
        assert conditions(vmi)["Synchronized"] == ("False", "LauncherUnresponsive")
        assert launcher.pid_of("qemu"), "nobody could end it"
        os.kill(manager, signal.SIGCONT)
        assert await launcher.ended(200) == 0
        await launcher.until(lambda: not list(handler.attendants))


async def test_the_guest_of_an_instance_that_is_gone_is_ended(node: Node) -> None:
    async with node.handler() as handler, node.running(a_vmi()) as launcher:
        await node.phase("Running")
        await node.finish()
        await node.delete()
        assert await launcher.ended() == 0
        await launcher.until(lambda: not list(handler.attendants))


async def test_what_a_launcher_refuses_is_told_and_tried_again(node: Node) -> None:
    disk = {"name": "data", "containerDisk": {"image": "nowhere"}}
    vmi = a_vmi(volumes=[disk])
    vmi["spec"]["domain"]["devices"]["disks"] = [{"name": "data", "disk": {"bus": "virtio"}}]
    async with node.handler(), node.running(vmi) as launcher:
        told = await node.until(lambda vmi: "Synchronized" in conditions(vmi))
        assert conditions(told)["Synchronized"] == ("False", "SyncFailed")
        place = launcher.volume("container-disks") / "disk_0.img"
        place.write_bytes(bytes(1 << 20))
        told = await node.phase("Running")
        assert "Synchronized" not in conditions(told)
        await node.told("SyncFailed")


async def test_an_instance_deleted_before_its_guest_was_started_never_gets_one(node: Node) -> None:
    made = await node.create(a_vmi())
    pod = f"pod-{made['metadata']['uid']}"
    async with node.launcher(made, pod=pod) as launcher:
        await launcher.until((launcher.volume("sockets") / "launcher-sock").exists)
        await node.hand_over(made, pod)
        await node.delete()
        async with node.handler():
            await node.phase("Failed")
            assert launcher.pid_of("qemu") is None


async def test_two_guests_are_looked_after_at_once(node: Node) -> None:
    async with (
        node.handler(),
        node.running(a_vmi("one")),
        node.running(a_vmi("two")),
    ):
        await asyncio.gather(node.phase("Running", "one"), node.phase("Running", "two"))
        assert node.writes() == 2


async def test_a_bridged_network_is_found_again_and_put_back_at_the_end(node: Node) -> None:
    vmi = a_vmi(networks=[{"name": "default", "pod": {}}], terminationGracePeriodSeconds=0)
    vmi["spec"]["domain"]["devices"]["interfaces"] = [{"name": "default", "bridge": {}}]
    async with node.running(vmi) as launcher:
        pod = launcher.network.pod
        before = links_in(pod)["eth0"]
        async with node.handler():
            told = (await node.phase("Running")).status
            assert "eth0-nic" in links_in(pod)
        async with node.handler() as handler:
            [found] = list(handler.attendants)
            await launcher.until(lambda: found.network and found.network._server)
            assert (await node.vmi()).status == told
            await node.delete()
            await node.phase("Succeeded")
            await launcher.until(lambda: not list(handler.attendants))
        assert set(links_in(pod)) == {"lo", "eth0"}
        assert links_in(pod)["eth0"].mac == before.mac
        addresses = in_kernel(pod, lambda kernel: kernel.addresses(kernel.need("eth0")))
        assert [str(each) for each in addresses] == ["10.244.1.5/24"]


async def test_a_launcher_in_the_nodes_own_network_gets_none_from_us(node: Node) -> None:
    vmi = a_vmi(networks=[{"name": "default", "pod": {}}])
    vmi["spec"]["domain"]["devices"]["interfaces"] = [{"name": "default", "masquerade": {}}]
    made = await node.create(vmi)
    pod = f"pod-{made['metadata']['uid']}"
    async with node.handler(), node.launcher(made, pod=pod, in_nodes_network=True):
        await node.hand_over(made, pod)
        told = await node.until(lambda vmi: "Synchronized" in conditions(vmi))
        [message] = [each.message for each in told.status.conditions if each.type == "Synchronized"]
        assert "own network namespace" in (message or "")


async def test_a_command_socket_that_is_a_link_is_nobodys_door(node: Node) -> None:
    made = await node.create(a_vmi())
    pod = f"pod-{made['metadata']['uid']}"
    async with node.launcher(made, pod=pod) as launcher:
        door = launcher.volume("sockets") / "launcher-sock"
        await launcher.until(door.exists)
        door.rename(door.with_name("elsewhere"))
        door.symlink_to("elsewhere")
        async with node.handler() as handler:
            await node.hand_over(made, pod)
            await launcher.until(lambda: list(handler.attendants))
            [found] = list(handler.attendants)
            await asyncio.sleep(2)  # nothing can be waited for: nothing is to happen
            assert found.door is None
            assert (await node.vmi()).status.phase == "Scheduled"
