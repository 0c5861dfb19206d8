"""Copies and folders of volumes, on a real disk."""

import stat
from pathlib import Path

import pytest

from kubevirt.base.errors import CommandFailed, Retry, UnsafePath
from kubevirt.embedded.storage.copying import copy
from kubevirt.embedded.storage.provisioner import Provisioner


def names(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


async def test_a_copy_of_a_disk_has_the_same_holes(tmp_path: Path) -> None:
    source, target = tmp_path / "a", tmp_path / "b"
    with source.open("wb") as file:
        file.truncate(64 << 20)
        file.seek(32 << 20)
        file.write(b"data")

    await copy(source, target)

    found = target.stat()
    assert found.st_size == 64 << 20
    assert found.st_blocks * 512 < 1 << 20
    with target.open("rb") as file:
        file.seek(32 << 20)
        assert file.read(4) == b"data"


async def test_a_copy_of_a_folder_follows_no_link_and_keeps_rights(tmp_path: Path) -> None:
    source, target = tmp_path / "a", tmp_path / "b"
    source.mkdir(mode=0o750)
    (source / "link").symlink_to("/etc/passwd")
    (source / "file").touch(mode=0o604)

    await copy(source, target)

    assert (target / "link").is_symlink()
    assert stat.S_IMODE((target / "file").stat().st_mode) == 0o604
    assert stat.S_IMODE(target.stat().st_mode) == 0o750


async def test_what_is_there_is_not_overwritten_and_nothing_stays_behind(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("new")
    (tmp_path / "b").write_text("old")

    with pytest.raises(FileExistsError):
        await copy(tmp_path / "a", tmp_path / "b")
    with pytest.raises(CommandFailed):
        await copy(tmp_path / "none", tmp_path / "c")

    assert (tmp_path / "b").read_text() == "old"
    assert names(tmp_path) == ["a", "b"]


def test_a_volume_is_made_once_and_grows_only(tmp_path: Path) -> None:
    provisioner = Provisioner(tmp_path)
    folder = provisioner.make("folder", "Filesystem", 1000)
    (folder / "file").touch()
    disk = provisioner.make("disk", "Block", 1000)

    assert provisioner.make("folder", "Filesystem", 1000) == folder
    assert (folder / "file").exists()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o777
    assert disk.stat().st_size == 1024
    provisioner.make("disk", "Block", 10)
    assert disk.stat().st_size == 1024
    provisioner.grow("disk", 2048)
    provisioner.grow("folder", 2048)
    assert disk.stat().st_size == 2048


async def test_a_volume_that_is_removed_is_gone_at_once(tmp_path: Path) -> None:
    provisioner = Provisioner(tmp_path)
    for name, mode in (("folder", "Filesystem"), ("disk", "Block")):
        provisioner.make(name, mode, 1000)
        await provisioner.remove(name)
        await provisioner.remove(name)
    assert names(tmp_path) == []


@pytest.mark.parametrize("name", ["", "..", ".", "a/b", "../a", ".going-1"])
async def test_no_name_of_a_volume_leads_elsewhere(tmp_path: Path, name: str) -> None:
    provisioner = Provisioner(tmp_path / "volumes")
    with pytest.raises(UnsafePath):
        provisioner.make(name, "Filesystem", 1)
    with pytest.raises(UnsafePath):
        await provisioner.remove(name)


def test_a_disk_that_no_file_system_can_hold_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Retry, match="too large for the file system"):
        Provisioner(tmp_path).make("disk", "Block", 1 << 62)
