"""Folders of runs: made, claimed by one, taken away with what was lent, whoever died."""

import fcntl
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kubevirt.base.clock import Clock
from kubevirt.base.errors import Retry, UserError
from kubevirt.components.launcher.standalone import folders
from kubevirt.components.launcher.standalone.folders import LAUNCHER, Place, Run
from kubevirt.components.launcher.standalone.mounts import Mount
from kubevirt.virt.layout import Layout

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: owners of files change")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(runtime=tmp_path / "run", store=tmp_path / "store")


@contextmanager
def a_dead_run(place: Place, uid: str, *lent: Path) -> Iterator[Run]:
    """As a killed process leaves it; within the body its launcher still lives."""
    run = place.run(uid)
    run.folder.mkdir(parents=True)
    run.make()
    (run.folder / "lock").touch()
    for each in lent:
        run.hand_over(Mount(source=each, target="/x", read_only=False, is_lent=True))
    with (run.folder / "alive").open("wb") as alive:
        fcntl.flock(alive, fcntl.LOCK_EX)
        yield run


async def test_a_run_has_its_folders_and_nothing_is_left_of_them(
    place: Place, clock: Clock
) -> None:
    async with folders.claimed(place, "1", clock) as run:
        assert (run.folder / "private").is_dir()
        assert stat.S_IMODE(run.folder.stat().st_mode) == 0o700
        assert run.disks.is_dir()
    assert not run.folder.exists()
    assert not run.disks.exists()


async def test_the_same_uid_does_not_run_twice(place: Place, clock: Clock) -> None:
    async with folders.claimed(place, "1", clock) as run:
        with pytest.raises(UserError, match="runs already"):
            async with folders.claimed(place, "1", clock):
                pass
        assert run.folder.exists()


async def test_what_a_dead_run_left_goes_with_the_next_start(
    place: Place, clock: Clock, tmp_path: Path
) -> None:
    disk = tmp_path / "disk.img"
    disk.touch()
    os.chown(disk, 1000, 1001)
    with a_dead_run(place, "dead", disk) as dead:
        assert disk.stat().st_uid == LAUNCHER
    async with folders.claimed(place, "1", clock):
        assert not dead.folder.exists()
        assert not dead.disks.exists()
    assert (disk.stat().st_uid, disk.stat().st_gid) == (1000, 1001)


async def test_a_dead_run_whose_launcher_still_lives_is_waited_for(
    place: Place, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "LINGER_S", 0.1)
    with (
        a_dead_run(place, "dead") as dead,
        pytest.raises(Retry, match="does not end"),
    ):
        async with folders.claimed(place, "1", clock):
            pass
    assert dead.folder.exists()
    async with folders.claimed(place, "1", clock):
        assert not dead.folder.exists()


async def test_a_removal_that_was_killed_half_way_is_finished(
    place: Place, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    with a_dead_run(place, "dead") as dead:
        pass
    removing = shutil.rmtree
    with monkeypatch.context() as patched:
        patched.setattr(shutil, "rmtree", killed_in(removing, dead.folder / "private"))
        with pytest.raises(KeyboardInterrupt):
            dead.remove()
    async with folders.claimed(place, "1", clock):
        assert not dead.folder.exists()


def killed_in(removing: Callable[..., None], where: Path) -> Callable[..., None]:
    def remove(path: Path, **options: bool) -> None:
        if path == where:
            raise KeyboardInterrupt
        removing(path, **options)

    return remove


async def test_a_run_that_lives_is_left_alone(place: Place, clock: Clock) -> None:
    async with folders.claimed(place, "1", clock) as first:
        async with folders.claimed(place, "2", clock):
            assert first.folder.exists()
        assert first.folder.exists()


async def test_a_file_with_two_names_is_not_lent(
    place: Place, clock: Clock, tmp_path: Path
) -> None:
    disk = tmp_path / "disk.img"
    disk.touch()
    os.link(disk, tmp_path / "other")
    mount = Mount(source=disk, target="/x", read_only=False, is_lent=True)
    async with folders.claimed(place, "1", clock) as run:
        with pytest.raises(UserError, match="has 2 names"):
            run.hand_over(mount)
    assert disk.stat().st_uid == 0


async def test_a_file_that_a_spec_merely_names_keeps_its_owner(
    place: Place, clock: Clock, tmp_path: Path
) -> None:
    disk = tmp_path / "disk.img"
    disk.touch(mode=0o600)
    mount = Mount(source=disk, target="/x", read_only=False)
    async with folders.claimed(place, "1", clock) as run:
        with pytest.raises(UserError, match="chown 107:107"):
            run.hand_over(mount)
        disk.chmod(0o666)
        run.hand_over(mount)
    assert disk.stat().st_uid == 0


async def test_a_host_disk_is_made_for_the_guest_and_stays(
    place: Place, clock: Clock, tmp_path: Path
) -> None:
    disk = tmp_path / "new.img"
    async with folders.claimed(place, "1", clock) as run:
        run.hand_over(Mount(source=disk, target="/x", read_only=False, create_bytes=1 << 20))
    assert disk.stat().st_size == 1 << 20
    assert disk.stat().st_uid == LAUNCHER


def test_a_launchers_path_has_its_place_outside(place: Place) -> None:
    layout, run = Layout(), place.run("1")
    found = run.outside(layout.command_socket, layout, "/var/run/libvirt")
    assert found == run.folder / "share/sockets/launcher-sock"
    with pytest.raises(ValueError, match="/etc/shadow"):
        run.outside("/etc/shadow", layout, "/var/run/libvirt")


def test_a_uid_cannot_lead_out_of_the_folder(place: Place) -> None:
    with pytest.raises(UserError):
        place.run("../../etc")
