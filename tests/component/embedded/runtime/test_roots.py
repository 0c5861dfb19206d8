"""Containers of images: a root of their own to write to, over files that never change."""

import asyncio
import shutil
import signal
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from tests.component.embedded.runtime.containers import IS_ROOT, ONLY_ROOT, ran, said, until

from kubevirt.embedded.runtime.attempt import Attempt
from kubevirt.embedded.runtime.container import Container, Mount, Rights
from kubevirt.embedded.runtime.keeper import Keeper

pytestmark = pytest.mark.skipif(not IS_ROOT, reason=ONLY_ROOT)


@pytest.fixture
def image(tmp_path: Path) -> Iterator[Path]:
    """A name with what has a meaning in options of a mount."""
    busybox = shutil.which("busybox")
    if busybox is None:
        pytest.skip("no busybox: install busybox-static")
    root = tmp_path / "image,with:odd=name"
    (root / "bin").mkdir(parents=True)
    shutil.copy(busybox, root / "bin/busybox")
    for name in ("sh", "cat", "ls", "mount", "rm", "id", "stat", "mkdir", "sleep", "touch"):
        (root / "bin" / name).symlink_to("busybox")
    (root / "etc").mkdir()
    (root / "etc/motd").write_text("from the image")
    (root / "data").mkdir()
    (root / "data").chmod(0o777)
    root.chmod(0o751)
    before = tree(root)
    yield root
    assert tree(root) == before


def tree(root: Path) -> dict[str, bytes | None]:
    return {
        str(each): each.read_bytes() if each.is_file() else None
        for each in sorted(root.rglob("*"))
        if not each.is_symlink()
    }


def of(image: Path, script: str, **more: object) -> Container:
    values = {"environment": {"PATH": "/bin"}, **more}
    return Container(command=["sh", "-c", script], root=str(image), **values)  # type: ignore[arg-type]


def has_mounts(folder: Path) -> bool:
    """Of the machine; what containers have is theirs alone."""
    return str(folder) in Path("/proc/self/mountinfo").read_text()


async def test_a_container_writes_to_its_own_root_and_never_to_the_image(
    attempts: Path, keeper: Keeper, image: Path
) -> None:
    one, other = Attempt(attempts / "0"), Attempt(attempts / "1")

    script = "cat /etc/motd; echo mine > /etc/motd; rm /bin/stat; cat /etc/motd; echo new > /new"
    ending = await ran(one, of(image, script), keeper)
    await ran(other, of(image, "cat /etc/motd; ls /; stat -c %a /"), keeper)

    assert ending.code == 0
    assert said(one) == "from the imagemine"
    assert said(other).split() == [
        *("from", "the", "imagebin", "data", "dev", "etc", "proc", "sys", "751")
    ]
    assert (one.folder / "upper/etc/motd").read_text() == "mine\n"
    assert not has_mounts(attempts)


async def test_a_root_goes_with_its_container(attempts: Path, keeper: Keeper, image: Path) -> None:
    attempt = Attempt(attempts / "0")

    await attempt.start(of(image, "echo here; exec sleep 1000"), keeper)
    await until(lambda: "here" in said(attempt))

    assert not has_mounts(attempts)
    attempt.signal(signal.SIGKILL)
    async with asyncio.timeout(60):
        await attempt.ended()
    await until(lambda: not any((attempt.folder / "root").iterdir()))
    shutil.rmtree(attempt.folder)


async def test_a_root_that_is_read_only_holds_volumes_all_the_same(
    attempts: Path, keeper: Keeper, image: Path, tmp_path: Path
) -> None:
    volume = tmp_path / "volume"
    volume.mkdir()
    attempt = Attempt(attempts / "0")
    mounts = [
        Mount(source=str(volume), target="/made/for/it"),
        Mount(source="/etc/hostname", target="/etc/hostname", is_read_only=True),
    ]

    script = (
        "touch /x; touch /etc/hostname; echo yes > /made/for/it/file; ls /etc; touch /dev/shm/x"
    )
    ending = await ran(attempt, of(image, script, mounts=mounts, is_root_read_only=True), keeper)

    assert ending.code == 0
    assert "touch: /x: Read-only file system" in said(attempt)
    assert "touch: /etc/hostname: Read-only file system" in said(attempt)
    assert (volume / "file").read_text() == "yes\n"


async def test_a_user_of_the_image_has_no_more_rights_than_the_files_give(
    attempts: Path, keeper: Keeper, image: Path
) -> None:
    (image / "etc/motd").chmod(0o600)
    attempt = Attempt(attempts / "0")
    rights = Rights(user=1000, group=1000, capabilities=())

    await ran(attempt, of(image, "cat /etc/motd; touch /data/x; echo $?", rights=rights), keeper)

    assert "Permission denied" in said(attempt)
    assert "0" in said(attempt).splitlines()  # before or after: these are two pipes
    (image / "etc/motd").chmod(0o644)


def is_on_the_machine(name: str) -> bool:
    return Path("/", name).exists() or Path("/etc", name).exists()


@pytest.mark.parametrize("target", ["/oldroot", "/oldroot/etc", "/proc/1/root", "../../../.."])
async def test_a_link_of_an_image_leads_no_mount_to_the_machine(
    attempts: Path, keeper: Keeper, image: Path, tmp_path: Path, target: str
) -> None:
    (image / "way").symlink_to(target)
    volume = tmp_path / "volume"
    volume.mkdir()
    name = f"made-{tmp_path.name}"
    mounts = [Mount(source=str(volume), target=f"/way/{name}/deeper")]
    attempt = Attempt(attempts / "0")

    await ran(attempt, of(image, "true", mounts=mounts), keeper)

    assert not is_on_the_machine(name)
    (image / "way").unlink()


async def test_a_link_that_a_container_left_in_a_volume_leads_no_mount_to_the_machine(
    attempts: Path, keeper: Keeper, tmp_path: Path
) -> None:
    volume, inner = tmp_path / "volume", tmp_path / "inner"
    volume.mkdir()
    inner.mkdir()
    (volume / "way").symlink_to(f"/oldroot{tmp_path}")
    mounts = [
        Mount(source=str(volume), target="/data"),
        Mount(source=str(inner), target="/data/way/new"),
    ]
    attempt = Attempt(attempts / "0")
    container = Container(command=["true"], environment={"PATH": "/bin"}, mounts=mounts)

    ending = await ran(attempt, container, keeper)

    assert ending.code == 125
    assert "cannot mount /data/way/new" in ending.failure
    assert not (tmp_path / "new").exists()


@pytest.fixture
async def layered(tmp_path: Path) -> AsyncIterator[Path]:
    """A folder as containers have it: on an overlay, over which no other one can be laid to write to."""
    for name in ("lower", "upper", "work", "here"):
        (tmp_path / "overlay" / name).mkdir(parents=True)
    top = tmp_path / "overlay"
    folders = f"lowerdir={top}/lower,upperdir={top}/upper,workdir={top}/work"
    await done("mount", "-t", "overlay", "-o", folders, "none", str(top / "here"))
    yield top / "here"
    await done("umount", str(top / "here"))


async def done(*words: str) -> None:
    program = await asyncio.create_subprocess_exec(*words)
    assert await program.wait() == 0


async def test_where_no_layer_can_be_laid_it_is_laid_in_memory(
    layered: Path, keeper: Keeper, image: Path
) -> None:
    attempt = Attempt(layered / "0")

    ending = await ran(
        attempt, of(image, "echo mine > /etc/motd; cat /etc/motd; stat -c %a /"), keeper
    )

    assert (ending.code, ending.failure) == (0, "")
    assert said(attempt).split() == ["mine", "751"]
    assert list((attempt.folder / "work").iterdir()) == []


async def test_the_folder_of_a_command_is_made_if_it_is_missing(
    attempts: Path, keeper: Keeper, image: Path
) -> None:
    attempt = Attempt(attempts / "0")

    ending = await ran(
        attempt, of(image, "pwd", folder="/not/there/yet", is_root_read_only=True), keeper
    )

    assert (ending.code, said(attempt)) == (0, "/not/there/yet")


async def test_an_image_that_is_not_there_is_told(
    attempts: Path, keeper: Keeper, tmp_path: Path
) -> None:
    ending = await ran(Attempt(attempts / "0"), of(tmp_path / "none", "true"), keeper)

    assert ending.code == 125
    assert f"cannot open the image {tmp_path}/none" in ending.failure
