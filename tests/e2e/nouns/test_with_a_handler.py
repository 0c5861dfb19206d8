"""What only a launcher in a pod has: a service account, and a handler that is told, that asks, and that wants changes.

The test is the handler. One guest for all tests; it is asked through its agent.
"""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from tests.component.launcher.world import USER, World, launched

from guestimage import guests, image
from kubevirt.rpc.messages import cmd_pb2 as cmd
from kubevirt.virt.layout import Layout

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: sandboxes are made"),
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.timeout(300),
]

BOOT_S = 90.0
DOMAIN = "default_testvm"
LAYOUT = Layout(service_account="/var/run/kubevirt-private/service-account")

SPEC: dict[str, Any] = {
    "domain": {"memory": {"guest": "64Mi"}, "cpu": {"cores": 2, "model": "host-passthrough"}},
    "devices": {
        "autoattachMemBalloon": True,
        "disks": [
            {"name": "root", "disk": {"bus": "virtio"}},
            {"name": "account", "disk": {"bus": "virtio"}},
            {"name": "data", "disk": {"bus": "virtio"}},
        ],
        "interfaces": [{"name": "default", "masquerade": {}}],
    },
    "networks": [{"name": "default", "pod": {}}],
    "volumes": [
        {"name": "root", "containerDisk": {"image": "it"}},
        {"name": "account", "serviceAccount": {"serviceAccountName": "default"}},
        {"name": "data", "persistentVolumeClaim": {"claimName": "data"}},
    ],
}
MIB = 1 << 20


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(guest_images: image.Images) -> AsyncIterator[World]:
    """A guest whose agent answers, with statistics every second."""
    async with launched(images=[guest_images.qcow2(guests.CIRROS)], layout=LAYOUT) as world:
        token = world.folder / "private/service-account/token"
        token.parent.mkdir()
        token.write_text("a token")
        disk = data_of(world)
        disk.parent.mkdir(parents=True)
        disk.write_bytes(bytes(4 * MIB))
        for each in (token.parent, token, disk.parent, disk):
            os.chown(each, USER, USER)
        await world.plug(default="tap0")
        options = cmd.VirtualMachineOptions(MemBalloonStatsPeriod=1)
        await world.launcher.sync(world.vmi(**SPEC), options)
        await world.handler.hears("Running")
        await world.handler.told(lambda it: it.reports[-1][1].status.os_info.name, BOOT_S)
        yield world


def data_of(world: World) -> Path:
    """The disk of the claim, for us."""
    return world.folder / "private/vmi-disks/data/disk.img"


async def run(world: World, command: str) -> str:
    code, shown = await world.launcher.exec(DOMAIN, "/bin/sh", ["-c", command], 20)
    assert code == 0, shown
    return shown.strip()


async def test_a_service_account_is_a_disc_with_its_token(world: World) -> None:
    assert await run(world, "mount -r /dev/vdb /mnt && cat /mnt/token; umount /mnt") == "a token"


async def test_host_passthrough_becomes_the_most_that_emulation_has_and_says_so(
    world: World,
) -> None:
    assert "QEMU TCG CPU" in await run(world, "grep -m1 'model name' /proc/cpuinfo")
    await world.handler.told(
        lambda it: [each for each in it.events if each["reason"] == "CpuModelEmulated"]
    )
    (event,) = (each for each in world.handler.events if each["reason"] == "CpuModelEmulated")
    assert event["message"] == (
        "CPU model host-passthrough is not available under emulation; using maximum"
    )


async def test_the_guest_sees_its_cable_pulled_out_and_plugged_in_again(world: World) -> None:
    await comes_to(world, "cat /sys/class/net/eth0/carrier", "1")
    (card,) = SPEC["devices"]["interfaces"]
    for state, carrier in (("down", "0"), ("up", "1")):
        devices = {**SPEC["devices"], "interfaces": [{**card, "state": state}]}
        await world.launcher.sync(world.vmi(**{**SPEC, "devices": devices}))
        await comes_to(world, "cat /sys/class/net/eth0/carrier", carrier)


async def test_the_guest_sees_its_disk_grow_with_the_claim(world: World) -> None:
    """Because the instance tells so, and because what is below has grown by itself."""
    size = "echo $(($(cat /sys/block/vdc/size) / 2048))"
    await run(world, "echo -n kept | dd of=/dev/vdc conv=notrunc,fsync 2>/dev/null")
    assert await run(world, size) == "4"
    await world.launcher.sync(with_claim(world, "8Mi"))
    await comes_to(world, size, "8")
    assert data_of(world).stat().st_size == 8 * MIB
    os.truncate(data_of(world), 12 * MIB)
    for claim in ("8Mi", "2Mi"):  # it never shrinks
        await world.launcher.sync(with_claim(world, claim))
        await comes_to(world, size, "12")
    assert await run(world, "head -c 4 /dev/vdc") == "kept"


def with_claim(world: World, storage: str) -> bytes:
    vmi = json.loads(world.vmi(**SPEC))
    info = {"claimName": "data", "capacity": {"storage": storage}}
    state = {"name": "data", "target": "", "persistentVolumeClaimInfo": info}
    return world.encoded({**vmi, "status": {"volumeStatus": [state]}})


async def comes_to(world: World, command: str, wanted: str) -> None:
    """What a command prints in the guest, at last."""
    shown = ""
    try:
        async with asyncio.timeout(60):
            while (shown := await run(world, command)) != wanted:  # noqa: ASYNC110  # a guest has no events for us
                await asyncio.sleep(0.1)
    except TimeoutError:
        raise AssertionError(f"{command!r} still shows {shown!r} and not {wanted!r}") from None


async def test_the_balloon_reports_what_memory_the_guest_has_left(world: World) -> None:
    async with asyncio.timeout(60):
        while not (memory := await memory_of(world)).get("Usable"):  # noqa: ASYNC110  # it is asked, it does not tell
            await asyncio.sleep(0.1)
    total, free = (
        int(line.split()[1]) for line in (await run(world, "head -n 2 /proc/meminfo")).splitlines()
    )
    assert memory["Available"] == total
    assert abs(memory["Unused"] - free) < 8192


async def memory_of(world: World) -> dict[str, int]:
    found: dict[str, int] = json.loads(await world.launcher.stats())["Memory"]
    return found
