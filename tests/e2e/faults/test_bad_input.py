"""Input that is missing, broken or made to harm: one sentence for the user, soon, and nothing left behind.

That each is refused for the right reason, in every variant, is held where it is refused: tests/component/host.
Here it is the whole way, from a manifest to the words on a terminal.
"""

import gzip
import os
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.component.host.images import Image, disk, entry, layer, sparse
from tests.e2e.nouns.guests import Spec, started
from tests.e2e.nouns.guests import disk as a_disk
from tests.e2e.standalone.driver import Machine

from kubevirt.host.oci.limits import LIMITS

pytestmark = pytest.mark.timeout(300)

NAME = "docker.io/kubevirt/demo:latest"
MIB = 1 << 20
PREFIX = "virt-launcher: "
SOON_S = 150.0
"""To end a hang; alone it takes a second or two."""


def a_spec(image: str = NAME, **domain: Any) -> Spec:
    return Spec(root=a_disk("root", {"containerDisk": {"image": image}}), domain=domain)


@pytest.fixture
def refused(machine: Machine, tmp_path: Path) -> Callable[..., str]:
    """Tries to run a guest, with these images beside the honest ones; what the user is told."""

    def attempt(spec: Spec, *images: bytes, soon_s: float = SOON_S) -> str:
        folder = tmp_path / "images"
        folder.mkdir()
        for number, image in enumerate(images):
            (folder / f"{number}.tar").write_bytes(image)
        machine.images = folder if images else machine.images
        with started(machine, spec, console=False) as guest:
            assert guest.session.ended(soon_s) == 1
        return last_words(guest.session.said)

    return attempt


def last_words(said: str) -> str:
    """One sentence; nothing but the program's own lines stands before it."""
    lines = said.splitlines()
    assert all(line.startswith(PREFIX) for line in lines), said
    assert len(lines[-1]) < 600
    return lines[-1].removeprefix(PREFIX)


def archive(*layers: bytes) -> bytes:
    return layer(*Image(layers).files().items())


# Images.


def test_an_image_that_nobody_has(refused: Callable[..., str]) -> None:
    said = refused(a_spec("127.0.0.1:1/nobody/has:this"))
    assert "image 127.0.0.1:1/nobody/has:this cannot be pulled now: Cannot connect to host" in said


def test_an_archive_that_is_cut_short(refused: Callable[..., str]) -> None:
    whole = archive(disk(os.urandom(MIB)))
    said = refused(a_spec(), whole[: len(whole) // 2])
    assert "0.tar" in said


def test_an_image_that_was_changed(refused: Callable[..., str]) -> None:
    image = Image([disk(b"honest")])
    files = {
        name: data.replace(b"honest", b"forged") if name.startswith("blobs/") else data
        for name, data in image.files().items()
    }
    assert "does not match its digest" in refused(a_spec(), layer(*files.items()))


@pytest.mark.parametrize(
    ("kept", "said"), [(60, "is refused"), (4 * MIB, "is damaged or cut short")]
)
def test_a_disk_that_is_cut_short(
    refused: Callable[..., str], tmp_path: Path, kept: int, said: str
) -> None:
    whole = qcow2(tmp_path, "-o", "preallocation=falloc", "8M")
    assert said in refused(a_spec(), archive(disk(whole[:kept], "disk/disk.qcow2")))


def test_a_disk_that_reaches_for_a_file_of_the_host(
    refused: Callable[..., str], tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(b"of the host".ljust(MIB))
    image = qcow2(tmp_path, "-b", str(secret), "-F", "raw")
    said = refused(a_spec(), archive(disk(image, "disk/disk.qcow2")))
    assert "backing file" in said


def test_a_disk_larger_than_any(refused: Callable[..., str], tmp_path: Path) -> None:
    """A few bytes of qcow2 that promise a hundred terabytes."""
    image = qcow2(tmp_path, "100T", "-o", "cluster_size=2M")
    assert len(image) < 16 * MIB
    assert "are the most" in refused(a_spec(), archive(disk(image, "disk/disk.qcow2")))


def test_a_layer_that_says_it_is_larger_than_any(refused: Callable[..., str]) -> None:
    said = refused(a_spec(), archive(entry("disk/disk.img", size=1 << 40).tobuf()))
    assert f"its files have more than {LIMITS.unpacked_bytes} bytes" in said


def test_a_sparse_bomb(refused: Callable[..., str]) -> None:
    """A disk of a petabyte, of which one byte is there."""
    assert "its files have more than" in refused(a_spec(), archive(sparse(1 << 50)))


@pytest.mark.timeout(420)
def test_a_gzip_bomb(machine: Machine, refused: Callable[..., str]) -> None:
    """Zeros take no room on the disk, and more of them than any disk may have for free are refused."""
    with small(machine, 4 * MIB):
        said = refused(a_spec(), archive(gzip_bomb()), soon_s=300.0)  # ten seconds of one processor
        assert "times its size" in said


def gzip_bomb() -> bytes:
    """Four gigabytes in four megabytes. The parts of a gzip file may follow each other, so one is made."""
    part = gzip.compress(bytes(64 * MIB))
    size = LIMITS.unpacked_freely + 64 * MIB
    return gzip.compress(entry("disk/disk.img", size=size).tobuf()) + part * (size // (64 * MIB))


@pytest.mark.parametrize("name", ["../../escaped", "/../escaped", "disk/../../escaped"])
def test_a_layer_that_leads_out(refused: Callable[..., str], machine: Machine, name: str) -> None:
    said = refused(a_spec(), archive(layer((name, b"evil"))))
    assert "leads out of it" in said
    assert not list(machine.home.rglob("escaped"))


def test_a_disk_that_is_a_link_to_a_file_of_the_host(refused: Callable[..., str]) -> None:
    link = entry("disk/disk.img", kind=tarfile.SYMTYPE, link="/etc/shadow")
    said = refused(a_spec(), archive(layer(link)))
    assert "/disk holds 0 files instead of one" in said
    assert "shadow" not in said


def qcow2(folder: Path, *words: str) -> bytes:
    path = folder / "made.qcow2"
    options = [word for word in words if not word[0].isdigit()]
    size = [word for word in words if word[0].isdigit()]
    subprocess.run(
        ["qemu-img", "create", "-q", "-f", "qcow2", *options, str(path), *size], check=True
    )
    return path.read_bytes()


# The machine.


def test_a_disk_without_room_for_the_image(machine: Machine, refused: Callable[..., str]) -> None:
    with small(machine, 3 * MIB):
        said = refused(a_spec(), archive(disk(os.urandom(8 * MIB))))
        assert "no space left" in said.lower()


@pytest.mark.parametrize("left", [256 << 10, 64 << 10, 24 << 10])
def test_a_disk_that_is_all_but_full(
    machine: Machine, refused: Callable[..., str], left: int
) -> None:
    """Wherever it is that the room ends: at the image, at the launcher's folders, at the guest's disk."""
    with small(machine, 4 * MIB):
        usage = os.statvfs(machine.home)
        filler = machine.home / "filler"
        filler.write_bytes(bytes(usage.f_bavail * usage.f_frsize - left))
        said = refused(Spec())
        filler.unlink()
        assert "no space left" in said.lower()


@contextmanager
def small(machine: Machine, size: int) -> Iterator[None]:
    """The machine keeps everything on a file system of that size, on which nothing may be left."""
    before = machine.home
    with tempfile.TemporaryDirectory(prefix="small-", dir="/var/tmp") as folder:
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", folder], check=True)
        machine.home = Path(folder)
        try:
            yield
            assert not machine.files()
        finally:
            machine.home = before
            subprocess.run(["umount", folder], check=True)


# The manifest.


def test_cloud_init_over_the_limit(refused: Callable[..., str]) -> None:
    data = {"cloudInitNoCloud": {"userData": "#cloud-config\n" + "#" * 2048}}
    said = refused(Spec(disks=[a_disk("seed", data)]))
    assert "2048 byte limit" in said


def test_a_domain_that_libvirt_refuses(refused: Callable[..., str]) -> None:
    """Features of processors are a matter of libvirt's alone, so these are its words."""
    said = refused(Spec(domain={"cpu": {"features": [{"name": "abacus"}]}}))
    assert said == "cannot start the guest: unsupported configuration: unknown CPU feature: abacus"
