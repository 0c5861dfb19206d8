"""Roots of images: as their layers say, and never anything outside of them."""

import asyncio
import contextlib
import os
import stat
import tarfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.component.host.images import NAME, Image, digest, entry, layer

from kubevirt.base.clock import Clock
from kubevirt.base.errors import KubevirtError
from kubevirt.host.oci.docker_archive import DockerArchive
from kubevirt.host.oci.errors import ContainerImageError
from kubevirt.host.oci.layout import OciArchive
from kubevirt.host.oci.limits import UnpackLimits
from kubevirt.host.oci.roots import RootCache, config_of, root_of

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="owners of files are given by root")

MIB = 1 << 20
TIGHT = UnpackLimits(
    packed_bytes=64 * MIB,
    unpacked_bytes=16 * MIB,
    entries=200,
    depth=8,
    ratio=50,
    unpacked_freely=4 * MIB,
    timeout_s=60,
)

Item = tuple[str, bytes] | tarfile.TarInfo


class World:
    def __init__(self, folder: Path, clock: Clock) -> None:
        self.folder = folder
        self.victim = folder / "victim"
        self.victim.mkdir()
        (self.victim / "file").write_text("untouched")
        self.cache = RootCache(folder / "cache", clock, limits=TIGHT)

    async def root(self, *layers: Sequence[Item]) -> Path:
        image = Image([layer(*items) for items in layers])
        source = OciArchive(image.archive(self.folder / "image.tar"))
        return root_of(await self.cache.unpacked(source, NAME))

    async def refused(self, *layers: Sequence[Item]) -> str:
        with pytest.raises(ContainerImageError) as caught:
            await self.root(*layers)
        self.check_nothing_left()
        assert "\n" not in str(caught.value)
        return str(caught.value)

    def check_nothing_left(self) -> None:
        assert [each.name for each in self.victim.iterdir()] == ["file"]
        assert (self.victim / "file").read_text() == "untouched"
        assert (self.victim / "file").stat().st_nlink == 1
        for kind in ("images", "work"):
            folder = self.folder / "cache" / kind
            assert not folder.exists() or not list(folder.iterdir())


@pytest.fixture
def world(tmp_path: Path, clock: Clock) -> World:
    return World(tmp_path, clock)


def link(name: str, target: str) -> tarfile.TarInfo:
    return entry(name, kind=tarfile.SYMTYPE, link=target)


def other_name(name: str, target: str) -> tarfile.TarInfo:
    return entry(name, kind=tarfile.LNKTYPE, link=target)


def folder(name: str, mode: int = 0o755) -> tarfile.TarInfo:
    info = entry(name, kind=tarfile.DIRTYPE)
    info.mode = mode
    return info


def owned(info: tarfile.TarInfo, uid: int, gid: int, mode: int = 0o644) -> tarfile.TarInfo:
    info.uid, info.gid, info.mode = uid, gid, mode
    return info


def tree(root: Path) -> list[str]:
    return sorted(str(each.relative_to(root)) for each in root.rglob("*"))


async def test_links_owners_and_modes_are_the_images(world: World) -> None:
    root = await world.root(
        [
            folder("bin"),
            owned(entry("bin/su"), 0, 0, 0o4755),
            link("sh", "/bin/su"),
            other_name("bin/again", "bin/su"),
            folder("tmp", 0o1777),
            owned(entry("home/me/mine"), 1000, 2000, 0o600),
            entry("run/pipe", kind=tarfile.FIFOTYPE),
        ]
    )

    assert stat.S_IMODE((root / "bin/su").stat().st_mode) == 0o4755
    assert (root / "sh").readlink() == Path("/bin/su")
    assert (root / "bin/again").stat().st_ino == (root / "bin/su").stat().st_ino
    assert stat.S_IMODE((root / "tmp").stat().st_mode) == 0o1777
    mine = (root / "home/me/mine").stat()
    assert (mine.st_uid, mine.st_gid, stat.S_IMODE(mine.st_mode)) == (1000, 2000, 0o600)
    assert (root / "run/pipe").is_fifo()
    assert stat.S_IMODE((world.folder / "cache").stat().st_mode) == 0o700


async def test_a_later_layer_goes_through_the_links_of_an_earlier_one(world: World) -> None:
    root = await world.root(
        [folder("usr/lib"), link("lib", "usr/lib"), link("opt", "/usr/lib")],
        [("lib/one", b"1"), ("opt/two", b"2")],
    )

    assert tree(root) == ["lib", "opt", "usr", "usr/lib", "usr/lib/one", "usr/lib/two"]


async def test_later_layers_hide_and_replace(world: World) -> None:
    root = await world.root(
        [("a/old", b""), ("a/kept", b""), ("b/old", b""), ("c", b""), folder("d"), ("d/x", b"")],
        [
            ("a/.wh.old", b""),
            ("b/new", b""),
            ("b/.wh..wh..opq", b""),
            folder("c"),
            ("c/now", b""),
            ("d", b"a file"),
        ],
    )

    assert tree(root) == ["a", "a/kept", "b", "b/new", "c", "c/now", "d"]
    assert (root / "d").read_bytes() == b"a file"


async def test_a_link_leads_no_further_than_its_root(world: World) -> None:
    """Up and out is where it would lead inside a container: to the top of the image."""
    root = await world.root(
        [link("up", "../../../../../../../.."), link("away", str(world.victim))],
        [("up/first", b"1")],
    )

    assert (root / "first").read_bytes() == b"1"
    assert [each.name for each in world.victim.iterdir()] == ["file"]


async def test_devices_of_dev_are_left_out(world: World) -> None:
    root = await world.root([entry("dev/null", kind=tarfile.CHRTYPE), ("dev/file", b"")])

    assert tree(root) == ["dev", "dev/file"]


async def test_what_is_hidden_by_a_strange_name_is_nothing(world: World) -> None:
    root = await world.root([("a/b", b""), ("a/.wh.", b"")])

    assert tree(root) == ["a", "a/b"]


@pytest.mark.parametrize(
    "items",
    [
        [("../out", b"")],
        [("a/../../out", b"")],
        [("a/.wh...", b"")],
        [entry("disk", kind=tarfile.BLKTYPE)],
        [entry("etc/null", kind=tarfile.CHRTYPE)],
        [other_name("x", "../victim/file")],
        [other_name("x", "nowhere")],
        [folder("a"), other_name("b", "a")],
        [link("a", "victim"), ("a/x", b"")],
        [link("a", "a"), ("a/x", b"")],
        [("a", b""), ("a/x", b"")],
        [link("dev", "/oldroot/etc")],
        [("proc", b"")],
        [link("sys", "usr")],
        [owned(entry("x"), (1 << 32) - 1, 0)],
        [("/".join("abcdefghijkl"), b"")],
        [(f"f{number}", b"") for number in range(300)],
        [entry("x", kind=b"Z")],
    ],
    ids=range(18),
)
async def test_what_no_honest_image_holds_is_refused_and_leaves_nothing(
    world: World, items: Sequence[Item]
) -> None:
    assert await world.refused([("first", b"")], items)


async def test_a_link_to_a_file_outside_is_not_written_through(world: World) -> None:
    """The name is the image's own, also where the machine has one like it."""
    target = str(world.victim / "file")

    root = await world.root([link("x", target)], [("x", b"changed")])

    assert (root / "x").read_bytes() == b"changed"
    assert (world.victim / "file").read_text() == "untouched"


async def test_an_image_that_is_larger_than_allowed(world: World) -> None:
    assert "more than" in await world.refused([("large", bytes(20 * MIB))])


async def test_a_layer_that_was_changed(world: World) -> None:
    image = Image([layer(("a", b"good"))])
    image.blobs[digest(image.layers[0])] = image.layers[0].replace(b"good", b"evil")
    source = OciArchive(image.archive(world.folder / "image.tar"))

    with pytest.raises(ContainerImageError, match="does not match its digest"):
        await world.cache.unpacked(source, NAME)
    world.check_nothing_left()


async def test_a_configuration_that_was_changed(world: World) -> None:
    image = Image([layer(("a", b""))], run={"User": "good"})
    image.blobs[digest(image.config)] = image.config.replace(b"good", b"evil")
    source = OciArchive(image.archive(world.folder / "image.tar"))

    with pytest.raises(ContainerImageError, match="configuration does not match"):
        await world.cache.unpacked(source, NAME)
    world.check_nothing_left()


@pytest.mark.parametrize("how", ["oci", "docker"])
async def test_the_configuration_comes_with_the_root(world: World, how: str) -> None:
    image = Image([layer(("a", b""))], run={"User": "me"})
    source = (
        OciArchive(image.archive(world.folder / "image.tar"))
        if how == "oci"
        else DockerArchive(image.docker_archive(world.folder / "image.tar"))
    )

    assert config_of(await world.cache.unpacked(source, NAME)) == image.config


async def test_who_asks_at_once_gets_the_same(world: World) -> None:
    found = await asyncio.gather(*(world.root([("a", b"1")]) for _ in range(5)))

    assert len(set(found)) == 1
    assert list((world.folder / "cache" / "work").iterdir()) == []


async def test_modules_of_an_image_are_never_imported(world: World) -> None:
    """The process that unpacks sees the image as its own root, Python's folders included."""
    bad = b"import os; os.mkdir('/imported')"
    names = [f"{place}/{name}.py" for place in _module_folders() for name in ("idna", "cp500")]

    root = await world.root(
        [(name, bad) for name in names],
        [("a\udc80\xe9", b""), ("later", b"")],
    )

    assert not (root / "imported").exists()


def _module_folders() -> list[str]:
    import encodings

    return [str(Path(each).relative_to("/")) for each in encodings.__path__]


NAMES = (
    "a",
    "b",
    "a/b",
    "a/b/c",
    "dev/x",
    "dev",
    ".wh.a",
    "a/.wh..wh..opq",
    "..",
    "a/../b",
    "/a",
    ".",
    "",
)
TARGETS = (*NAMES, "/", "../..", "/oldroot/etc", "/proc/self/root", "a/a", "b")
KINDS = (
    *(tarfile.REGTYPE, tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE),
    *(tarfile.CHRTYPE, tarfile.BLKTYPE, b"Z"),
)


@settings(
    max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(
    layers=st.lists(
        st.lists(
            st.tuples(st.sampled_from(NAMES), st.sampled_from(KINDS), st.sampled_from(TARGETS)),
            max_size=12,
        ),
        min_size=1,
        max_size=3,
    )
)
async def test_whatever_an_image_holds_stays_in_it_or_is_refused(
    world: World, layers: list[list[tuple[str, bytes, str]]]
) -> None:
    packed = [[entry(name, kind=kind, link=link) for name, kind, link in each] for each in layers]

    root = None
    with contextlib.suppress(ContainerImageError):
        root = await world.root(*packed)

    assert not root or not any(stat.S_ISBLK(each.lstat().st_mode) for each in root.rglob("*"))
    assert (world.victim / "file").read_text() == "untouched"
    assert list((world.folder / "cache/work").iterdir()) == []


async def test_a_full_disk_is_told_and_leaves_nothing(tmp_path: Path, clock: Clock) -> None:
    small = tmp_path / "small"
    small.mkdir()
    mounting = await asyncio.create_subprocess_exec(
        *("mount", "-t", "tmpfs", "-o", "size=2m", "none", str(small))
    )
    assert await mounting.wait() == 0
    try:
        source = OciArchive(
            Image([layer(("large", os.urandom(4 * MIB)))]).archive(tmp_path / "image.tar")
        )
        with pytest.raises(KubevirtError, match="No space left on device; make room there"):
            await RootCache(small / "cache", clock, limits=TIGHT).unpacked(source, NAME)
        assert list((small / "cache" / "images").iterdir()) == []
    finally:
        unmounting = await asyncio.create_subprocess_exec("umount", str(small))
        await unmounting.wait()
