"""Images that are missing, cut short, changed or made to harm: one sentence each, and nothing left."""

import gzip
import json
import os
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.component.host.images import NAME, Image, digest, disk, entry, layer, sparse

from kubevirt.base.clock import Clock
from kubevirt.base.errors import KubevirtError
from kubevirt.host.oci.cache import ImageCache
from kubevirt.host.oci.docker_archive import DockerArchive
from kubevirt.host.oci.errors import CacheError, ContainerImageError
from kubevirt.host.oci.layout import OciArchive, OciFolder
from kubevirt.host.oci.limits import UnpackLimits
from kubevirt.host.oci.source import Source
from kubevirt.host.oci.tar import HEADER_LIMIT

MIB = 1 << 20
TIGHT = UnpackLimits(
    packed_bytes=64 * MIB,
    unpacked_bytes=16 * MIB,
    entries=100,
    depth=4,
    ratio=50,
    unpacked_freely=4 * MIB,
)


class Gate:
    """A cache with tight limits in a folder beside which nothing may change."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        self.folder = folder
        self.victim = folder / "victim"
        self.victim.write_text("untouched")
        self.clock = clock

    def cache(self, limits: UnpackLimits = TIGHT) -> ImageCache:
        return ImageCache(self.folder / "cache", self.clock, limits=limits)

    async def refuses(self, source: Source, name: str = NAME) -> str:
        with pytest.raises(ContainerImageError) as caught:
            await self.cache().unpacked(source, name)
        said = str(caught.value)
        assert "\n" not in said
        assert len(said) < 600
        self.check_nothing_left()
        return said

    async def refuses_layers(self, *layers: bytes) -> str:
        return await self.refuses(OciArchive(Image(layers).archive(self.folder / "image.tar")))

    def check_nothing_left(self) -> None:
        assert self.victim.read_text() == "untouched"
        assert self.victim.stat().st_nlink == 1
        for kind in ("images", "work"):
            folder = self.folder / "cache" / kind
            assert not folder.exists() or not list(folder.iterdir())


@pytest.fixture
def gate(tmp_path: Path, clock: Clock) -> Gate:
    return Gate(tmp_path, clock)


# Missing, cut short, changed.


async def test_no_archive(gate: Gate) -> None:
    said = await gate.refuses(OciArchive(gate.folder / "none.tar"))
    assert said == f"there is no image archive at {gate.folder}/none.tar"


async def test_no_folder(gate: Gate) -> None:
    said = await gate.refuses(OciFolder(gate.folder / "none"))
    assert said.endswith("is no OCI image layout: it has no index.json")


async def test_no_image_of_that_name(gate: Gate) -> None:
    source = OciArchive(Image([disk()]).archive(gate.folder / "image.tar"))
    said = await gate.refuses(source, "kubevirt/other")
    assert said.endswith("holds no image docker.io/kubevirt/other:latest")


@pytest.mark.parametrize("name", ["", "UPPER", "a b", "a/../b", "x" * 600, "a@sha256:12", "h:/x"])
async def test_a_name_that_names_nothing(gate: Gate, name: str) -> None:
    source = OciArchive(Image([disk()]).archive(gate.folder / "image.tar"))
    if name:
        assert "names no image" in await gate.refuses(source, name)


@pytest.mark.parametrize("which", ["manifest", "layer"])
async def test_a_blob_that_is_missing(gate: Gate, which: str) -> None:
    image = Image([disk()])
    lost = digest(image.manifest if which == "manifest" else image.layers[0])
    del image.blobs[lost]
    for source in (
        OciFolder(image.folder(gate.folder / "layout")),
        OciArchive(image.archive(gate.folder / "image.tar")),
    ):
        assert f"is not whole: blob {lost} is missing" in await gate.refuses(source)


@pytest.mark.parametrize("which", ["manifest", "layer"])
async def test_a_blob_that_was_changed(gate: Gate, which: str) -> None:
    image = Image([disk(b"good")])
    was = image.manifest if which == "manifest" else image.layers[0]
    image.blobs[digest(was)] = was.replace(b"good", b"evil").replace(b"2", b"3", 1)
    said = await gate.refuses(OciFolder(image.folder(gate.folder / "layout")))
    assert "does not match its digest" in said


async def test_a_docker_archive_whose_layer_was_changed(gate: Gate) -> None:
    image = Image([disk(b"good")])
    image.layers = [disk(b"evil")]
    source = DockerArchive(image.docker_archive(gate.folder / "image.tar"))
    assert "does not match its digest" in await gate.refuses(source)


async def test_a_blob_that_is_cut_short(gate: Gate) -> None:
    image = Image([disk()])
    image.blobs[digest(image.layers[0])] = image.layers[0][:700]
    said = await gate.refuses(OciFolder(image.folder(gate.folder / "layout")))
    assert f"has 700 bytes instead of {len(image.layers[0])}" in said


@pytest.mark.parametrize("length", [0, 100, 2000, 9000])
async def test_an_archive_that_is_cut_short(gate: Gate, length: int) -> None:
    path = Image([disk(bytes(8000))]).archive(gate.folder / "image.tar")
    os.truncate(path, length)
    assert str(path) in await gate.refuses(OciArchive(path))


async def test_a_layer_that_is_cut_short_but_has_its_digest(gate: Gate) -> None:
    packed = gzip.compress(disk(os.urandom(20_000)))
    assert "a layer is cut short" in await gate.refuses_layers(packed[:10_000])
    assert "ends in the middle of a file" in await gate.refuses_layers(disk(bytes(9000))[:5000])


async def test_a_layer_of_garbage(gate: Gate) -> None:
    assert "is no whole tar file" in await gate.refuses_layers(os.urandom(5000))
    assert "cannot be unpacked" in await gate.refuses_layers(b"\x1f\x8b" + os.urandom(5000))


@pytest.mark.parametrize(
    "document",
    [
        b"",
        b"[]",
        b"{",
        b'{"manifests": [{"digest": "sha256:../../etc/passwd", "size": 1}]}',
        b'{"manifests": [{"digest": "md5:0", "size": 1}]}',
        b'{"manifests": [{"digest": 1, "size": -1}]}',
        b'{"manifests": ' + b"[" * 100_000 + b"}",
        b'{"manifests": []}',
    ],
)
async def test_an_index_that_is_none(gate: Gate, document: bytes) -> None:
    image = Image([disk()])
    folder = image.folder(gate.folder / "layout")
    write(folder / "index.json", document)
    await gate.refuses(OciFolder(folder))


def write(path: Path, data: bytes) -> None:
    path.write_bytes(data)


async def test_an_index_that_leads_to_itself(gate: Gate) -> None:
    image = Image([disk()])
    for _ in range(8):
        index = json.dumps({"manifests": [image.descriptor]}).encode()
        image.descriptor = image.put(index, "application/vnd.oci.image.index.v1+json")
    said = await gate.refuses(OciFolder(image.folder(gate.folder / "layout")))
    assert "its indexes lead on and on" in said


async def test_encrypted_layers(gate: Gate) -> None:
    image = Image([disk()])
    manifest = json.loads(image.manifest)
    manifest["layers"][0]["mediaType"] += "+encrypted"
    image.descriptor = image.put(json.dumps(manifest).encode(), manifest["mediaType"])
    said = await gate.refuses(OciFolder(image.folder(gate.folder / "layout")))
    assert "encrypted layers" in said


# Made to harm.


@pytest.mark.parametrize(
    "name", ["../victim", "disk/../../victim", "disk/..", "/../../victim", "a/b/c/d/e/f", "n" * 256]
)
async def test_a_name_that_leads_out(gate: Gate, name: str) -> None:
    said = await gate.refuses_layers(layer((name, b"evil")))
    assert "which leads out of it or is too deep" in said


async def test_a_whiteout_that_leads_out(gate: Gate) -> None:
    said = await gate.refuses_layers(layer(("disk/.wh...", b"")), layer((".wh...", b"")))
    assert "which leads out of it" in said


async def test_an_absolute_name_stays_inside(gate: Gate) -> None:
    path = Image([layer(("/disk/demo.img", b"inside"))]).archive(gate.folder / "image.tar")
    image = await gate.cache().unpacked(OciArchive(path), NAME)
    assert image.disk() == image.folder / "disk" / "demo.img"


async def test_a_file_written_through_a_link_stays_inside(gate: Gate) -> None:
    """The link is left out, so its name becomes a folder of the image."""
    link = entry("disk", kind=tarfile.SYMTYPE, link=str(gate.folder))
    path = Image([layer(link, ("disk/victim", b"evil"))]).archive(gate.folder / "image.tar")
    image = await gate.cache().unpacked(OciArchive(path), NAME)
    assert content(image.disk()) == b"evil"
    assert content(gate.victim) == b"untouched"
    assert image.disk().is_relative_to(gate.folder / "cache")


def content(path: Path) -> bytes:
    return path.read_bytes()


@pytest.mark.parametrize("target", ["../../victim", "/etc/passwd", "none", "disk"])
async def test_a_hard_link_that_leads_out(gate: Gate, target: str) -> None:
    folder = entry("disk", kind=tarfile.DIRTYPE)
    link = entry("disk/demo.img", kind=tarfile.LNKTYPE, link=target)
    said = await gate.refuses_layers(layer(folder, link))
    assert "no file of the image" in said or "leads out of it" in said


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE]
)
async def test_a_disk_that_is_no_plain_file(gate: Gate, kind: bytes) -> None:
    special = entry("disk/demo.img", kind=kind, link="/etc/passwd")
    path = Image([layer(entry("disk", kind=tarfile.DIRTYPE), special)]).archive(
        gate.folder / "image.tar"
    )
    image = await gate.cache().unpacked(OciArchive(path), NAME)
    with pytest.raises(ContainerImageError, match="/disk holds 0 files instead of one"):
        image.disk()
    assert files_in(image.folder) == [], "neither links nor devices reach the disk"


def files_in(folder: Path) -> list[Path]:
    return [each for each in folder.rglob("*") if each.is_symlink() or not each.is_dir()]


async def test_a_path_from_the_manifest_that_leads_out(gate: Gate) -> None:
    layers = [layer(("disk/a", b"1"), ("disk/b", b"2"))]
    path = Image(layers).archive(gate.folder / "image.tar")
    image = await gate.cache().unpacked(OciArchive(path), NAME)
    for outside in ("../../../victim", "/disk/../../../victim", "disk", "/", "a\0b", "none"):
        with pytest.raises(ContainerImageError, match=r"no plain file inside|has no file"):
            image.disk(outside)
    with pytest.raises(ContainerImageError, match="holds 2 files instead of one; set the path"):
        image.disk()
    assert content(image.disk("/disk/b")) == b"2"


async def test_an_image_without_a_disk(gate: Gate) -> None:
    for wrong in (layer(("boot/vmlinuz", b"1")), layer(("disk", b"a file"))):
        path = Image([wrong]).archive(gate.folder / "image.tar")
        image = await gate.cache().unpacked(OciArchive(path), NAME)
        with pytest.raises(ContainerImageError, match="it has no folder /disk; set the path"):
            image.disk()


# Made to cost.


async def test_more_files_than_allowed(gate: Gate) -> None:
    many = layer(*((f"disk/{number}", b"") for number in range(101)))
    assert "more than 100 entries" in await gate.refuses_layers(many)
    halves = (layer(*((f"{at}/{n}", b"") for n in range(60))) for at in "ab")
    assert "more than 100 entries" in await gate.refuses_layers(*halves)


async def test_a_gzip_bomb(gate: Gate) -> None:
    bomb = gzip.compress(disk(bytes(15 * MIB)))
    assert len(bomb) * 50 < 15 * MIB
    assert "more than 50 times its size" in await gate.refuses_layers(bomb)


async def test_a_gzip_bomb_in_a_header(gate: Gate) -> None:
    """Python's reader would take the whole header into memory."""
    huge = entry("header", kind=tarfile.XHDTYPE, size=HEADER_LIMIT + 512)
    data = huge.tobuf(tarfile.GNU_FORMAT) + bytes(HEADER_LIMIT + 1024)
    assert "longer than any honest one" in await gate.refuses_layers(gzip.compress(data))


async def test_headers_without_end(gate: Gate) -> None:
    """A sparse file whose map goes on and on."""
    head = bytearray(entry("disk/demo.img", kind=tarfile.GNUTYPE_SPARSE).tobuf(tarfile.GNU_FORMAT))
    head[482] = 1
    head[148:156] = b"%06o\0 " % (sum(head[:148]) + sum(head[156:512]) + 8 * 32)
    more = bytes(504) + b"\1" + bytes(7)
    assert "longer than any honest one" in await gate.refuses_layers(bytes(head) + more * 10_000)


@pytest.mark.skipif(not shutil.which("zstd"), reason="no zstd: install zstd")
async def test_a_zstd_bomb(gate: Gate) -> None:
    packed = packed_by_zstd(disk(bytes(64 * MIB)))
    assert len(packed) < 20_000
    said = await gate.refuses_layers(packed)
    assert "a layer cannot be unpacked (zstd " in said


def packed_by_zstd(data: bytes) -> bytes:
    done = subprocess.run(["zstd", "-q"], input=data, capture_output=True, check=True, timeout=30)
    return done.stdout


@pytest.mark.skipif(not shutil.which("zstd"), reason="no zstd: install zstd")
async def test_zstd_that_was_changed_is_not_even_unpacked(gate: Gate) -> None:
    image = Image([packed_by_zstd(disk(b"good"))])
    was = image.layers[0]
    image.blobs[digest(was)] = was[:-1] + b"?"
    said = await gate.refuses(OciFolder(image.folder(gate.folder / "layout")))
    assert "does not match its digest" in said


async def test_more_bytes_than_allowed_although_they_are_holes(gate: Gate) -> None:
    said = await gate.refuses_layers(sparse(1 << 50))
    assert "its files have more than 16777216 bytes" in said


@pytest.mark.parametrize("where", ["5,1,0,1", "0,-1", "0,99"])
async def test_a_map_of_holes_that_is_wrong(gate: Gate, where: str) -> None:
    await gate.refuses_layers(sparse(4096).replace(b"map=0,1", f"map={where}".encode()))


async def test_an_image_larger_than_allowed_is_not_even_read(gate: Gate) -> None:
    image = Image([disk()])
    manifest = json.loads(image.manifest)
    manifest["layers"][0]["size"] = 1 << 40
    image.descriptor = image.put(json.dumps(manifest).encode(), manifest["mediaType"])
    said = await gate.refuses(OciFolder(image.folder(gate.folder / "layout")))
    assert "1099511627776 bytes; 67108864 are the most" in said


async def test_unpacking_that_takes_too_long_is_ended(gate: Gate) -> None:
    limits = UnpackLimits(timeout_s=0.05)
    layers = [gzip.compress(disk(bytes(512 * MIB)), 1)]
    path = Image(layers).archive(gate.folder / "image.tar")
    with pytest.raises(ContainerImageError, match=r"not unpacked within 0\.05 s"):
        await gate.cache(limits).unpacked(OciArchive(path), NAME)
    gate.check_nothing_left()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: a small file system is mounted")
async def test_a_full_disk_says_so_and_leaves_nothing(gate: Gate) -> None:
    cache = gate.folder / "cache"
    cache.mkdir()
    mount("-t", "tmpfs", "-o", "size=4m", "tmpfs", str(cache))
    try:
        path = Image([disk(os.urandom(8 * MIB))]).archive(gate.folder / "image.tar")
        with pytest.raises(CacheError, match="No space left on device; make room there"):
            await gate.cache().unpacked(OciArchive(path), NAME)
        gate.check_nothing_left()
    finally:
        subprocess_run("umount", str(cache))


def mount(*args: str) -> None:
    subprocess_run("mount", *args)


def subprocess_run(*command: str) -> None:
    subprocess.run(command, check=True, timeout=20)


# Whatever comes.

NAMES = st.lists(
    st.sampled_from(
        ["disk", "a", "..", ".", "", ".wh.a", ".wh.disk", ".wh..wh..opq", ".wh...", "/"]
    ),
    min_size=1,
    max_size=5,
).map("/".join)
KINDS = st.sampled_from(
    [tarfile.REGTYPE, tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE]
)
ENTRIES = st.builds(lambda name, kind, link: entry(name, kind=kind, link=link), NAMES, KINDS, NAMES)
LAYERS = st.lists(
    st.lists(ENTRIES, max_size=8).map(lambda items: layer(*items)), min_size=1, max_size=4
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(layers=LAYERS, damage=st.none() | st.tuples(st.integers(0, 4000), st.binary(max_size=8)))
async def test_no_image_reaches_outside_its_folder(gate: Gate, layers: Any, damage: Any) -> None:
    if damage:
        at, data = damage
        layers = [each[:at] + data + each[at + len(data) :] for each in layers]
    path = Image(layers).archive(gate.folder / "image.tar")
    remove(gate.folder / "cache")
    try:
        image = await gate.cache().unpacked(OciArchive(path), NAME)
    except KubevirtError:
        gate.check_nothing_left()
        return
    assert content(gate.victim) == b"untouched"
    assert all(each.is_file() and not each.is_symlink() for each in files_in(image.folder))
    assert sorted(each.name for each in entries_of(gate.folder)) == ["cache", "image.tar", "victim"]


def remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


def entries_of(folder: Path) -> list[Path]:
    return list(folder.iterdir())
