"""One guest with a system in it, from Scheduled to its power-off, through everything that a node does."""

import os
import shutil

import pytest
from tests.component.handler.calling import Certificates, caller
from tests.component.handler.world import Node, a_guest, a_node
from tests.component.host.net_world import World, links_in, run_in

from guestimage import guests, image
from kubevirt.virt.conditions import found

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: it makes a container for each test"),
    pytest.mark.skipif(
        not all(map(shutil.which, ("bwrap", "libvirtd", "dnsmasq", "nft"))),
        reason="needs bubblewrap, libvirt-daemon, dnsmasq-base and nftables",
    ),
    pytest.mark.timeout(900),
]


async def test_a_guest_lives_through_everything_that_a_node_does(
    guest_images: image.Images,
) -> None:
    disk = guest_images.qcow2(guests.CIRROS)
    async with (
        a_node() as node,
        node.counted() as writes,
        node.running(a_guest(), images=[disk]) as launcher,
    ):
        async with node.handler_process() as process:
            vmi = await node.phase("Running")
            assert [each.ip_address for each in vmi.status.interfaces] == ["10.244.1.5"]
            qemu = launcher.pid_of("qemu")
            process.kill()  # in the middle of its guest's start
            await process.wait()
        certificates = Certificates(node.folder / "certificates")
        async with (
            node.handler(tls=certificates.server()) as handler,
            caller(certificates.client(), handler.port) as virt_api,
        ):
            async with virt_api.line("console") as console:
                await console.wakes("login: ")
                await console.type("cirros\n")
                await console.says("Password:")
                await console.type("gocubsgo\n")
                await console.says("$ ")
                await launcher.greets()
                assert {"k6t-eth0", "tap0"} <= set(links_in(launcher.network.pod))
                assert (await virt_api.call("PUT", "pause"))[0] == 202
                paused = await node.until(
                    lambda vmi: found(vmi.status.conditions, "Paused") is not None
                )
                assert paused.status.phase == "Running"
                assert (await virt_api.call("PUT", "unpause"))[0] == 202
                await node.until(lambda vmi: found(vmi.status.conditions, "Paused") is None)
                assert launcher.pid_of("qemu") == qemu
                vmi = await node.until(
                    lambda vmi: found(vmi.status.conditions, "AgentConnected") is not None
                )
                assert found(vmi.status.conditions, "AgentVersionNotSupported") is None
                code, text = await virt_api.call("GET", "guestosinfo")
                assert code == 200, text
                code, picture = await virt_api.call("GET", "vnc/screenshot")
                assert (code, picture[1:4]) == (200, b"PNG")
                await console.type("sudo poweroff\n")
                await node.phase("Succeeded")
            assert await launcher.ended() == 0
            await launcher.until(lambda: not list(handler.attendants))
        await _nothing_is_left(node, launcher.network)
        # created, handed over; Running, paused, unpaused, the agent's word, Succeeded
        assert writes[1:2] == ["Scheduled"]
        assert len(writes) <= 7, writes


async def test_a_screenshot_can_move_the_mouse_of_the_guest_first(
    guest_images: image.Images,
) -> None:
    """Whose kernel tells that a hand moved it."""
    disk = guest_images.qcow2(guests.CIRROS)
    vmi = a_guest()
    vmi["spec"]["domain"]["devices"]["inputs"] = [
        {"name": "tablet", "type": "tablet", "bus": "virtio"}
    ]
    async with a_node() as node, node.running(vmi, images=[disk]):
        certificates = Certificates(node.folder / "certificates")
        async with (
            node.handler(tls=certificates.server()) as handler,
            caller(certificates.client(), handler.port) as virt_api,
        ):
            await node.phase("Running")
            async with virt_api.line("console") as console:
                await console.wakes("login: ")
                await console.type("cirros\n")
                await console.says("Password:")
                await console.type("gocubsgo\n")
                await console.says("$ ")
                listen = 'exec 3<$each; (head -c 24 <&3 >/dev/null && echo mo""ved) &'
                script = f'for each in /dev/input/event*; do {listen} done; echo rea""dy'
                await console.type(f"sudo sh -c '{script}'\n")
                await console.says("ready")
                code, picture = await virt_api.call("GET", "vnc/screenshot")
                assert (code, picture[1:4]) == (200, b"PNG")
                assert "moved" not in console.text
                code, picture = await virt_api.call("GET", "vnc/screenshot?moveCursor=true")
                assert (code, picture[1:4]) == (200, b"PNG")
                await console.says("moved")


async def test_a_deleted_guest_shuts_down_in_peace_and_costs_three_writes_at_most(
    guest_images: image.Images,
) -> None:
    disk = guest_images.qcow2(guests.CIRROS)
    vmi = a_guest(terminationGracePeriodSeconds=300)
    async with (
        a_node() as node,
        node.handler() as handler,
        node.running(vmi, images=[disk]) as launcher,
    ):
        await node.phase("Running")
        await launcher.greets()
        await node.delete()
        ended = await node.phase("Succeeded")
        assert ended.status.phase_transition_timestamps[-1].phase == "Succeeded"
        assert await launcher.ended() == 0
        await launcher.until(lambda: not list(handler.attendants))
        await node.told("ShuttingDown", "Stopped")
        assert "Deleted" not in await node.reasons()
        assert node.writes() <= 3
        await node.finish()
        await _nothing_is_left(node, launcher.network)


async def _nothing_is_left(node: Node, network: World) -> None:
    assert set(links_in(network.pod)) == {"lo", "eth0"}
    rules = await run_in(network.pod, "nft", "list", "ruleset")
    assert not rules.text.strip()
    assert not list((node.folder / "records").glob("*.json"))
