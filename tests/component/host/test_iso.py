"""Images that pycdlib builds, read by another program: isoinfo, as old as the format's tools are."""

import hashlib
import io
import os
import shutil
import string
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubevirt.host import iso

needs_isoinfo = pytest.mark.skipif(
    not shutil.which("isoinfo"), reason="no isoinfo to read images with: install genisoimage"
)

LONG = "k" * 253
CONFIG_DRIVE = {
    "openstack/latest/meta_data.json": b'{"uuid": "1"}',
    "openstack/latest/user_data": b"#cloud-config\n",
}
NO_CLOUD = {"meta-data": b"{}", "user-data": b"#cloud-config\n", "network-config": b""}


def isoinfo(image: Path, *options: str) -> bytes:
    command = ["isoinfo", "-i", str(image), *options]
    return subprocess.run(command, capture_output=True, timeout=20, check=True).stdout


def names(image: Path, *options: str) -> set[str]:
    return {
        line.strip().lstrip("/") for line in isoinfo(image, *options, "-f").decode().split("\n")
    }


def built(folder: Path, label: str, files: dict[str, bytes]) -> Path:
    image = folder / "image.iso"
    iso.write(str(image), label, files)
    return image


@needs_isoinfo
@pytest.mark.parametrize("extension", ["-R", "-J"], ids=["rock ridge", "joliet"])
@pytest.mark.parametrize("files", [NO_CLOUD, CONFIG_DRIVE], ids=["no cloud", "config drive"])
def test_both_systems_find_the_files_under_their_exact_names(
    tmp_path: Path, files: dict[str, bytes], extension: str
) -> None:
    image = built(tmp_path, "cidata", files)
    assert set(files) <= names(image, extension)
    for name, content in files.items():
        assert isoinfo(image, extension, "-x", f"/{name}") == content


@needs_isoinfo
@pytest.mark.parametrize("label", ["cidata", "config-2", "unattendCD", "L" * 32])
def test_the_label_is_the_one_that_was_asked_for(tmp_path: Path, label: str) -> None:
    said = isoinfo(built(tmp_path, label, {"a": b""}), "-d").decode()
    assert f"Volume id: {label}\n" in said


@needs_isoinfo
def test_a_long_name_is_whole_in_rock_ridge_and_cut_in_joliet(tmp_path: Path) -> None:
    image = built(tmp_path, "cfgdata", {LONG: b"one", f"{LONG[:-1]}x": b"two"})
    assert isoinfo(image, "-R", "-x", f"/{LONG}") == b"one"
    assert isoinfo(image, "-R", "-x", f"/{LONG[:-1]}x") == b"two"
    assert {"k" * 64, "k" * 62 + "~1"} <= names(image, "-J")


@needs_isoinfo
def test_names_that_differ_only_in_case_are_both_there(tmp_path: Path) -> None:
    image = built(tmp_path, "cfgdata", {"Key": b"upper", "key": b"lower"})
    assert isoinfo(image, "-R", "-x", "/Key") == b"upper"
    assert isoinfo(image, "-R", "-x", "/key") == b"lower"
    assert {"Key", "key~1"} <= names(image, "-J")


@needs_isoinfo
def test_as_many_alike_names_as_are_allowed_are_all_there(tmp_path: Path) -> None:
    files = {f"configuration-{number}": b"%d" % number for number in range(iso.FILE_LIMIT)}
    image = built(tmp_path, "cfgdata", files)
    assert set(files) <= names(image, "-R")
    assert set(files) <= names(image, "-J")
    assert isoinfo(image, "-R", "-x", "/configuration-999") == b"999"


def test_equal_contents_give_equal_bytes_at_any_time_and_in_any_zone() -> None:
    files = NO_CLOUD | CONFIG_DRIVE
    script = (
        "import hashlib\n"
        "from kubevirt.host import iso\n"
        f"print(hashlib.sha256(iso.build('cidata', {dict(reversed(files.items()))!r})).hexdigest())"
    )
    here = hashlib.sha256(iso.build("cidata", files)).hexdigest()
    for zone in ("Asia/Kolkata", "America/St_Johns"):
        there = subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "TZ": zone, "PYTHONHASHSEED": "random"},
            capture_output=True,
            text=True,
            timeout=30,
            check=True,
        )
        assert there.stdout.strip() == here


@given(st.permutations([*NO_CLOUD, *CONFIG_DRIVE, "a/x/1", "b/y/2", "b/x/1", "openstack/z"]))
def test_the_order_in_which_files_are_given_changes_nothing(order: list[str]) -> None:
    files = {name: name.encode() for name in order}
    assert iso.build("cidata", files) == iso.build("cidata", dict(sorted(files.items())))


def test_other_contents_give_other_bytes() -> None:
    assert iso.build("cidata", {"a": b"1"}) != iso.build("cidata", {"a": b"2"})


@pytest.mark.parametrize(
    "name",
    [
        *("", ".", "..", "../etc/passwd", "/etc/passwd", "a//b", "a/../b", "a/", "a\0b", "a\nb"),
        *("a;1", "a\\b", "a*", "ä", "\ud800", "n" * 254, "/".join("abcdefghi")),
    ],
)
def test_a_hostile_name_is_refused(name: str) -> None:
    with pytest.raises(iso.IsoError, match=r"^disk cfgdata (cannot have a|has the) file '.*\w$"):
        iso.build("cfgdata", {name: b""})


def test_a_name_cannot_be_a_file_and_a_folder() -> None:
    with pytest.raises(
        iso.IsoError, match=r"'a/b' as a file, so it cannot be the folder of 'a/b/c'"
    ):
        iso.build("cfgdata", {"a/b": b"", "a/b/c": b""})


@pytest.mark.parametrize("label", ["", "l" * 33, "a b", "a/b", "é", "a\n"])
def test_a_label_that_no_disk_can_have_is_refused(label: str) -> None:
    with pytest.raises(iso.IsoError, match="cannot label a disk"):
        iso.build(label, {})


def test_too_much_is_refused() -> None:
    with pytest.raises(iso.IsoError, match="8388609 bytes; 8388608 are the most"):
        iso.build("cfgdata", {"a": bytes(iso.SIZE_LIMIT), "b": b"x"})
    with pytest.raises(iso.IsoError, match="1001 files; 1000 are the most"):
        iso.build("cfgdata", {str(number): b"" for number in range(iso.FILE_LIMIT + 1)})


def test_a_written_image_replaces_the_old_one_and_makes_its_folder(tmp_path: Path) -> None:
    path = tmp_path / "cloud-init-data" / "default" / "testvm" / "noCloud.iso"
    iso.write(str(path), "cidata", {"a": b"old"}, mode=0o640)
    before = path.stat()
    iso.write(str(path), "cidata", {"a": b"new"}, mode=0o640)
    assert path.read_bytes() == iso.build("cidata", {"a": b"new"})
    assert path.stat().st_mode & 0o777 == 0o640
    assert path.stat().st_ino != before.st_ino, "who has the old one open keeps it whole"
    assert [each.name for each in path.parent.iterdir()] == ["noCloud.iso"]


def test_a_link_in_the_place_of_an_image_is_replaced_and_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("untouched")
    image = tmp_path / "image.iso"
    image.symlink_to(victim)
    iso.write(str(image), "cidata", {"a": b""})
    assert victim.read_text() == "untouched"
    assert not image.is_symlink()


ALPHABET = st.text(string.ascii_letters + string.digits + "._-", min_size=1, max_size=80)
NAMES = ALPHABET.filter(lambda name: name not in {".", ".."})


@given(st.dictionaries(NAMES, st.binary(max_size=3000), max_size=12))
def test_every_allowed_file_is_found_again(files: dict[str, bytes]) -> None:
    from pycdlib import PyCdlib

    image = PyCdlib()
    image.open_fp(io.BytesIO(iso.build("cfgdata", files)))
    found = {}
    for child in image.list_children(rr_path="/"):
        if child.is_file():
            out = io.BytesIO()
            name = child.rock_ridge.name().decode()
            image.get_file_from_iso_fp(out, rr_path=f"/{name}")
            found[name] = out.getvalue()
    image.close()
    assert found == files


def test_an_image_is_large_enough_for_readers_that_look_ahead() -> None:
    """Busybox' blkid called a seed of two small files empty: it reads the first 68 KiB of any disk."""
    image = iso.build("cidata", {"meta-data": b"{}", "user-data": b"#cloud-config"})
    assert len(image) >= 69632
    assert len(image) % 2048 == 0
