"""qemu-img on images of all kinds, hostile ones first: made by qemu-img itself, then bent."""

import asyncio
import contextlib
import json
import os
import re
import shutil
import socket
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from kubevirt.base import commands
from kubevirt.base.errors import CommandFailed, CommandTimedOut
from kubevirt.host.qemu_img.checking import check
from kubevirt.host.qemu_img.copying import convert, measure
from kubevirt.host.qemu_img.disks import create_blank, create_overlay
from kubevirt.host.qemu_img.image import admit, describe
from kubevirt.host.qemu_img.program import ImageError, ImageLimits

pytestmark = pytest.mark.skipif(
    not shutil.which("qemu-img"), reason="no qemu-img: install qemu-utils"
)

MIB = 1 << 20
CLUSTER = 1 << 16
SECRET = ("--object", "secret,id=key,data=abc")
ENCRYPTED = "encrypt.format=aes,encrypt.key-secret=key"
BRIEF = ImageLimits(timeout_s=0.2)

Silence = Callable[[str], None]


def qemu_img(*args: object) -> str:
    command = ["qemu-img", *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, timeout=30, check=True).stdout


def an_image(folder: Path, *options: object, kind: str = "qcow2", size: str = "8M") -> str:
    path = folder / f"image.{kind}"
    qemu_img("create", "-q", "-f", kind, *options, path, size)
    return str(path)


def bent(path: str, offset: int, content: bytes) -> str:
    """The image with some bytes of its header overwritten."""
    with Path(path).open("rb+") as file:
        file.seek(offset)
        file.write(content)
    return path


def content(path: Path | str) -> bytes:
    return Path(path).read_bytes()


def mode_of(path: str) -> int:
    return Path(path).stat().st_mode & 0o777


def names_in(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


def open_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def refusal(path: str, limits: ImageLimits | None = None) -> str:
    with pytest.raises(ImageError) as caught:
        await admit(path, limits=limits or ImageLimits())
    message = str(caught.value)
    assert "\n" not in message
    assert "/proc/self/fd" not in message
    return message


@pytest.mark.parametrize("kind", ["raw", "qcow2"])
async def test_an_honest_image_is_admitted(tmp_path: Path, kind: str) -> None:
    path = an_image(tmp_path, kind=kind)
    image = await admit(path)
    assert (image.path, image.format, image.virtual_bytes) == (path, kind, 8 * MIB)


@pytest.mark.parametrize("kind", ["vmdk", "vdi", "qed", "vpc", "vhdx"])
async def test_a_format_that_no_guest_gets_is_refused(tmp_path: Path, kind: str) -> None:
    assert f"its format is {kind}" in await refusal(an_image(tmp_path, kind=kind))


async def test_an_image_that_names_a_file_of_the_host_as_its_backing_is_refused(
    tmp_path: Path,
) -> None:
    secret = tmp_path / "shadow"
    secret.write_bytes(b"root:" + bytes(1019))
    path = an_image(tmp_path, "-b", secret, "-F", "raw")
    assert "names a backing file" in await refusal(path)


async def test_a_backing_file_that_does_not_exist_is_refused_without_being_opened(
    tmp_path: Path,
) -> None:
    path = an_image(tmp_path, "-u", "-b", "/nowhere/to/be/found", "-F", "raw")
    assert "names a backing file" in await refusal(path)


async def test_an_image_whose_data_lies_in_another_file_is_refused(tmp_path: Path) -> None:
    outside = tmp_path / "outside.raw"
    path = an_image(tmp_path, "-o", f"data_file={outside}")
    assert "keeps its data in another file" in await refusal(path)


async def test_a_data_file_on_the_network_is_never_asked_for(tmp_path: Path) -> None:
    """CVE-2024-4467: a data file that is really a description of something to open."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        port = str(server.getsockname()[1])
        target = {"driver": "nbd", "server.type": "inet", "server.host": "127.0.0.1"}
        description = "json:" + json.dumps({**target, "server.port": port}, separators=(",", ":"))
        placeholder = "x" * len(description)
        with contextlib.chdir(tmp_path):
            path = an_image(tmp_path, "-o", f"data_file={placeholder}")
        bent(path, content(path).index(placeholder.encode()), description.encode())
        assert "keeps its data in another file" in await refusal(path)
        with pytest.raises(BlockingIOError):
            server.accept()


async def test_an_encrypted_image_is_refused(tmp_path: Path) -> None:
    path = an_image(tmp_path, *SECRET, "-o", ENCRYPTED)
    assert "it is encrypted" in await refusal(path)


@pytest.mark.parametrize(("bit", "name"), [(1, "dirty"), (2, "corrupt")])
async def test_an_image_marked_as_damaged_is_refused(tmp_path: Path, bit: int, name: str) -> None:
    path = bent(an_image(tmp_path), 72, struct.pack(">Q", bit))
    assert "marked as damaged or not closed" in await refusal(path)


async def test_an_image_with_a_feature_that_nobody_knows_is_refused(tmp_path: Path) -> None:
    path = bent(an_image(tmp_path), 72, struct.pack(">Q", 1 << 40))
    assert path in await refusal(path)


async def test_a_disk_larger_than_allowed_is_refused(tmp_path: Path) -> None:
    said = await refusal(an_image(tmp_path), ImageLimits(virtual_bytes=4 * MIB))
    assert "8388608 bytes; 4194304 are the most" in said


async def test_a_raw_disk_larger_than_allowed_is_refused_although_it_takes_no_space(
    tmp_path: Path,
) -> None:
    path = an_image(tmp_path, kind="raw", size="1T")
    assert "are the most" in await refusal(path, ImageLimits(virtual_bytes=1 << 30))


async def test_a_huge_first_table_is_refused(tmp_path: Path) -> None:
    path = bent(an_image(tmp_path), 36, struct.pack(">I", 0x7FFFFFFF))
    assert f"the disk image {path} is refused: " in await refusal(path)


async def test_a_table_that_does_not_fit_the_memory_limit_is_refused(tmp_path: Path) -> None:
    path = an_image(tmp_path)
    bent(path, 36, struct.pack(">IQ", 4 * MIB, MIB))  # the largest that qcow2 allows: 32 MiB
    os.truncate(path, 64 * MIB)
    await admit(path)
    # How little qemu-img starts in differs between versions; the table is what fits last.
    said = [await refusal_in(path, mib) for mib in range(40, 110, 10)]
    assert any(each.endswith("Could not allocate L1 table") for each in said), said


async def refusal_in(path: str, mib: int) -> str:
    try:
        await admit(path, limits=ImageLimits(memory_bytes=mib * MIB))
    except ImageError as error:
        return str(error)
    return "fits"


async def test_a_deep_table_of_snapshots_ends_by_a_limit(tmp_path: Path) -> None:
    """Ten thousand snapshots: an answer about them would have two MB."""
    path = an_image(tmp_path)
    count, offset = 10_000, 16 * MIB
    # l1 offset, l1 size, id and name length, time, clock, vm state size, extra data size
    entry = struct.pack(">QIHHIIQII", 3 << 16, 1, 1, 1, 0, 0, 0, 0, 16)
    entry += struct.pack(">QQ", 0, 8 * MIB) + b"1n"
    entry += bytes(-len(entry) % 8)
    bent(path, offset, entry * count)
    bent(path, 60, struct.pack(">IQ", count, offset))
    # Its threads may need more address space than it has before it has printed that much.
    assert re.search("printed more than 1048576 bytes|Aborted", await refusal(path))


@pytest.mark.timeout(200)
async def test_the_processor_time_for_an_image_is_limited(tmp_path: Path) -> None:
    """A megabyte whose hundred thousand tables are all the same one: to check it takes ten seconds."""
    path = an_image(tmp_path, "-o", "refcount_bits=64", size="64T")
    entries, first_table = struct.unpack_from(">IQ", content(path), 36)
    second_table = -(-len(content(path)) // CLUSTER) * CLUSTER
    bent(path, second_table, bytes(CLUSTER))
    bent(path, first_table, struct.pack(">Q", second_table) * entries)
    image = await admit(path)
    with pytest.raises(ImageError, match="used up the CPU time it was allowed"):
        # On a busy machine it waits for its turn much longer than it works.
        await check(image, limits=ImageLimits(cpu_s=1, timeout_s=180))


@pytest.fixture
def silence(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Silence:
    """From then on one of qemu-img's commands waits without end, as it does for a disk that does not answer."""
    program, real = tmp_path_factory.mktemp("programs") / "qemu-img", shutil.which("qemu-img")

    def silenced(command: str) -> None:
        words = f'if [ "$1" = {command} ]; then exec sleep 600; fi; exec {real} "$@"'
        program.write_text(f"#!/bin/sh\n{words}\n")
        program.chmod(0o755)
        path = f"{program.parent}:{commands.SEARCH_PATH}"
        monkeypatch.setattr(commands, "ENVIRONMENT", {**commands.ENVIRONMENT, "PATH": path})

    return silenced


async def test_a_disk_that_does_not_answer_is_tried_again(tmp_path: Path, silence: Silence) -> None:
    image = an_image(tmp_path)
    silence("info")
    with pytest.raises(CommandTimedOut, match="did not finish within"):
        await admit(image, limits=BRIEF)


@pytest.mark.parametrize("length", [0, 20, 100])
async def test_a_truncated_image_is_refused(tmp_path: Path, length: int) -> None:
    path = an_image(tmp_path)
    os.truncate(path, length)
    assert path in await refusal(path)


async def test_no_image_at_all_is_told_so(tmp_path: Path) -> None:
    assert await refusal(f"{tmp_path}/none") == f"there is no disk image at {tmp_path}/none"


async def test_a_link_to_a_file_of_the_host_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc/passwd")
    assert "is a symbolic link" in await refusal(f"{tmp_path}/link")


async def test_a_fifo_blocks_nobody(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    async with asyncio.timeout(60):
        assert "neither a file nor a block device" in await refusal(f"{tmp_path}/fifo")


async def test_a_folder_is_no_image(tmp_path: Path) -> None:
    assert "neither a file nor a block device" in await refusal(str(tmp_path))


async def test_a_raw_disk_on_which_a_guest_wrote_a_header_stays_raw(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(bytes(512))
    path = an_image(tmp_path, "-b", secret, "-F", "raw")
    image = await admit(path, "raw")
    assert (image.format, image.virtual_bytes) == ("raw", -(-len(content(path)) // 512) * 512)


async def test_a_stated_format_that_no_guest_gets_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ImageError, match="its format is vmdk"):
        await admit(an_image(tmp_path, kind="vmdk"), "vmdk")


async def test_an_image_of_another_format_than_stated_is_refused(tmp_path: Path) -> None:
    path = an_image(tmp_path, kind="raw")
    with pytest.raises(ImageError, match="Image is not in qcow2 format"):
        await admit(path, "qcow2")


async def test_a_name_is_neither_an_option_nor_an_address(tmp_path: Path) -> None:
    strange = tmp_path / "nbd:unix:-f,driver=nbd,backing.file=x.qcow2"
    qemu_img("create", "-q", "-f", "raw", strange, "1M")
    assert (await admit(str(strange))).virtual_bytes == MIB
    folder = tmp_path / "json:{}"
    overlay = folder / "disk.qcow2"
    assert await create_overlay(str(overlay), await admit(str(strange)))
    assert (await describe(str(overlay), "qcow2")).backing_filename == str(strange)


@pytest.mark.parametrize("kind", ["raw", "qcow2"])
async def test_an_overlay_takes_the_writes_and_the_image_stays(tmp_path: Path, kind: str) -> None:
    base = an_image(tmp_path, kind=kind)
    before = content(base)
    overlay = str(tmp_path / "disk-data" / "root" / "disk.qcow2")
    assert await create_overlay(overlay, await admit(base))
    await commands.run("qemu-io", "-c", "write -P 7 0 64k", overlay)
    chain = json.loads(qemu_img("info", "--backing-chain", "--output=json", overlay))
    assert [each["format"] for each in chain] == ["qcow2", kind]
    assert chain[0]["backing-filename"] == base
    assert chain[0]["backing-filename-format"] == kind
    assert chain[0]["virtual-size"] == 8 * MIB
    assert content(base) == before
    assert mode_of(overlay) == 0o600


async def test_an_overlay_made_twice_keeps_what_the_guest_wrote(tmp_path: Path) -> None:
    image = await admit(an_image(tmp_path))
    overlay = tmp_path / "disk.qcow2"
    assert await create_overlay(str(overlay), image)
    written = overlay.read_bytes() + b"written by the guest"
    overlay.write_bytes(written)
    assert not await create_overlay(str(overlay), image)
    assert overlay.read_bytes() == written


async def test_two_who_make_the_same_disk_at_once_agree_on_one(tmp_path: Path) -> None:
    path = str(tmp_path / "empty.qcow2")
    made = await asyncio.gather(*(create_blank(path, MIB) for _ in range(8)))
    assert sorted(made) == [False] * 7 + [True]
    assert names_in(tmp_path) == ["empty.qcow2"]


@pytest.mark.parametrize("kind", ["raw", "qcow2"])
async def test_a_blank_disk_takes_no_space(tmp_path: Path, kind: str) -> None:
    path = str(tmp_path / "empty-disks" / "scratch")
    assert await create_blank(path, 3 * (1 << 40) + 1, "qcow2" if kind == "qcow2" else "raw")
    image = await admit(path)
    assert image.format == kind
    assert image.virtual_bytes == 3 * (1 << 40) + 512, "in whole sectors"
    assert image.actual_bytes < 2 * MIB


@pytest.mark.parametrize("size", [0, -1, 1 << 60])
async def test_a_disk_of_a_size_that_none_can_have_is_refused(tmp_path: Path, size: int) -> None:
    with pytest.raises(ImageError, match=f"cannot have {size} bytes"):
        await create_blank(str(tmp_path / "disk"), size)
    assert names_in(tmp_path) == []


async def test_a_disk_that_cannot_be_made_leaves_nothing(tmp_path: Path, silence: Silence) -> None:
    silence("create")
    with pytest.raises(CommandTimedOut):
        await create_blank(str(tmp_path / "disk"), MIB, limits=BRIEF)
    assert names_in(tmp_path) == []


async def test_a_copy_has_the_content_and_tells_how_far_it_is(tmp_path: Path) -> None:
    raw = tmp_path / "image.raw"
    raw.write_bytes(os.urandom(4 * MIB) + bytes(4 * MIB))
    told: list[float] = []
    there, back = tmp_path / "there.qcow2", tmp_path / "back.raw"
    image = await admit(str(raw), "raw")
    await convert(image, str(there), "qcow2", progress=told.append)
    await convert(await admit(str(there)), str(back), "raw")
    assert back.read_bytes() == raw.read_bytes()
    assert back.stat().st_blocks * 512 < 6 * MIB, "zeros stay holes"
    assert told == sorted(told)
    assert told[-1] == 100
    assert (await measure(image, "qcow2")).required >= 4 * MIB


async def test_a_copy_over_its_limit_leaves_nothing(tmp_path: Path, silence: Silence) -> None:
    raw = tmp_path / "image.raw"
    raw.write_bytes(os.urandom(4 * MIB))
    image = await admit(str(raw), "raw")
    silence("convert")
    with pytest.raises(CommandTimedOut):
        await convert(image, str(tmp_path / "copy"), "qcow2", limits=BRIEF)
    assert names_in(tmp_path) == ["image.raw"]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: a small file system is mounted")
async def test_a_copy_onto_a_full_disk_is_tried_again_and_leaves_nothing(tmp_path: Path) -> None:
    raw = tmp_path / "image.raw"
    raw.write_bytes(os.urandom(8 * MIB))
    small = tmp_path / "small"
    small.mkdir()
    await commands.run("mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", small)
    try:
        with pytest.raises(CommandFailed, match="No space left on device"):
            await convert(await admit(str(raw), "raw"), str(small / "copy"), "qcow2")
        assert names_in(small) == []
    finally:
        await commands.run("umount", small)


async def test_a_copy_never_overwrites(tmp_path: Path) -> None:
    image = await admit(an_image(tmp_path))
    (tmp_path / "taken").write_text("mine")
    with pytest.raises(FileExistsError):
        await convert(image, str(tmp_path / "taken"), "raw")
    assert (tmp_path / "taken").read_text() == "mine"


async def test_a_copy_does_not_follow_a_backing_file_that_was_put_in_after_the_gate(
    tmp_path: Path,
) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(b"S" * 8 * MIB)
    image = await admit(an_image(tmp_path))
    an_image(tmp_path, "-b", secret, "-F", "raw")
    await convert(image, str(tmp_path / "copy"), "raw")
    assert b"S" not in (tmp_path / "copy").read_bytes()


async def test_a_whole_image_is_told_from_a_damaged_one(tmp_path: Path) -> None:
    path = an_image(tmp_path, "-o", "preallocation=metadata")
    image = await admit(path)
    assert (await check(image)).is_whole
    table = struct.unpack(">Q", content(path)[40:48])[0]
    bent(path, table, struct.pack(">Q", 1 << 63 | 2 << 16))
    assert not (await check(image)).is_whole


async def test_no_process_and_no_descriptor_is_left(tmp_path: Path) -> None:
    path = an_image(tmp_path)
    await admit(path)
    before = open_descriptors()
    for _ in range(5):
        await admit(path)
        await refusal(f"{tmp_path}/none")
    assert open_descriptors() == before
