"""A real guest from a disk in an image that was mounted whole, without helper or handler for it."""

import os
import shutil
from pathlib import Path

import pytest
from tests.component.launcher.test_guest_and_agent import FROM_DISK
from tests.component.launcher.world import World, launched

from guestimage import guests, image
from kubevirt.rpc.errors import Refused
from kubevirt.virt.layout import Layout

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: it makes a container for each test"),
    pytest.mark.skipif(not shutil.which("bwrap"), reason="no bwrap: install bubblewrap"),
    pytest.mark.skipif(not shutil.which("libvirtd"), reason="no libvirtd: install libvirt-daemon"),
    pytest.mark.timeout(180),
]

LAYOUT = Layout(image_volumes=f"{Layout().share}/images")
"""In a folder that the launcher sees already, as a node would have mounted them there."""


async def test_a_guest_starts_from_the_one_disk_of_its_image(guest_images: image.Images) -> None:
    async with launched(layout=LAYOUT, image_volumes=True) as world:
        folder = world.folder / "share/images/disk_0/disk"
        folder.mkdir(parents=True)
        shutil.copyfile(guest_images.qcow2(guests.CIRROS), folder / "cirros.qcow2")
        await world.runs(**FROM_DISK)
        assert _overlay(world).is_file()


async def test_an_image_without_a_disk_is_refused_by_name(guest_images: image.Images) -> None:
    async with launched(layout=LAYOUT, image_volumes=True) as world:
        (world.folder / "share/images/disk_0").mkdir(parents=True)
        with pytest.raises(Refused, match="image it is no container disk"):
            await world.runs(**FROM_DISK)
        assert not _overlay(world).exists()


def _overlay(world: World) -> Path:
    return world.folder / "ephemeral/disk-data/root/disk.qcow2"
