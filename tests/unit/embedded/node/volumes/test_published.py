"""Files that are put in place all at once, on a real folder."""

import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.embedded.node.objects import at

from kubevirt.base.errors import Retry, UnsafePath
from kubevirt.embedded.node.volumes import folders, host_path
from kubevirt.embedded.node.volumes.contents import File
from kubevirt.embedded.node.volumes.published import publish


def a_file(text: str, mode: int = 0o644) -> File:
    return File(data=text.encode(), mode=mode)


def seen(folder: Path) -> dict[str, str]:
    """What a container finds there, without what is internal."""
    visible = [each for each in folder.iterdir() if not each.name.startswith("..")]
    inside = [each.rglob("*") if each.is_dir() else [each] for each in visible]
    files = [each for some in inside for each in some if each.is_file()]
    return {str(each.relative_to(folder)): each.read_text() for each in files}


def test_files_lead_through_one_link(tmp_path: Path) -> None:
    assert publish(tmp_path, {"a": a_file("1"), "deep/b": a_file("2")}, at(0))

    assert seen(tmp_path) == {"a": "1", "deep/b": "2"}
    assert str((tmp_path / "a").readlink()) == "..data/a"
    assert str((tmp_path / "deep").readlink()) == "..data/deep"
    assert str((tmp_path / "..data").readlink()).startswith("..2030_01_01_00_00_00.")


def test_a_change_takes_the_old_files_away(tmp_path: Path) -> None:
    publish(tmp_path, {"a": a_file("1"), "gone": a_file("x")}, at(0))
    first = (tmp_path / "..data").readlink()

    assert publish(tmp_path, {"a": a_file("2"), "new": a_file("y")}, at(1))

    assert seen(tmp_path) == {"a": "2", "new": "y"}
    assert not (tmp_path / first).exists()


def test_the_same_contents_change_nothing(tmp_path: Path) -> None:
    contents = {"a": a_file("1"), "deep/b": a_file("2", 0o400)}
    publish(tmp_path, contents, at(0))
    before = (tmp_path / "..data").readlink()

    assert not publish(tmp_path, contents, at(9))
    assert (tmp_path / "..data").readlink() == before


def test_a_mode_is_a_change(tmp_path: Path) -> None:
    publish(tmp_path, {"a": a_file("1")}, at(0))

    assert publish(tmp_path, {"a": a_file("1", 0o400)}, at(1))
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o400


def test_a_group_may_read_what_is_for_it(tmp_path: Path) -> None:
    publish(tmp_path, {"a": a_file("1", 0o600)}, at(0), group=os.getgid())

    found = (tmp_path / "a").stat()
    assert (found.st_gid, stat.S_IMODE(found.st_mode)) == (os.getgid(), 0o640)
    assert not publish(tmp_path, {"a": a_file("1", 0o600)}, at(1), group=os.getgid())


def test_who_has_opened_a_file_reads_it_to_its_end(tmp_path: Path) -> None:
    publish(tmp_path, {"a": a_file("1"), "b": a_file("1")}, at(0))
    opened = (tmp_path / "a").open()

    publish(tmp_path, {"a": a_file("2"), "b": a_file("2")}, at(1))

    with opened:
        assert opened.read() == "1"
    assert seen(tmp_path) == {"a": "2", "b": "2"}


def test_what_a_crash_left_is_repaired(tmp_path: Path) -> None:
    contents = {"a": a_file("1"), "b": a_file("2")}
    publish(tmp_path, contents, at(0))
    (tmp_path / "b").unlink()
    (tmp_path / "..2030_half").mkdir()
    (tmp_path / "..data_tmp").symlink_to("..2030_half")

    assert not publish(tmp_path, contents, at(1))
    assert seen(tmp_path) == {"a": "1", "b": "2"}
    assert publish(tmp_path, contents | {"c": a_file("3")}, at(2))

    assert seen(tmp_path) == {"a": "1", "b": "2", "c": "3"}
    assert not (tmp_path / "..2030_half").exists()


def test_a_volume_whose_current_version_is_lost_is_written_anew(tmp_path: Path) -> None:
    publish(tmp_path, {"a": a_file("1")}, at(0))
    (tmp_path / "..data").unlink()
    (tmp_path / "..data").symlink_to("..nowhere")

    assert publish(tmp_path, {"a": a_file("1")}, at(1))
    assert seen(tmp_path) == {"a": "1"}


@pytest.mark.parametrize("path", ["", "/a", "../a", "a/../b", "..a", "a//b", "a/", "a/.."])
def test_no_file_leads_out_or_hides_among_ours(tmp_path: Path, path: str) -> None:
    with pytest.raises(UnsafePath):
        publish(tmp_path, {path: a_file("1")}, at(0))

    assert list(tmp_path.iterdir()) == []


NAMES = st.sampled_from(["a", "b", "c", "d/x", "d/y", "e/f/z"])
CONTENTS = st.dictionaries(NAMES, st.text(alphabet="xyz", max_size=3))


@given(st.lists(CONTENTS, min_size=1, max_size=5))
def test_after_any_changes_exactly_the_last_contents_are_seen(
    tmp_path_factory: pytest.TempPathFactory, versions: list[dict[str, str]]
) -> None:
    folder = tmp_path_factory.mktemp("volume")

    for second, each in enumerate(versions):
        publish(folder, {path: a_file(text) for path, text in each.items()}, at(second))
        assert seen(folder) == each

    internal = [each for each in folder.iterdir() if each.name.startswith("..")]
    assert len(internal) == 2


def test_a_folder_is_open_for_all_and_made_once(tmp_path: Path) -> None:
    place = "volumes/kubernetes.io~empty-dir/cache"

    made = folders.make(tmp_path, place, group=os.getgid())
    (made / "kept").touch()
    folders.make(tmp_path, place)

    assert made == tmp_path / place
    assert (made / "kept").exists()
    assert stat.S_IMODE(made.stat().st_mode) == 0o2777


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("Directory", "a directory"),
        ("File", "a file"),
        ("Socket", "a socket file"),
        ("CharDevice", "a character device"),
        ("BlockDevice", "a block device"),
    ],
)
def test_a_path_of_the_machine_must_be_what_it_should(tmp_path: Path, kind: str, name: str) -> None:
    with pytest.raises(Retry) as raised:
        host_path.prepare(tmp_path / "none", kind)

    assert str(raised.value) == f"hostPath type check failed: {tmp_path}/none is not {name}"


def test_a_path_of_the_machine_is_made_where_that_is_asked_for(tmp_path: Path) -> None:
    folder, file = tmp_path / "a" / "b", tmp_path / "file"

    host_path.prepare(folder, "DirectoryOrCreate")
    host_path.prepare(file, "FileOrCreate")
    host_path.prepare(folder, "Directory")
    host_path.prepare(file, "File")
    host_path.prepare(tmp_path / "none", "")
    host_path.prepare(Path("/dev/null"), "CharDevice")

    assert folder.is_dir()
    assert (tmp_path / "none").is_dir()
    assert file.read_bytes() == b""
    with pytest.raises(Retry, match="is not a directory"):
        host_path.prepare(file, "DirectoryOrCreate")
