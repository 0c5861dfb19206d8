"""A real guest with an agent: it is asked, told to hold still, rebooted and shut down."""

import asyncio
import json
import os
import random
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from tests.component.launcher.world import World, launched

from guestimage import guests, image
from kubevirt.rpc import stats
from kubevirt.rpc.errors import NoAnswer, Refused

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: it makes a container for each test"),
    pytest.mark.skipif(not shutil.which("bwrap"), reason="no bwrap: install bubblewrap"),
    pytest.mark.skipif(not shutil.which("libvirtd"), reason="no libvirtd: install libvirt-daemon"),
    pytest.mark.timeout(180),
]

BOOT_S = 90.0
"""A guest boots in three seconds, on a machine that does nothing else."""
DOMAIN = "default_testvm"
FROM_DISK: dict[str, Any] = {
    "domain": {"memory": {"guest": "64Mi"}},
    "devices": {"disks": [{"name": "root", "disk": {"bus": "virtio"}}]},
    "volumes": [{"name": "root", "containerDisk": {"image": "it"}}],
}


@asynccontextmanager
async def booted(images: image.Images, **changes: Any) -> AsyncIterator[World]:
    """A guest whose agent has told what system it runs."""
    async with launched(images=[images.qcow2(guests.CIRROS)]) as world:
        await world.runs(**FROM_DISK, **changes)
        await world.handler.told(lambda it: it.reports[-1][1].status.os_info.name, BOOT_S)
        yield world


async def test_the_agent_tells_of_the_guest_and_carries_out_orders(
    guest_images: image.Images,
) -> None:
    async with booted(guest_images) as world:
        report = world.handler.reports[-1][1]
        assert report.spec.has_agent
        assert report.status.os_info.kernel_release
        info = json.loads(await world.launcher.guest_info())
        assert info["guestAgentVersion"]
        assert {each["name"] for each in info["supportedCommands"]} >= {"guest-exec"}
        assert info["os"]["name"] == report.status.os_info.name
        await world.launcher.guest_ping(DOMAIN, 10)
        code, output = await world.launcher.exec(DOMAIN, "/bin/sh", ["-c", "echo hi; exit 3"], 20)
        assert (code, output) == (3, "hi\n")
        with pytest.raises(Refused, match="has not ended in the guest after 1 s"):
            await world.launcher.exec(DOMAIN, "/bin/sleep", ["30"], 1)
        for ask in (
            world.launcher.exec("default_other", "/bin/true", [], 5),
            world.launcher.guest_ping("default_other", 5),
        ):
            with pytest.raises(Refused, match="has the guest default_testvm, not 'default_other'"):
                await ask
        await many_questions_are_answered_at_once(world)


async def many_questions_are_answered_at_once(world: World) -> None:
    system = world.handler.reports[-1][1].status.os_info
    told = await world.launcher.vm_stats("domainStats", "guestGetOsInfo", "guestGetLoad")
    assert stats.decoded(told.domainStats.domainStats).name == DOMAIN
    assert told.guestAgentVersion.message
    assert json.loads(told.guestGetOsInfo.message)["kernel-release"] == system.kernel_release
    assert (told.guestGetLoad.success, told.HasField("dirtyRateStats")) == (False, False)


async def test_what_is_mounted_and_who_is_logged_in_is_known(guest_images: image.Images) -> None:
    async with booted(guest_images) as world:
        filesystems = await items(world.launcher.filesystems, until=bool)
        (root,) = (each for each in filesystems if each["mountPoint"] == "/")
        assert root["fileSystemType"] == "ext4"
        assert 0 < root["usedBytes"] < root["totalBytes"]
        assert await items(world.launcher.users) == []
        async with logged_in(world):
            (user,) = await items(world.launcher.users, until=bool)
        assert user["userName"] == "cirros"


async def items(
    call: Callable[[], Awaitable[str]], until: Callable[[list[Any]], object] = lambda _: True
) -> list[dict[str, Any]]:
    """Of a list that grows when the agent is asked next: users every ten seconds."""
    async with asyncio.timeout(BOOT_S):
        while not until(found := json.loads(await call())["items"]):  # noqa: ASYNC110  # the agent has no events
            await asyncio.sleep(0.2)
    return list(found)


@asynccontextmanager
async def logged_in(world: World) -> AsyncIterator[None]:
    """On the serial console."""
    line = world.folder / "private" / world.uid / "virt-serial0"
    reader, writer = await asyncio.open_unix_connection(str(line))
    async with asyncio.timeout(BOOT_S):
        for answer, question in (
            (b"", b"login: "),
            (b"cirros", b"Password: "),
            (b"gocubsgo", b"$ "),
        ):
            writer.write(answer + b"\n")
            await reader.readuntil(question)
    try:
        yield
    finally:
        writer.close()
        await writer.wait_closed()


async def test_a_frozen_guest_thaws_by_itself_also_under_another_manager(
    guest_images: image.Images,
) -> None:
    async with booted(guest_images) as world:
        await world.launcher.freeze(world.vmi(), 3)
        await world.handler.told(lambda it: frozen(it.reports[-1][1]) == "frozen")
        world.kill("manager")
        await world.handler.told(
            lambda it: frozen(it.reports[-1][1]) == "" and it.reports[-1][1].spec.has_agent
        )
        await world.until(lambda: not world.note("thaw-at"))
        await world.launcher.freeze(world.vmi(), 300)
        await world.launcher.unfreeze(world.vmi())
        await world.handler.told(lambda it: frozen(it.reports[-1][1]) == "")


def frozen(report: Any) -> str:
    return str(report.status.fs_freeze_status.status)


async def test_a_guest_without_agent_reboots_by_its_power_button(
    guest_images: image.Images,
) -> None:
    async with launched(images=[guest_images.qcow2(guests.CIRROS_WITHOUT_AGENT)]) as world:
        await world.runs(**FROM_DISK)
        await world.until(lambda: world.serial_log.count("login:") == 1, BOOT_S)
        qemu = world.pid_of("qemu")
        with pytest.raises(Refused, match="no agent to freeze"):
            await world.launcher.freeze(world.vmi(), 0)
        await world.launcher.soft_reboot(world.vmi())
        await world.until(lambda: world.serial_log.count("login:") == 2, BOOT_S)
        await world.handler.told(lambda it: it.reports[-1][1].status.resets)
        assert world.pid_of("qemu") == qemu


async def test_a_soft_reboot_is_the_guests_own(guest_images: image.Images) -> None:
    async with booted(guest_images) as world:
        qemu = world.pid_of("qemu")
        before = await boot_id(world)
        await world.launcher.soft_reboot(world.vmi())
        await comes_up(world, before)
        assert world.pid_of("qemu") == qemu
        await world.handler.told(lambda it: it.reports[-1][1].status.resets)
        # As soon as the reboot is told, nothing is told any more of the agent before it.
        rebooted = [each for _, each in world.handler.reports if each.status.resets]
        assert not rebooted[0].spec.has_agent


async def comes_up(world: World, before: str) -> None:
    """Until another system runs in the guest than before."""
    async with asyncio.timeout(BOOT_S):
        while await boot_id(world) in ("", before):
            assert world.process.is_running, world.note("ending")
            await asyncio.sleep(0.2)


async def told_boot_id(world: World) -> str:
    """As soon as there is an agent to tell it."""
    async with asyncio.timeout(BOOT_S):
        while True:
            if found := await boot_id(world):
                return found
            await asyncio.sleep(0.1)


async def boot_id(world: World) -> str:
    try:
        path = "/proc/sys/kernel/random/boot_id"
        _, text = await world.launcher.exec(DOMAIN, "/bin/cat", [path], 5)
    except (NoAnswer, Refused):  # it is between two systems, or the launcher between two managers
        return ""
    return text


async def test_a_guest_that_is_asked_to_shuts_down(guest_images: image.Images) -> None:
    async with booted(guest_images) as world:
        await world.launcher.shut_down(world.vmi())
        assert await world.ended(BOOT_S) == 0
        assert world.note("ending") == "the guest has shut down"
        kind, report = world.handler.reports[-1]
        assert (kind, report.status.status, report.status.reason) == (
            *("DELETED", "Shutoff", "Shutdown"),
        )


async def test_a_launcher_that_is_told_to_end_lets_its_guest_shut_down(
    guest_images: image.Images,
) -> None:
    async with booted(guest_images, terminationGracePeriodSeconds=60) as world:
        world.terminate()  # and no handler reacts
        assert await world.ended(BOOT_S) == 0
        assert world.note("ending") == "the guest has shut down"


async def test_a_full_disk_pauses_the_guest_and_says_which(guest_images: image.Images) -> None:
    root = guest_images.qcow2(guests.CIRROS)
    async with launched(images=[root], scratch_bytes=24 << 20) as world:
        disks = [{"name": name, "disk": {"bus": "virtio"}} for name in ("root", "scratch")]
        scratch = {"name": "scratch", "emptyDisk": {"capacity": "256Mi"}}
        await world.runs(
            domain=FROM_DISK["domain"],
            devices={"disks": disks},
            volumes=[*FROM_DISK["volumes"], scratch],
        )
        await world.handler.told(lambda it: it.reports[-1][1].status.os_info.name, BOOT_S)
        fill = "dd if=/dev/urandom of=/dev/vdb bs=1M count=64 oflag=direct >/dev/null 2>&1 &"
        await world.launcher.exec(DOMAIN, "/bin/sh", ["-c", fill], 20)
        await world.handler.hears("Paused", "IOError")
        await world.handler.told(lambda it: it.events)
        event = world.handler.events[-1]
        assert event["reason"] == "IOerror"
        assert event["message"] == "VM Paused due to not enough space on volume: scratch"


KILLS = int(os.environ.get("KUBEVIRT_KILLS", "5"))
"""Of each process; a soak test sets more."""


@pytest.mark.timeout(120 + 20 * KILLS)
async def test_a_guest_does_not_notice_the_deaths_around_it(guest_images: image.Images) -> None:
    async with booted(guest_images) as world:
        qemu, before = world.pid_of("qemu"), await boot_id(world)
        await world.launcher.exec(DOMAIN, "/bin/sh", ["-c", "echo kept >/root/note; sync"], 20)
        for number in range(2 * KILLS):
            who = ("manager", "libvirtd")[number % 2]
            killed = world.kill(who)
            await asyncio.sleep(random.uniform(0.0, 0.5))  # at any moment of its next life
            await world.is_back(who, killed)
        await world.answers()
        assert await told_boot_id(world) == before
        assert world.pid_of("qemu") == qemu
        _, text = await world.launcher.exec(DOMAIN, "/bin/cat", ["/root/note"], 20)
        assert text == "kept\n"
