"""Images from folders and archives: found by name, unpacked once, laid over each other."""

import asyncio
import gzip
import json
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import IO

import pytest
from tests.component.host.images import (
    NAME,
    Image,
    digest,
    disk,
    entry,
    layer,
    multi_platform,
)

from kubevirt.base.clock import Clock
from kubevirt.host.oci.cache import ImageCache
from kubevirt.host.oci.docker_archive import DockerArchive
from kubevirt.host.oci.errors import ContainerImageError
from kubevirt.host.oci.layout import OciArchive, OciFolder
from kubevirt.host.oci.manifest import Descriptor, Platform, Resolved
from kubevirt.host.oci.reference import Reference
from kubevirt.host.oci.source import Blob, Progress, Source
from kubevirt.host.oci.unpacked import UnpackedImage

MIB = 1 << 20


@pytest.fixture
def images(tmp_path: Path, clock: Clock) -> ImageCache:
    return ImageCache(tmp_path / "cache", clock)


def stored(image: Image, folder: Path, how: str) -> Source:
    match how:
        case "folder":
            return OciFolder(image.folder(folder / "layout"))
        case _:
            return OciArchive(image.archive(folder / "image.tar"))


def content(path: Path) -> bytes:
    return path.read_bytes()


def tree(image: UnpackedImage) -> dict[str, bytes]:
    return {
        str(path.relative_to(image.folder)): path.read_bytes()
        for path in image.folder.rglob("*")
        if path.is_file()
    }


async def unpacked(images: ImageCache, folder: Path, *layers: bytes) -> UnpackedImage:
    return await images.unpacked(OciArchive(Image(layers).archive(folder / "image.tar")), NAME)


@pytest.mark.parametrize("how", ["folder", "archive"])
@pytest.mark.parametrize("name", ["", "kubevirt/demo", NAME], ids=["no name", "short", "full"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
async def test_an_image_is_found_and_unpacked(
    images: ImageCache, tmp_path: Path, how: str, name: str, pack: type[bytes]
) -> None:
    image = await images.unpacked(stored(Image([pack(disk(b"hello"))]), tmp_path, how), name)
    assert content(image.disk()) == b"hello"
    assert image.disk() == image.disk("/disk/demo.img") == image.file("disk/demo.img")
    assert image.disk().stat().st_mode & 0o777 == 0o444


@pytest.mark.parametrize("name", ["", "kubevirt/demo"])
async def test_an_image_from_docker_is_found_and_unpacked(
    images: ImageCache, tmp_path: Path, name: str
) -> None:
    archive = Image([disk(b"hello"), layer(("a", b"1"))]).docker_archive(tmp_path / "image.tar")
    image = await images.unpacked(DockerArchive(archive), name)
    assert tree(image) == {"disk/demo.img": b"hello", "a": b"1"}


@pytest.mark.skipif(not shutil.which("zstd"), reason="no zstd: install zstd")
async def test_a_layer_in_zstd_is_unpacked(images: ImageCache, tmp_path: Path) -> None:
    image = await unpacked(images, tmp_path, zstd(disk(bytes(4 * MIB) + b"end")))
    assert content(image.disk()) == bytes(4 * MIB) + b"end"


def zstd(data: bytes) -> bytes:
    return subprocess.run(
        ["zstd", "-q", "-c"], input=data, capture_output=True, check=True, timeout=30
    ).stdout


async def test_gzip_in_several_members_is_one_layer(images: ImageCache, tmp_path: Path) -> None:
    data = disk(os.urandom(3 * MIB))
    packed = b"".join(gzip.compress(data[at : at + MIB]) for at in range(0, len(data), MIB))
    image = await unpacked(images, tmp_path, packed + bytes(512))
    assert len(content(image.disk())) == 3 * MIB


async def test_a_second_asker_finds_what_the_first_unpacked(
    images: ImageCache, tmp_path: Path
) -> None:
    source = stored(Image([disk()]), tmp_path, "archive")
    first = (await images.unpacked(source, NAME)).disk()
    inode = first.stat().st_ino
    assert (await images.unpacked(source, NAME)).disk().stat().st_ino == inode
    found = images.find(Image([disk()]).digest)
    assert found is not None
    assert found.disk() == first
    assert images.find(digest(b"something else")) is None


async def test_many_askers_at_once_unpack_once(tmp_path: Path, clock: Clock) -> None:
    source = Image([gzip.compress(disk(os.urandom(8 * MIB)), 1)])
    archive = source.archive(tmp_path / "image.tar")
    fetched: list[str] = []

    class Counting(OciArchive):
        async def fetch(self, layer: Descriptor, image: Resolved, progress: Progress) -> Blob:
            fetched.append(layer.digest)
            return await super().fetch(layer, image, progress)

    caches = [ImageCache(tmp_path / "cache", clock) for _ in range(6)]
    found = await asyncio.gather(*(each.unpacked(Counting(archive), NAME) for each in caches))
    assert len({each.disk() for each in found}) == 1
    assert len(fetched) == 1
    assert list_of(tmp_path / "cache" / "work") == []


def list_of(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


async def test_processes_share_a_cache(tmp_path: Path, clock: Clock) -> None:
    archive = Image([gzip.compress(disk(os.urandom(8 * MIB)), 1)]).archive(tmp_path / "image.tar")
    script = f"""
import asyncio
from kubevirt.base.clock import SystemClock
from kubevirt.host.oci.cache import ImageCache
from kubevirt.host.oci.layout import OciArchive
cache = ImageCache({str(tmp_path / "cache")!r}, SystemClock())
print(asyncio.run(cache.unpacked(OciArchive({str(archive)!r}))).disk().stat().st_ino)
"""
    runs = [
        await asyncio.create_subprocess_exec(
            sys.executable, "-c", script, stdout=asyncio.subprocess.PIPE
        )
        for _ in range(4)
    ]
    said = [(await run.communicate())[0].strip() for run in runs]
    assert len(set(said)) == 1
    assert said[0]


async def test_what_somebody_left_half_done_is_cleared_away(
    images: ImageCache, tmp_path: Path
) -> None:
    image = Image([disk()])
    left = tmp_path / "cache" / "work" / image.digest.replace(":", "-")
    make_left_over(left)
    await images.unpacked(OciArchive(image.archive(tmp_path / "image.tar")), NAME)
    assert list_of(left.parent) == []


def make_left_over(folder: Path) -> None:
    (folder / "files" / "disk").mkdir(parents=True)
    (folder / "files" / "disk" / "half.img").write_text("half")


async def test_who_no_longer_waits_leaves_nothing(tmp_path: Path, clock: Clock) -> None:
    archive = Image([gzip.compress(disk(bytes(256 * MIB)), 1)]).archive(tmp_path / "image.tar")
    images = ImageCache(tmp_path / "cache", clock)
    waiting = asyncio.ensure_future(images.unpacked(OciArchive(archive), NAME))
    work = tmp_path / "cache" / "work"
    await until(lambda: work.is_dir() and bool(list(work.rglob("demo.img"))))
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert list_of(work) == []
    assert list_of(tmp_path / "cache" / "images") == []


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110  # a file system has no event to wait for
            await asyncio.sleep(0.001)


async def test_somebody_else_can_read_an_image_whatever_our_umask(
    images: ImageCache, tmp_path: Path
) -> None:
    before = os.umask(0o077)
    try:
        image = await unpacked(images, tmp_path, disk())
    finally:
        os.umask(before)
    below = (tmp_path / "cache", *image.disk().relative_to(tmp_path / "cache").parents)
    folders = {tmp_path / "cache" / each for each in below}
    assert {each.stat().st_mode & 0o777 for each in folders} == {0o755}
    assert image.disk().stat().st_mode & 0o777 == 0o444


async def test_an_image_reaches_the_disk_before_it_has_its_name(
    images: ImageCache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []

    def fsync(fd: int) -> None:
        path = str(Path(f"/proc/self/fd/{fd}").readlink())
        assert "/work/" in path, "later would be too late"
        synced.append(path.rpartition("/files")[2])

    monkeypatch.setattr(os, "fsync", fsync)
    await unpacked(images, tmp_path, disk())
    assert sorted(synced) == ["", "/disk", "/disk/demo.img"]


async def test_progress_is_told_over_all_layers(images: ImageCache, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    image = Image([disk(), layer(("a", b"1"))])
    total = sum(map(len, image.layers))
    source = OciFolder(image.folder(tmp_path / "layout"))
    await images.unpacked(source, NAME, progress=lambda done, of: told.append((done, of)))
    assert told == [(len(image.layers[0]), total), (total, total)]


async def test_a_later_layer_lies_over_the_earlier_ones(images: ImageCache, tmp_path: Path) -> None:
    image = await unpacked(
        images,
        tmp_path,
        layer(("disk/old.img", b"old"), ("etc/a", b"a1"), ("etc/b", b"b1"), ("gone/x", b"x")),
        layer(("disk/.wh.old.img", b""), ("disk/new.img", b"new"), ("etc/a", b"a2")),
        gzip.compress(layer((".wh.gone", b""))),
    )
    assert tree(image) == {"disk/new.img": b"new", "etc/a": b"a2", "etc/b": b"b1"}
    assert content(image.disk()) == b"new"


async def test_an_opaque_folder_hides_what_lay_below_and_not_what_came_with_it(
    images: ImageCache, tmp_path: Path
) -> None:
    image = await unpacked(
        images,
        tmp_path,
        layer(("disk/a", b"1"), ("disk/sub/b", b"1"), ("keep", b"1")),
        layer(("disk/before", b"2"), ("disk/.wh..wh..opq", b""), ("disk/sub/after", b"2")),
    )
    assert tree(image) == {"disk/before": b"2", "disk/sub/after": b"2", "keep": b"1"}


async def test_files_and_folders_take_each_others_place(images: ImageCache, tmp_path: Path) -> None:
    folder = entry("a/b", kind=tarfile.DIRTYPE)
    image = await unpacked(
        images,
        tmp_path,
        layer(("a", b"file"), ("c/d/e", b"deep")),
        layer(folder, ("c", b"file")),
        layer(("a/b/c", b"inside")),
    )
    assert tree(image) == {"a/b/c": b"inside", "c": b"file"}


async def test_a_hard_link_inside_the_image_is_the_same_file(
    images: ImageCache, tmp_path: Path
) -> None:
    link = entry("disk/demo.img", kind=tarfile.LNKTYPE, link="./data/real.img")
    image = await unpacked(images, tmp_path, layer(("data/real.img", b"data")), layer(link))
    assert image.disk().stat().st_ino == image.file("data/real.img").stat().st_ino


async def test_zeros_become_holes(images: ImageCache, tmp_path: Path) -> None:
    data = bytes(32 * MIB) + b"middle" + bytes(32 * MIB)
    image = await unpacked(images, tmp_path, gzip.compress(disk(data), 1))
    assert content(image.disk()) == data
    assert image.disk().stat().st_blocks * 512 <= 256 * 1024


@pytest.mark.parametrize("dialect", ["gnu", "posix"])
async def test_a_sparse_file_of_tar_keeps_its_holes(
    images: ImageCache, tmp_path: Path, dialect: str
) -> None:
    packed = sparse_layer(tmp_path, dialect)
    assert len(packed) < MIB
    image = await unpacked(images, tmp_path, packed)
    path = image.disk()
    assert path.stat().st_size == 1 << 30
    assert path.stat().st_blocks * 512 <= MIB
    with path.open("rb") as file:
        assert [part(file, at) for at in (0, 100 * MIB, (1 << 30) - 5)] == [
            b"first",
            b"inner",
            bytes(5),
        ]


def part(file: IO[bytes], at: int) -> bytes:
    file.seek(at)
    return file.read(5)


def sparse_layer(folder: Path, dialect: str) -> bytes:
    source = folder / "root" / "disk"
    source.mkdir(parents=True)
    with (source / "demo.img").open("wb") as file:
        file.write(b"first")
        file.seek(100 * MIB)
        file.write(b"inner")
        file.truncate(1 << 30)
    command = ["tar", "--sparse", f"--format={dialect}", "-C", str(source.parent), "-c", "disk"]
    return subprocess.run(command, capture_output=True, check=True, timeout=50).stdout


async def test_the_image_for_this_machine_is_taken(tmp_path: Path, clock: Clock) -> None:
    ours, theirs = Image([disk(b"ours")]), Image([disk(b"theirs")])
    index, blobs = multi_platform([(theirs, "vax"), (ours, "pdp11")])
    whole = Image([disk()])
    whole.blobs |= blobs
    whole.descriptor = whole.put(index, "application/vnd.oci.image.index.v1+json")
    source = OciFolder(whole.folder(tmp_path / "layout"))
    cache = tmp_path / "cache"
    pdp11 = ImageCache(cache, clock, platform=Platform(architecture="pdp11", os="linux"))
    assert content((await pdp11.unpacked(source, NAME)).disk()) == b"ours"
    cray = ImageCache(cache, clock, platform=Platform(architecture="cray", os="linux"))
    with pytest.raises(
        ContainerImageError, match=r"not made for linux/cray; it has 'linux/pdp11, linux/vax'"
    ):
        await cray.unpacked(source, NAME)


async def test_an_image_is_found_by_its_digest(images: ImageCache, tmp_path: Path) -> None:
    image = Image([disk()])
    source = OciFolder(image.folder(tmp_path / "layout"))
    found = await images.unpacked(source, f"kubevirt/demo@{image.digest}")
    assert found.digest == image.digest


async def test_images_of_one_tag_are_told_apart_by_their_full_names(
    images: ImageCache, tmp_path: Path
) -> None:
    """As `docker save` writes two of them."""
    one, other = Image([disk(b"one")]), Image([disk(b"other")])
    entries = [
        {
            **image.descriptor,
            "annotations": {
                "io.containerd.image.name": f"docker.io/kubevirt/{name}:latest",
                "org.opencontainers.image.ref.name": "latest",
            },
        }
        for image, name in ((one, "one"), (other, "other"))
    ]
    one.blobs |= other.blobs
    folder = one.folder(tmp_path / "layout")
    write(folder / "index.json", json.dumps({"manifests": entries}).encode())
    for name in ("one", "other"):
        image = await images.unpacked(OciFolder(folder), f"kubevirt/{name}")
        assert content(image.disk()) == name.encode()
    with pytest.raises(ContainerImageError, match="holds several images; say which one"):
        await images.unpacked(OciFolder(folder))


async def test_an_image_known_by_its_tag_only_is_found(images: ImageCache, tmp_path: Path) -> None:
    image = Image([disk()])
    folder = image.folder(tmp_path / "layout")
    write(folder / "index.json", image.index("v1.2"))
    assert (await images.unpacked(OciFolder(folder), "kubevirt/demo:v1.2")).digest == image.digest
    with pytest.raises(ContainerImageError, match="holds no image"):
        await images.unpacked(OciFolder(folder), "kubevirt/demo:v1.3")


@pytest.mark.parametrize(
    ("name", "full"),
    [
        ("demo", "docker.io/library/demo:latest"),
        ("kubevirt/demo:v1", "docker.io/kubevirt/demo:v1"),
        ("localhost/demo", "localhost/demo:latest"),
        ("registry:5000/kubevirt/demo", "registry:5000/kubevirt/demo:latest"),
        (f"quay.io/a/b@sha256:{'0' * 64}", f"quay.io/a/b@sha256:{'0' * 64}"),
        (f"quay.io/a/b:c@sha256:{'0' * 64}", f"quay.io/a/b:c@sha256:{'0' * 64}"),
    ],
)
def test_short_names_mean_what_they_mean_everywhere(name: str, full: str) -> None:
    assert str(Reference.parse(name)) == full


@pytest.mark.parametrize(
    "name", ["demo:", "a:b:c", "demo@", "demo@sha256:", "/demo", "a//b", "Demo", "-a/b", "a/b:-c"]
)
def test_a_name_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(ContainerImageError, match="names no image"):
        Reference.parse(name)


async def test_the_guests_own_archives_are_container_disks(
    images: ImageCache, tmp_path: Path
) -> None:
    archives = sorted(Path.home().glob(".cache/kubevirt-py/guest/image/*/cirros.tar"))
    if not archives:
        pytest.skip("no guest yet: make guest-image")
    name = "quay.io/kubevirt/cirros-container-disk-demo:latest"
    image = await images.unpacked(OciArchive(archives[0]), name)
    assert content(image.disk()).startswith(b"QFI\xfb")


async def test_a_docker_archive_of_several_images_must_be_asked_by_name(
    images: ImageCache, tmp_path: Path
) -> None:
    path = tmp_path / "image.tar"
    members = docker_members(Image([disk()]).docker_archive(path))
    manifest = json.loads(members["manifest.json"])
    members["manifest.json"] = json.dumps(manifest * 2).encode()
    write(path, layer(*members.items()))
    with pytest.raises(ContainerImageError, match="holds 2 images; say which one"):
        await images.unpacked(DockerArchive(path))
    image = await images.unpacked(DockerArchive(path), "kubevirt/demo")
    assert content(image.disk()) == b"the disk"


def docker_members(path: Path) -> dict[str, bytes]:
    with tarfile.open(path) as archive:
        return {each.name: file.read() for each in archive if (file := archive.extractfile(each))}


def write(path: Path, data: bytes) -> None:
    path.write_bytes(data)
