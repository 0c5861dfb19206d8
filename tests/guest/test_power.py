"""Off, on again, and what survives it."""

import shutil
from pathlib import Path

import pytest
from tests.guest.machine import BOOT_LIMIT_S, Machine, disk

from guestimage import guests, image

pytestmark = pytest.mark.timeout(400)


async def test_a_reset_boots_again_and_the_power_button_turns_it_off(
    images: image.Images, folder: Path
) -> None:
    async with Machine.start(folder, *disk(images.raw(guests.CIRROS))) as machine:
        await machine.booted_after()
        await machine.command("system_reset")
        await machine.serial.expect("login: ", BOOT_LIMIT_S)
        await machine.command("system_powerdown")
        assert await machine.ended() == 0


async def test_a_reboot_comes_back_with_what_was_written_and_poweroff_turns_it_off(
    images: image.Images, folder: Path
) -> None:
    async with Machine.start(folder, *disk(images.raw(guests.CIRROS))) as machine:
        await machine.login()
        boot_id = await machine.run("cat /proc/sys/kernel/random/boot_id")
        await machine.run("echo kept >note")
        await machine.serial.send("sudo reboot\n")
        await machine.event("RESET")
        await machine.login()
        assert await machine.run("cat note") == "kept"
        assert await machine.run("cat /proc/sys/kernel/random/boot_id") != boot_id
        await machine.serial.send("sudo poweroff\n")
        assert await machine.ended() == 0


async def test_what_was_synced_survives_a_lost_power_supply(
    images: image.Images, folder: Path
) -> None:
    own = folder / "own.img"
    shutil.copy(images.raw(guests.CIRROS), own)
    words = [word.removesuffix(",snapshot=on") for word in disk(own)]
    async with Machine.start(folder, *words) as machine:
        await machine.login()
        await machine.run("echo kept >note; sync")
        await machine.command("stop")
    async with Machine.start(folder, *words) as machine:
        await machine.login()
        assert await machine.run("cat note") == "kept"
