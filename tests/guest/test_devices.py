"""Devices that a virtual machine may have, each seen and used from inside the guest."""

import shutil
from pathlib import Path

import pytest
from tests.guest.machine import Machine, disk

from guestimage import guests, image

pytestmark = pytest.mark.timeout(400)


def blank(path: Path, size_bytes: int = 8 << 20) -> Path:
    with path.open("wb") as file:
        file.truncate(size_bytes)
    return path


async def test_the_devices_of_a_virtual_machine_have_drivers(
    images: image.Images, folder: Path
) -> None:
    more = [
        *("-device", "virtio-balloon-pci", "-object", "rng-random,id=rng,filename=/dev/urandom"),
        *("-device", "virtio-rng-pci,rng=rng", "-device", "i6300esb", "-device", "pvpanic-pci"),
        *("-device", "qemu-xhci", "-device", "usb-tablet", "-device", "virtio-tablet-pci"),
        *("-device", "usb-ehci,id=ehci", "-device", "piix3-usb-uhci"),
        *("-device", "intel-hda", "-device", "hda-duplex"),
        *(
            "-smbios",
            "type=1,manufacturer=Harbour,serial=4711,uuid=11111111-2222-3333-4444-555555555555",
        ),
        *("-smbios", "type=3,asset=lamp-7"),
    ]
    root = disk(images.raw(guests.CIRROS))
    async with Machine.start(folder, *root, more=more, memory="128M") as machine:
        await machine.login()
        run = machine.run
        drivers = await run("lspci -k")
        for driver in ("virtio-pci", "i6300ESB timer", "pvpanic-pci", "xhci_hcd", "ehci-pci"):
            assert driver in drivers, driver
        assert "Class 0403: 8086:2668" in drivers
        assert await run("cat /sys/class/misc/hw_random/rng_current") == "virtio_rng.0"
        assert len(await run("sudo head -c 8 /dev/hwrng | hexdump -v -e '/1 \"%02x\"'")) == 16
        assert await run("ls /dev/watchdog") == "/dev/watchdog"
        inputs = await run("cat /proc/bus/input/devices")
        assert "QEMU USB Tablet" in inputs
        assert "QEMU Virtio Tablet" in inputs
        identity = "/sys/class/dmi/id"
        assert await run(f"cat {identity}/sys_vendor {identity}/chassis_asset_tag") == (
            "Harbour\nlamp-7"
        )
        assert await run(f"sudo cat {identity}/product_serial {identity}/product_uuid") == (
            "4711\n11111111-2222-3333-4444-555555555555"
        )
        clocks = await run("cat /sys/devices/system/clocksource/clocksource0/available_clocksource")
        assert {"hpet", "acpi_pm"} <= set(clocks.split())
        assert await run("ls /dev/rtc0") == "/dev/rtc0"


async def test_disks_of_every_bus_are_read_and_written(images: image.Images, folder: Path) -> None:
    words: list[str] = ["-device", "virtio-scsi-pci-transitional,id=s", "-device", "qemu-xhci"]
    attached = {
        "blk": "virtio-blk-pci-transitional,serial=lamp-1",
        "scsi": "scsi-hd,bus=s.0,serial=lamp-2",
        "sata": "ide-hd,bus=ide.2,serial=lamp-3",
        "usb": "usb-storage",
    }
    for name, device in attached.items():
        path = blank(folder / name)
        words += ["-drive", f"if=none,id={name},file={path},format=raw"]
        words += ["-device", f"{device},drive={name}"]
    root = disk(images.raw(guests.CIRROS))
    async with Machine.start(folder, *root, *words, memory="128M") as machine:
        await machine.login()
        assert await machine.run("cat /sys/block/vdb/serial") == "lamp-1"
        for name in ("vdb", "sda", "sdb", "sdc"):
            await machine.until(f"[ -b /dev/{name} ]")
            await machine.run(
                f"sudo mke2fs -q /dev/{name} >/dev/null; sudo mount /dev/{name} /mnt;"
                f" echo {name} | sudo tee /mnt/note >/dev/null; sudo umount /mnt;"
                f" sudo mount /dev/{name} /mnt; grep {name} /mnt/note; sudo umount /mnt"
            )
        serials = await machine.run("sudo strings /sys/block/sd*/device/vpd_pg80")
        assert {"lamp-2", "lamp-3"} <= set(serials.split())


async def test_a_disk_is_plugged_in_and_pulled_out(images: image.Images, folder: Path) -> None:
    words = [
        *("-device", "pcie-root-port,id=free-slot", "-device", "virtio-scsi-pci,id=scsi"),
        *("-drive", f"if=none,id=new,file={blank(folder / 'new')},format=raw"),
        *("-drive", f"if=none,id=other,file={blank(folder / 'other')},format=raw"),
    ]
    root = disk(images.raw(guests.CIRROS))
    async with Machine.start(folder, *root, *words) as machine:
        await machine.login()
        await machine.command(
            "device_add", driver="virtio-blk-pci", drive="new", bus="free-slot", id="blk"
        )
        await machine.until("[ -b /dev/vdb ]")
        await machine.command("device_del", id="blk")
        await machine.until("[ ! -b /dev/vdb ]")
        await machine.command("device_add", driver="scsi-hd", drive="other", bus="scsi.0", id="hd")
        await machine.until("[ -b /dev/sda ]")
        await machine.command("device_del", id="hd")
        await machine.until("[ ! -b /dev/sda ]")


async def test_a_watchdog_that_is_not_fed_acts(images: image.Images, folder: Path) -> None:
    more = ["-device", "i6300esb", "-action", "watchdog=poweroff"]
    root = disk(images.raw(guests.CIRROS))
    async with Machine.start(folder, *root, more=more) as machine:
        await machine.login()
        await machine.run("sudo watchdog -T 2 -t 1000 /dev/watchdog")
        assert await machine.ended(60) == 0


async def test_a_panic_is_told_to_the_machine(images: image.Images, folder: Path) -> None:
    more = ["-device", "pvpanic", "-action", "panic=pause"]
    root = disk(images.raw(guests.CIRROS))
    async with Machine.start(folder, *root, more=more) as machine:
        await machine.login()
        await machine.serial.send("echo c | sudo tee /proc/sysrq-trigger\n")
        await machine.event("GUEST_PANICKED")


async def test_the_balloon_takes_memory_and_gives_it_back(
    images: image.Images, folder: Path
) -> None:
    more = ["-device", "virtio-balloon-pci,id=balloon"]
    root = disk(images.raw(guests.CIRROS))
    async with Machine.start(folder, *root, more=more, memory="128M") as machine:
        await machine.login()
        before = int(await machine.run("awk '/MemTotal/ { print $2 }' /proc/meminfo"))
        await machine.command("balloon", value=96 << 20)
        await machine.until(
            f"[ $(awk '/MemTotal/ {{ print $2 }}' /proc/meminfo) -lt {before - 30000} ]"
        )
        await machine.command("balloon", value=128 << 20)
        await machine.until(f"[ $(awk '/MemTotal/ {{ print $2 }}' /proc/meminfo) -eq {before} ]")


async def test_processors_can_be_added(images: image.Images, folder: Path) -> None:
    root = disk(images.raw(guests.CIRROS))
    async with Machine.start(folder, *root, processors="1,sockets=3,maxcpus=3") as machine:
        await machine.login()
        await machine.command(
            "device_add",
            driver="qemu64-x86_64-cpu",
            **{"socket-id": 1, "core-id": 0, "thread-id": 0},
        )
        await machine.until("[ $(nproc) -eq 2 ]")


async def test_many_interfaces_and_disks_are_no_trouble(images: image.Images, folder: Path) -> None:
    words = []
    for index in range(4):
        path = folder / f"copy-{index}"
        shutil.copy(images.initramfs, path)
        words += ["-drive", f"if=none,id=d{index},file={path},format=raw,readonly=on"]
        words += ["-device", f"virtio-blk-pci,drive=d{index}"]
        words += ["-netdev", f"user,id=n{index}", "-device", f"virtio-net-pci,netdev=n{index}"]
    root = disk(images.raw(guests.CIRROS))
    async with Machine.start(folder, *root, *words, memory="128M") as machine:
        await machine.login()
        for index in range(4):
            await machine.until(f"ip -4 address show eth{index} | grep -q 10.0.2.15")
