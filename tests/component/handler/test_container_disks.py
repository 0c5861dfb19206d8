"""Container disks as helper containers hold them, shown to a launcher."""

import os
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.component.host.test_container_disk import Container, built

from kubevirt.base.clock import Clock
from kubevirt.base.errors import UnsafePath, UserError
from kubevirt.base.files import Root
from kubevirt.components.handler.launchers import container_disks
from kubevirt.components.handler.launchers.container_disks import Wanted
from kubevirt.components.handler.launchers.peer import peer_of
from kubevirt.host import mounts
from kubevirt.rpc.errors import NoAnswer

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: it mounts"),
    pytest.mark.skipif(not shutil.which("gcc"), reason="no compiler: install gcc and libc6-dev"),
    pytest.mark.skipif(not shutil.which("bwrap"), reason="no sandbox: install bubblewrap"),
    pytest.mark.timeout(120),
]

DISK = Wanted(image="demo", path="", place="disk_0.img", socket="disk_0.sock", mounted="/none")
OUTSIDE = 0
"""Who the sandbox's user 107 is for the machine."""


@pytest.fixture(scope="module")
def helper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("container-disk") / "container-disk")


@pytest.fixture
def container(tmp_path: Path, helper: Path) -> Iterator[Container]:
    made = Container(tmp_path, helper)
    yield made
    mounts.unmount_below(made.shared)


async def test_the_disk_of_a_helper_appears_read_only_and_goes_again(
    container: Container, clock: Clock
) -> None:
    async with container.runs():
        with Root.open(container.shared) as folder:
            await container_disks._show(DISK, folder, OUTSIDE, clock)
            place = container.shared / "disk_0.img"
            assert place.read_bytes() == b"the disk"
            with pytest.raises(OSError, match="Read-only"):
                place.write_bytes(b"another")
            assert container_disks._is_shown(folder, DISK)
            container_disks.hide(folder)
            assert place.read_bytes() == b""
            assert not container_disks._is_shown(folder, DISK)
    assert not mounts.below(container.shared)


async def test_a_helper_that_sends_callers_away_at_once_is_not_taken_for_dead(
    container: Container, clock: Clock
) -> None:
    async with container.runs():
        with Root.open(container.shared) as folder, folder.connectable(DISK.socket) as address:
            for _ in range(200):
                async with peer_of(address, OUTSIDE, "the helper", clock) as helper:
                    assert helper.is_alive


async def test_a_disk_that_is_a_link_out_of_its_image_is_not_shown(
    container: Container, clock: Clock
) -> None:
    disk = container.root / "disk/demo.img"
    disk.unlink()
    disk.symlink_to("/etc/passwd")
    async with container.runs():
        with Root.open(container.shared) as folder:
            with pytest.raises(UserError, match="no plain file"):
                await container_disks._show(DISK, folder, OUTSIDE, clock)
            assert not folder.exists("disk_0.img")


async def test_a_helper_that_is_a_link_or_somebody_else_is_nobody(
    tmp_path: Path, clock: Clock
) -> None:
    with socket.socket(socket.AF_UNIX) as ours, Root.open(tmp_path) as folder:
        ours.bind(str(tmp_path / "ours.sock"))
        ours.listen()
        (tmp_path / "disk_0.sock").symlink_to("ours.sock")
        with pytest.raises(UnsafePath):
            await container_disks._show(DISK, folder, 107, clock)
        (tmp_path / "disk_0.sock").unlink()
        (tmp_path / "ours.sock").rename(tmp_path / "disk_0.sock")
        with pytest.raises(UserError, match="user 0, not by 107"):
            await container_disks._show(DISK, folder, 107, clock)
    with Root.open(tmp_path) as folder, pytest.raises(NoAnswer):
        await container_disks._show(DISK, folder, 107, clock)
