"""The container disks: OCI archives that hold what they say, under every name they are known by."""

import hashlib
import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from guestimage import guests, image, names

KNOWN = {
    "cirros": [
        "docker.io/kubevirt/cirros-registry-disk-demo:latest",
        "docker.io/kubevirt/cirros-container-disk-demo:latest",
        "quay.io/kubevirt/cirros-container-disk-demo:devel",
    ],
    "alpine": [
        "docker.io/kubevirt/alpine-registry-disk-demo:latest",
        "quay.io/kubevirt/alpine-container-disk-demo:devel",
    ],
    "kernel-boot": ["quay.io/kubevirt/alpine-ext-kernel-boot-demo:devel"],
}


def read_tar(raw: bytes) -> dict[str, tuple[tarfile.TarInfo, bytes]]:
    with tarfile.open(fileobj=io.BytesIO(raw)) as archive:
        return {
            member.name: (member, archive.extractfile(member).read())  # type: ignore[union-attr]  # a file
            for member in archive
            if member.isfile()
        }


class Archive:
    def __init__(self, path: Path) -> None:
        self.parts = {name: raw for name, (_, raw) in read_tar(path.read_bytes()).items()}
        self.index = json.loads(self.parts["index.json"])

    def blob(self, descriptor: dict[str, Any]) -> bytes:
        content = self.parts["blobs/" + descriptor["digest"].replace(":", "/")]
        assert descriptor["digest"] == "sha256:" + hashlib.sha256(content).hexdigest()
        assert descriptor["size"] == len(content)
        return content

    def names(self) -> set[str]:
        return {
            each["annotations"]["org.opencontainers.image.ref.name"]
            for each in self.index["manifests"]
        }

    def files(self) -> dict[str, tuple[tarfile.TarInfo, bytes]]:
        manifest = json.loads(self.blob(self.index["manifests"][0]))
        (layer,) = manifest["layers"]
        config = json.loads(self.blob(manifest["config"]))
        assert config["rootfs"]["diff_ids"] == [layer["digest"]]
        return read_tar(self.blob(layer))


@pytest.mark.parametrize("name", names.REPOSITORIES)
def test_an_image_is_known_by_all_its_names(images: image.Images, name: str) -> None:
    known = Archive(images.archive(name)).names()
    assert known == set(names.of(name))
    assert known >= set(KNOWN.get(name, ()))


@pytest.mark.parametrize("guest", guests.ALL, ids=lambda guest: guest.name)
def test_a_container_disk_holds_the_disk_for_the_user_of_qemu(
    images: image.Images, guest: guests.Guest
) -> None:
    ((path, (entry, content)),) = Archive(images.archive(guest.name)).files().items()
    assert path.startswith("disk/")
    assert (entry.uid, entry.gid, entry.mode) == (107, 107, 0o440)
    assert content == images.qcow2(guest).read_bytes()


def test_the_image_for_kernel_boot_holds_kernel_and_initial_ram_disk(images: image.Images) -> None:
    files = Archive(images.archive(image.KERNEL_BOOT)).files()
    assert files["boot/vmlinuz-virt"][1] == images.kernel.read_bytes()
    assert files["boot/initramfs-virt"][1] == images.initramfs.read_bytes()
