"""From QEMU's start to a shell: every bus, small memories, both consoles, a disk that grows."""

import re
import subprocess
from pathlib import Path

import pytest
from tests.guest.machine import BOOT_LIMIT_S, Machine, disk

from guestimage import guests, image

pytestmark = pytest.mark.timeout(400)


def overlay(base: Path, path: Path, size: str) -> Path:
    """A larger disk that begins as `base`."""
    words = ("-q", "-f", "qcow2", "-F", "raw", "-b", base, path, size)
    subprocess.run(["qemu-img", "create", *words], check=True)
    return path


async def test_the_known_user_logs_in_with_the_right_password_and_is_root_by_sudo(
    images: image.Images, folder: Path
) -> None:
    root = disk(images.raw(guests.CIRROS))
    async with Machine.start(folder, *root, processors="2") as machine:
        await machine.serial.expect(
            r"login as 'cirros' user\. default password: 'gocubsgo'\. use 'sudo' for root\.\n"
            r"cirros login: ",
            BOOT_LIMIT_S,
        )
        await machine.serial.send("cirros\n")
        await machine.serial.expect("Password: ")
        await machine.serial.send("wrong\n")
        await machine.serial.expect("Login incorrect")
        await machine.login()
        assert await machine.run("id -un; sudo id -un") == "cirros\nroot"
        assert await machine.run("nproc") == "2"


@pytest.mark.parametrize("bus", ["virtio", "sata", "scsi", "usb"])
async def test_it_boots_from_a_disk_on_any_bus(
    images: image.Images, folder: Path, bus: str
) -> None:
    async with Machine.start(folder, *disk(images.raw(guests.CIRROS), bus)) as machine:
        await machine.login()
        names = {"virtio": "vda", "sata": "sda", "scsi": "sda", "usb": "sda"}
        root = await machine.run("cat /proc/mounts")
        assert re.search(r"^/dev/root / ext4 rw", root, re.MULTILINE)
        assert names[bus] in await machine.run("ls /sys/block")


async def test_it_boots_on_the_older_machine_type_and_from_qcow2(
    images: image.Images, folder: Path
) -> None:
    root = disk(images.qcow2(guests.CIRROS), form="qcow2")
    async with Machine.start(folder, *root, machine="pc", processors="2") as machine:
        await machine.login()
        assert await machine.run("cat /proc/cpuinfo | grep -c ^processor") == "2"


@pytest.mark.parametrize("memory", ["32M", "48M"])
async def test_it_runs_with_little_memory(images: image.Images, folder: Path, memory: str) -> None:
    more = [
        *("-device", "virtio-serial-pci", "-chardev", "null,id=agent"),
        *("-device", "virtserialport,chardev=agent,name=org.qemu.guest_agent.0"),
    ]
    root = disk(images.raw(guests.CIRROS))
    async with Machine.start(folder, *root, memory=memory, more=more) as machine:
        await machine.login()
        await machine.until("ps | grep -q '/usr/sbin/[q]emu-ga'")
        # Room to work: a user's program gets a few megabytes beside everything that runs.
        await machine.run("dd if=/dev/zero of=/tmp/some bs=1M count=4")


async def test_one_of_them_has_no_agent(images: image.Images, folder: Path) -> None:
    root = disk(images.raw(guests.CIRROS_WITHOUT_AGENT))
    async with Machine.start(folder, *root, memory="32M") as machine:
        await machine.login()
        assert (await machine.attempt("ls /usr/sbin/qemu-ga"))[1] != 0


async def test_the_screen_and_its_keyboard_are_a_console_too(
    images: image.Images, folder: Path
) -> None:
    more = ["-device", "VGA"]
    async with Machine.start(folder, *disk(images.raw(guests.CIRROS)), more=more) as machine:
        await machine.login()
        shown = "sudo cat /dev/vcs1 | grep -q '{}'".format
        await machine.until(shown("cirros login:"))
        await machine.type("cirros\n")
        await machine.until(shown("Password:"))
        await machine.type("gocubsgo\n")
        await machine.until("who | grep -q 'cirros *tty1'")
        await machine.type("id\n")
        await machine.until(shown("uid=1000(cirros)"))


async def test_the_root_file_system_fills_a_larger_disk(images: image.Images, folder: Path) -> None:
    large = overlay(images.raw(guests.CIRROS), folder / "large.qcow2", "20G")
    async with Machine.start(folder, *disk(large, form="qcow2")) as machine:
        await machine.login()
        size_mib = int(await machine.run("df -m / | awk 'NR == 2 { print $2 }'"))
        assert 19_000 < size_mib <= 20 * 1024


async def test_kernel_and_initial_ram_disk_make_a_guest_without_any_disk(
    images: image.Images, folder: Path
) -> None:
    more = ["-kernel", images.kernel, "-initrd", images.initramfs, "-append", "console=ttyS0"]
    async with Machine.start(folder, more=[str(word) for word in more], memory="128M") as machine:
        await machine.login("root", password=None)
        assert "console=ttyS0" in await machine.run("cat /proc/cmdline")
