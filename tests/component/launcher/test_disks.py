"""Plans become disks; what cannot become one is refused, and a start that fails leaves nothing behind."""

import json
import subprocess
from pathlib import Path

import pytest

from kubevirt.base.commands import run
from kubevirt.base.errors import UserError
from kubevirt.components.launcher.disks import Disks
from kubevirt.virt.volumes.plan import (
    BlankDisk,
    ExistingDisk,
    HostImage,
    IsoImage,
    MetricsDisk,
    Overlay,
    VolumePlan,
)

MIB = 1 << 20


async def made(*plans: VolumePlan, **claims: int) -> dict[str, str]:
    """The formats of the disks, by volume, as the conversion will hear them."""
    disks = await Disks(10).make(plans, claims)
    return {volume: str(disk.facts.format) for volume, disk in disks.items()}


def info(path: Path) -> dict[str, object]:
    line = ["qemu-img", "info", "--output=json", str(path)]
    found = subprocess.run(line, capture_output=True, check=True, timeout=30)
    return dict(json.loads(found.stdout))


def image(path: Path, *options: str, size: str = "8M") -> str:
    subprocess.run(["qemu-img", "create", "-q", *options, str(path), size], check=True, timeout=30)
    return str(path)


def files(folder: Path) -> set[str]:
    return {str(each.relative_to(folder)) for each in folder.rglob("*") if not each.is_dir()}


async def test_every_kind_of_disk_is_made(tmp_path: Path) -> None:
    backing = image(tmp_path / "image", "-f", "qcow2")
    await made(
        Overlay(volume="root", path=str(tmp_path / "a/root.qcow2"), backing=backing),
        BlankDisk(volume="scratch", path=str(tmp_path / "b/s.qcow2"), size_bytes=MIB),
        IsoImage(volume="seed", path=str(tmp_path / "c/s.iso"), label="cidata", files={"a": b"b"}),
        HostImage(volume="host", path=str(tmp_path / "d.img"), create=True, size_bytes=MIB),
        MetricsDisk(volume="metrics", path=str(tmp_path / "metrics")),
    )
    assert info(tmp_path / "a/root.qcow2")["full-backing-filename"] == backing
    assert info(tmp_path / "b/s.qcow2")["virtual-size"] == MIB
    assert (tmp_path / "c/s.iso").read_bytes()[0x8001:0x8006] == b"CD001"
    assert (tmp_path / "d.img").stat().st_size == MIB
    assert (tmp_path / "metrics").stat().st_size == 256 << 10


async def test_a_disk_that_a_guest_has_written_to_is_kept(tmp_path: Path) -> None:
    plan = BlankDisk(volume="scratch", path=str(tmp_path / "s.qcow2"), size_bytes=MIB)
    await made(plan)
    await run("qemu-io", "-c", "write -P 7 0 4k", plan.path)
    before = (tmp_path / "s.qcow2").read_bytes()
    await made(plan)
    assert (tmp_path / "s.qcow2").read_bytes() == before


async def test_an_image_that_reaches_for_a_file_of_the_host_is_refused_and_nothing_is_left(
    tmp_path: Path,
) -> None:
    image(tmp_path / "secret")
    options = ("-f", "qcow2", "-F", "raw", "-b", str(tmp_path / "secret"))
    hostile = image(tmp_path / "image", *options)
    before = files(tmp_path)
    with pytest.raises(UserError, match=r"image .* is refused: it names a backing file"):
        await made(
            Overlay(volume="root", path=str(tmp_path / "root.qcow2"), backing=hostile),
            BlankDisk(volume="scratch", path=str(tmp_path / "s.qcow2"), size_bytes=MIB),
        )
    assert files(tmp_path) == before


async def test_an_image_that_was_cut_short_is_refused_and_not_read_as_zeros(tmp_path: Path) -> None:
    whole, short = tmp_path / "whole", tmp_path / "short"
    whole.write_bytes(bytes(range(256)) * (MIB // 64))
    await run("qemu-img", "convert", "-f", "raw", "-O", "qcow2", whole, short)
    with short.open("r+b") as file:
        file.truncate(short.stat().st_size // 2)
    before = files(tmp_path)
    plan = Overlay(volume="root", path=str(tmp_path / "a/root.qcow2"), backing=str(short))
    with pytest.raises(UserError, match="the image of volume 'root' is damaged or cut short"):
        await made(plan)
    assert files(tmp_path) == before


async def test_a_missing_image_is_named(tmp_path: Path) -> None:
    plan = Overlay(volume="root", path=str(tmp_path / "r"), backing=str(tmp_path / "nothing"))
    with pytest.raises(UserError, match=rf"no disk image at {tmp_path}/nothing"):
        await made(plan)


async def test_an_empty_claim_gets_a_disk_of_its_size(tmp_path: Path) -> None:
    plan = ExistingDisk(volume="data", path=str(tmp_path / "disk.img"))
    await made(plan, data=3 * MIB)
    assert (tmp_path / "disk.img").stat().st_size == 3 * MIB


async def test_a_claim_that_has_grown_has_a_larger_disk_at_the_next_start(tmp_path: Path) -> None:
    disk = tmp_path / "disk.img"
    disk.write_bytes(b"mine".ljust(MIB))
    plan = ExistingDisk(volume="data", path=str(disk))
    await made(plan, data=3 * MIB)
    assert disk.stat().st_size == 3 * MIB
    assert disk.read_bytes().startswith(b"mine")
    assert disk.stat().st_blocks * 512 <= 2 * MIB, "what nobody wrote takes no room"
    await made(plan, data=2 * MIB)
    await made(plan)
    assert disk.stat().st_size == 3 * MIB, "a disk never shrinks"


async def test_a_disk_that_is_only_read_stays_as_it_is(tmp_path: Path) -> None:
    disk = tmp_path / "disk.img"
    disk.write_bytes(bytes(MIB))
    await made(ExistingDisk(volume="data", path=str(disk), read_only=True), data=3 * MIB)
    assert disk.stat().st_size == MIB


async def test_a_disk_grows_no_further_than_its_file_system_has_room(tmp_path: Path) -> None:
    mount = await run("mount", "-t", "tmpfs", "-o", "size=8M", "tmpfs", tmp_path, check=False)
    if mount.exit_code:
        pytest.skip("needs root to mount a small file system")
    try:
        disk = tmp_path / "disk.img"
        disk.write_bytes(b"x" * 3 * MIB)
        await made(ExistingDisk(volume="data", path=str(disk)), data=64 * MIB)
        assert disk.stat().st_size == 8 * MIB
    finally:
        await run("umount", tmp_path)


async def test_a_claim_a_little_smaller_than_promised_is_used_and_said(tmp_path: Path) -> None:
    claim = tmp_path / "claim"
    claim.mkdir()
    mount = await run("mount", "-t", "tmpfs", "-o", "size=64M", "tmpfs", claim, check=False)
    if mount.exit_code:
        pytest.skip("needs root to mount a small file system")
    try:
        plan = ExistingDisk(volume="data", path=str(claim / "disk.img"))
        disks = await Disks(10).make([plan], {"data": 66 * MIB})
        [note] = disks["data"].notes
        assert note.reason == "ToleratedSmallPV"
        assert "within 10 % toleration" in note.message
        assert (claim / "disk.img").stat().st_size == 64 * MIB
        (claim / "disk.img").unlink()
        with pytest.raises(UserError, match=r"needs .* bytes and the file system has"):
            await Disks(10).make([plan], {"data": 80 * MIB})
        assert files(claim) == set()
    finally:
        await run("umount", claim)


async def test_a_claim_without_a_disk_and_without_a_size_is_named(tmp_path: Path) -> None:
    plan = ExistingDisk(volume="data", path=str(tmp_path / "disk.img"))
    with pytest.raises(UserError, match="volume 'data' has no disk at"):
        await made(plan)
    with pytest.raises(UserError, match="volume 'data' has no disk at"):
        await made(HostImage(volume="data", path=str(tmp_path / "disk.img")))


async def test_storage_tells_whether_it_takes_direct_io(tmp_path: Path) -> None:
    plan = BlankDisk(volume="scratch", path=str(tmp_path / "s.qcow2"), size_bytes=MIB)
    disks = await Disks(10).make([plan], {})
    assert disks["scratch"].facts.direct_io
    on_proc = ExistingDisk(volume="odd", path="/proc/version")
    assert not (await Disks(10).make([on_proc], {}))["odd"].facts.direct_io
