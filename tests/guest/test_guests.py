"""The same guest under other names: each greets, asks and prompts as known scripts expect."""

from pathlib import Path

import pytest
from tests.guest import seeds
from tests.guest.machine import BOOT_LIMIT_S, Machine, cdrom, disk

from guestimage import guests, image

pytestmark = pytest.mark.timeout(400)


async def test_alpine_lets_root_in_without_a_password(images: image.Images, folder: Path) -> None:
    async with Machine.start(folder, *disk(images.raw(guests.ALPINE))) as machine:
        await machine.serial.expect("localhost login: ", BOOT_LIMIT_S)
        await machine.serial.send("root\n")
        await machine.serial.expect("localhost:~# ")


async def test_fedora_has_the_password_of_its_cloud_config(
    images: image.Images, folder: Path
) -> None:
    seed = seeds.nocloud(
        folder,
        user_data=(
            "#cloud-config\npassword: fedora\nchpasswd: { expire: False }\n"
            'runcmd:\n  - [ "systemctl", "enable", "--now", "nginx" ]\n'
        ),
    )
    async with Machine.start(
        folder, *disk(images.raw(guests.FEDORA)), *cdrom(seed), memory="128M"
    ) as machine:
        await machine.serial.expect("localhost login: ", BOOT_LIMIT_S)
        await machine.serial.send("fedora\n")
        await machine.serial.expect("Password: ")
        await machine.serial.send("fedora\n")
        await machine.serial.expect(r"\[fedora@localhost ~\]\$ ")
        await machine.serial.send("sudo su\n")
        await machine.serial.expect(r"\[root@localhost fedora\]# ")


async def test_fedora_lets_nobody_in_before(images: image.Images, folder: Path) -> None:
    async with Machine.start(folder, *disk(images.raw(guests.FEDORA))) as machine:
        await machine.serial.expect("login: ", BOOT_LIMIT_S)
        await machine.serial.send("fedora\n")
        await machine.serial.expect("Password: ")
        await machine.serial.send("fedora\n")
        await machine.serial.expect("Login incorrect")
