"""Disks and kernels in images that are mounted whole."""

from pathlib import Path
from typing import Any

import pytest
from tests.unit.virt.domain_cases import a_vmi

from kubevirt.api.firmware import KernelBoot, KernelBootContainer
from kubevirt.components.launcher import images
from kubevirt.host.oci.errors import ContainerImageError
from kubevirt.host.oci.unpacked import UnpackedImage
from kubevirt.virt.layout import Layout
from kubevirt.virt.volumes.kernel_boot import KernelFiles


def layout_in(folder: Path) -> Layout:
    return Layout(image_volumes=str(folder / "images"), kernel_image=str(folder / "kernel"))


def an_image(folder: Path, *paths: str) -> Path:
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).touch()
    return folder


def with_disk(**values: Any) -> Any:
    disk = {"image": "some/disk:v1", **values}
    scratch = {"name": "scratch", "emptyDisk": {"capacity": "1Gi"}}
    return a_vmi({"spec": {"volumes": [scratch, {"name": "root", "containerDisk": disk}]}})


def test_the_one_file_of_an_image_is_the_disk_of_its_volume(tmp_path: Path) -> None:
    image = an_image(tmp_path / "images" / "disk_1", "disk/cirros.img")
    found = images.disks(with_disk(), layout_in(tmp_path))
    assert found == {"root": str(image / "disk/cirros.img")}


def test_a_disk_may_have_a_path_of_its_own(tmp_path: Path) -> None:
    image = an_image(tmp_path / "images" / "disk_1", "a/b.qcow2", "disk/c", "disk/d")
    found = images.disks(with_disk(path="/a/b.qcow2"), layout_in(tmp_path))
    assert found == {"root": str(image / "a/b.qcow2")}


@pytest.mark.parametrize("path", ["/link", "/../../secret", "/disk", "/missing"])
def test_a_path_to_anything_but_a_file_of_the_image_is_refused(tmp_path: Path, path: str) -> None:
    image = an_image(tmp_path / "images" / "disk_1", "disk/a")
    (tmp_path / "secret").touch()
    (image / "link").symlink_to(tmp_path / "secret")
    with pytest.raises(ContainerImageError):
        images.disks(with_disk(path=path), layout_in(tmp_path))


def test_an_image_with_two_disks_is_refused(tmp_path: Path) -> None:
    an_image(tmp_path / "images" / "disk_1", "disk/a", "disk/b")
    with pytest.raises(ContainerImageError, match="holds 2 files"):
        images.disks(with_disk(), layout_in(tmp_path))


def test_an_image_that_is_not_mounted_is_named(tmp_path: Path) -> None:
    with pytest.raises(ContainerImageError, match="some/disk:v1 is not mounted"):
        images.disks(with_disk(), layout_in(tmp_path))


def test_an_image_that_may_not_be_read_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*_: object) -> Path:
        raise PermissionError

    monkeypatch.setattr(UnpackedImage, "disk", forbidden)
    with pytest.raises(ContainerImageError, match="readable by all"):
        images.disks(with_disk(), Layout())


def test_a_kernel_is_found_by_its_path_in_the_image(tmp_path: Path) -> None:
    image = an_image(tmp_path / "kernel", "boot/vmlinuz", "initrd")
    container = KernelBootContainer(image="k", kernel_path="/boot/vmlinuz", initrd_path="/initrd")
    found = images.kernel(KernelBoot(container=container), layout_in(tmp_path))
    assert found == KernelFiles(kernel=str(image / "boot/vmlinuz"), initrd=str(image / "initrd"))
    alone = KernelBootContainer(image="k", kernel_path="/boot/vmlinuz")
    assert images.kernel(KernelBoot(container=alone), layout_in(tmp_path)).initrd is None


def test_without_a_kernel_there_is_none(tmp_path: Path) -> None:
    assert images.kernel(None, layout_in(tmp_path)) == KernelFiles()
