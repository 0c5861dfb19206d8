"""What the launcher does with a guest, each on a real one."""

import asyncio
import os
import struct
import zlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.component.host.libvirt_world import (
    LIMIT_S,
    World,
    a_guest,
    needs_libvirt,
    next_event,
    running,
    world,
)

from kubevirt.host.libvirt.domain import Button, DeviceElement, LiveDomain, create
from kubevirt.host.libvirt.errors import (
    DomainExistsError,
    DomainRefusedError,
    NoSuchDomainError,
    WrongStateError,
)
from kubevirt.host.libvirt.events import (
    Change,
    DeviceAdded,
    DeviceRemoved,
    LifeChanged,
    Rebooted,
)
from kubevirt.host.libvirt.hypervisor import Hypervisor
from kubevirt.host.libvirt.node import offers, versions
from kubevirt.host.libvirt.states import DomainState, State
from kubevirt.virt.domain.alias import Alias
from kubevirt.virt.domain.disk import Disk, DiskDriver, DiskSource, DiskTarget
from kubevirt.virt.domain.metadata import GracePeriod, Kubevirt

pytestmark = needs_libvirt

SCREEN = """<video><model type='vga'/></video>
    <graphics type='vnc'><listen type='none'/></graphics>"""


@pytest.fixture
async def it() -> AsyncIterator[World]:
    async with world() as made:
        await made.start_daemon()
        yield made


@pytest.fixture
async def virt(it: World) -> AsyncIterator[Hypervisor]:
    async with it.hypervisor() as made:
        yield made


async def test_a_guest_is_started_paused_resumed_reset_and_destroyed(virt: Hypervisor) -> None:
    guest = await create(virt, a_guest(), paused=True)
    assert await guest.state() == DomainState(State.PAUSED, "User")
    await guest.resume()
    assert await guest.state() == DomainState(State.RUNNING, "Unpaused")
    await guest.reset()
    await next_event(virt.events, Rebooted)
    await guest.suspend()
    assert await guest.state() == DomainState(State.PAUSED, "User")
    await guest.destroy()
    assert not await guest.exists()
    assert await running(virt) == ()
    await guest.destroy()
    with pytest.raises(NoSuchDomainError):
        await guest.state()


async def test_a_guest_that_runs_already_is_resumed_enough(virt: Hypervisor) -> None:
    """A start was given up because libvirt's successor had called the guest paused a moment before."""
    guest = await create(virt, a_guest(), paused=True)
    await guest.resume()
    await guest.resume()
    assert await guest.state() == DomainState(State.RUNNING, "Unpaused")
    await guest.destroy()
    with pytest.raises(NoSuchDomainError):
        await guest.resume()


async def test_a_second_guest_of_the_same_name_is_refused(virt: Hypervisor) -> None:
    await create(virt, a_guest())
    with pytest.raises(DomainExistsError, match="already active"):
        await create(virt, a_guest())
    with pytest.raises(DomainExistsError, match="already exists"):
        await create(virt, a_guest(uuid="00000000-4f6b-4d3a-9a62-0f6c3e1b2d4f"))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("<domain", id="no XML"),
        pytest.param("<domain type='qemu'><name>x</name></domain>", id="nothing to run"),
        pytest.param(a_guest(devices="<disk type='magic'/>"), id="an unknown disk"),
    ],
)
async def test_a_domain_that_libvirt_refuses_is_refused_in_one_sentence(
    virt: Hypervisor, text: str
) -> None:
    with pytest.raises(DomainRefusedError, match="cannot start the guest: ") as caught:
        await create(virt, text)
    assert "\n" not in str(caught.value)
    assert await running(virt) == ()


async def test_a_disk_that_is_missing_is_named(virt: Hypervisor, it: World) -> None:
    disk = f"""<disk type='file'><driver name='qemu' type='raw'/>
        <source file='{it.home}/missing.img'/><target dev='vda' bus='virtio'/></disk>"""
    with pytest.raises(Exception, match=r"cannot start the guest: .*missing\.img"):
        await create(virt, a_guest(devices=disk))
    assert await running(virt) == ()


async def test_the_power_button_is_pressed_and_qemu_ends_with_the_guest(
    virt: Hypervisor, it: World
) -> None:
    """The BIOS has no ears for the button; that it was pressed is what libvirt knows."""
    guest = await create(virt, a_guest())
    await guest.shutdown(Button.ACPI)
    assert (await guest.state()).state in (State.RUNNING, State.SHUTTING_DOWN)
    await it.run(f"kill {it.qemu_pid()}")
    async with asyncio.timeout(LIMIT_S):
        async for event in virt.events:
            if isinstance(event, LifeChanged) and event.change == Change.STOPPED:
                break
    assert not await guest.exists()


async def test_the_agents_button_without_an_agent_is_an_error(virt: Hypervisor) -> None:
    guest = await create(virt, a_guest())
    with pytest.raises(Exception, match=r"cannot shut the guest down: .*agent"):
        await guest.shutdown(Button.AGENT)


async def test_notes_in_a_guest_outlive_the_daemon(virt: Hypervisor, it: World) -> None:
    guest = await create(virt, a_guest())
    assert await guest.metadata() is None
    grace = GracePeriod(deletion_grace_period_seconds=30, marked_for_graceful_shutdown="true")
    for notes in (Kubevirt(uid="1-2-3"), Kubevirt(uid="1-2-3", graceperiod=grace)):
        await guest.set_metadata(notes)
        assert await guest.metadata() == notes
    await it.kill_daemon()
    await it.start_daemon()
    assert await guest.metadata() == Kubevirt(uid="1-2-3", graceperiod=grace)
    assert (await guest.read()).name == guest.name


async def test_statistics_tell_of_cpu_memory_and_disks(virt: Hypervisor, it: World) -> None:
    (it.home / "disk").write_bytes(bytes(1 << 20))
    disk = f"""<disk type='file'><driver name='qemu' type='raw'/>
        <source file='{it.home}/disk'/><target dev='vda' bus='virtio'/></disk>"""
    guest = await create(virt, a_guest(devices=disk))
    stats = await guest.stats()
    assert stats.state == DomainState(State.RUNNING, "Booted")
    assert stats.cpu.time_ns
    assert (stats.vcpus_current, stats.vcpus_maximum, len(stats.vcpus)) == (1, 1, 1)
    assert stats.balloon.current_kib == 64 * 1024
    assert [(each.name, each.capacity) for each in stats.blocks] == [("vda", 1 << 20)]
    assert (await guest.block_info("vda")).capacity == 1 << 20


async def test_a_disk_grows_while_its_guest_runs(virt: Hypervisor, it: World) -> None:
    """By order, and after its file has grown by itself, as a block device does."""
    path = it.home / "disk"
    path.write_bytes(bytes(1 << 20))
    disk = f"""<disk type='file'><driver name='qemu' type='raw'/>
        <source file='{path}'/><target dev='vda' bus='virtio'/></disk>"""
    guest = await create(virt, a_guest(devices=disk))
    await guest.resize_disk("vda", 2 << 20)
    assert (await guest.block_info("vda")).capacity == path.stat().st_size == 2 << 20
    os.truncate(path, 3 << 20)
    found = await guest.block_info("vda")
    assert (found.capacity, found.physical) == (2 << 20, 3 << 20)
    await guest.resize_disk("vda", found.physical)
    assert (await guest.block_info("vda")).capacity == 3 << 20


async def test_a_usb_disk_is_attached_and_detached_by_its_alias(
    virt: Hypervisor, it: World
) -> None:
    (it.home / "disk").write_bytes(bytes(1 << 20))
    guest = await create(virt, a_guest(usb="qemu-xhci"))
    disk = Disk(
        type="file",
        device="disk",
        driver=DiskDriver(name="qemu", type="raw"),
        source=DiskSource(file=str(it.home / "disk")),
        target=DiskTarget(dev="sda", bus="usb"),
        alias=Alias(name="ua-extra"),
    )
    await guest.attach(DeviceElement.DISK, disk)
    assert await next_event(virt.events, DeviceAdded) == DeviceAdded(
        domain=guest.name, alias="ua-extra"
    )
    assert [each.target.dev for each in (await guest.read()).devices.disks] == ["sda"]
    with pytest.raises(Exception, match="cannot attach a disk"):
        await guest.attach(DeviceElement.DISK, disk)
    await guest.detach("ua-extra")
    await next_event(virt.events, DeviceRemoved)
    with pytest.raises(Exception, match="cannot detach the device ua-extra"):
        await guest.detach("ua-extra")


async def test_the_screen_comes_as_a_png(virt: Hypervisor) -> None:
    guest = await create(virt, a_guest(devices=SCREEN))
    width, height, pixels = _read_png(await guest.screenshot())
    assert width >= 320
    assert height >= 200
    assert len(pixels) == (width * 3 + 1) * height


async def test_a_guest_without_a_screen_says_so(virt: Hypervisor) -> None:
    guest = await create(virt, a_guest())
    with pytest.raises(WrongStateError, match="no screens to take screenshot from"):
        await guest.screenshot()


async def test_memory_is_dumped_as_a_core_file_and_the_guest_goes_on(
    virt: Hypervisor, it: World
) -> None:
    guest = await create(virt, a_guest())
    target = it.home / "memory"
    await guest.dump_memory(target)
    assert _head_of(target) == b"\x7fELF"
    assert target.stat().st_size > 64 << 20
    assert (await guest.state()).state == State.RUNNING


async def test_a_dump_to_where_nothing_can_be_written_is_an_error(virt: Hypervisor) -> None:
    guest = await create(virt, a_guest())
    with pytest.raises(Exception, match="cannot dump the guest's memory to memory"):
        await guest.dump_memory(Path("/usr/memory"))
    assert (await guest.state()).state == State.RUNNING


async def test_the_node_tells_what_it_offers(virt: Hypervisor) -> None:
    found = await offers(virt, architecture="x86_64", kvm=False)
    assert {"q35", "pc"} <= set(found.machine_types)
    assert "qemu64" in found.cpu_models
    assert found.host_model
    known = await versions(virt)
    assert known.qemu.count(".") == known.libvirt.count(".") == 2


async def test_a_guest_that_nobody_knows_does_not_exist(virt: Hypervisor) -> None:
    assert not await LiveDomain(virt, "default_nobody").exists()


def _read_png(data: bytes) -> tuple[int, int, bytes]:
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    chunks: dict[bytes, bytes] = {}
    place = 8
    while place < len(data):
        (length,) = struct.unpack_from(">I", data, place)
        kind, body = data[place + 4 : place + 8], data[place + 8 : place + 8 + length]
        (checksum,) = struct.unpack_from(">I", data, place + 8 + length)
        assert checksum == zlib.crc32(kind + body)
        chunks[kind] = body
        place += 12 + length
    width, height = struct.unpack_from(">II", chunks[b"IHDR"])
    return width, height, zlib.decompress(chunks[b"IDAT"])


def _head_of(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(4)
