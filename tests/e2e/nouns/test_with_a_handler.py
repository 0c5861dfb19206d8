"""What only a launcher in a pod has: a service account, and a handler that is told and that asks.

The test is the handler. One guest for all tests; it is asked through its agent.
"""

import asyncio
import json
import os
from collections.abc import AsyncIterator
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
        ],
    },
    "volumes": [
        {"name": "root", "containerDisk": {"image": "it"}},
        {"name": "account", "serviceAccount": {"serviceAccountName": "default"}},
    ],
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(guest_images: image.Images) -> AsyncIterator[World]:
    """A guest whose agent answers, with statistics every second."""
    async with launched(images=[guest_images.qcow2(guests.CIRROS)], layout=LAYOUT) as world:
        token = world.folder / "private/service-account/token"
        token.parent.mkdir()
        token.write_text("a token")
        for each in (token.parent, token):
            os.chown(each, USER, USER)
        options = cmd.VirtualMachineOptions(MemBalloonStatsPeriod=1)
        await world.launcher.sync(world.vmi(**SPEC), options)
        await world.handler.hears("Running")
        await world.handler.told(lambda it: it.reports[-1][1].status.os_info.name, BOOT_S)
        yield world


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
