"""A folder is a home, becomes one, or is left alone."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kubevirt.base.boot import boot_id
from kubevirt.embedded import home as homes
from kubevirt.embedded.home import Choices, Home, HomeError, Process


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """As short as a home's path has to be, which a test's is not."""
    monkeypatch.setattr(homes, "_LONGEST", 400)
    return tmp_path / "home"


def process(**changes: object) -> Process:
    values = {
        "pid": os.getpid(),
        "boot_id": boot_id(),
        "url": "https://127.0.0.1:1",
        "port": 1,
        "nodes": ("node01",),
        "version": "1",
        "started": "2030-01-01T00:00:00+00:00",
    }
    return Process(**{**values, **changes})  # type: ignore[arg-type]  # by name


def test_an_empty_folder_becomes_a_home(folder: Path) -> None:
    folder.mkdir()
    home = Home.make(folder)
    assert home.is_there
    assert (folder / "version").read_text() == "1\n"
    assert home.pki.stat().st_mode & 0o777 == 0o700


def test_a_home_keeps_its_id(folder: Path) -> None:
    assert Home.make(folder).id == Home.make(folder).id


def test_two_homes_have_two_ids(folder: Path) -> None:
    assert Home.make(folder).id != Home.make(folder.with_name("other")).id


def test_a_start_that_was_cut_short_is_gone_on_with(folder: Path) -> None:
    Home.make(folder)
    (folder / "version").unlink()
    assert Home.make(folder).is_there


def test_a_foreign_folder_is_left_alone(folder: Path) -> None:
    folder.mkdir()
    (folder / "thesis.txt").write_text("years of work")
    with pytest.raises(HomeError, match="is not empty and no embedded home"):
        Home.make(folder)
    assert [each.name for each in folder.iterdir()] == ["thesis.txt"]


def test_a_folder_that_another_one_furnishes_is_not_taken_for_a_foreign_one(folder: Path) -> None:
    (folder / "pki").mkdir(parents=True)
    with Home(folder).locked(), pytest.raises(HomeError, match="in use by"):
        Home.make(folder)


def test_of_two_that_make_a_home_at_once_both_find_the_same(folder: Path) -> None:
    with ThreadPoolExecutor() as threads:
        for number in range(20):
            place = folder / str(number)
            ids = list(threads.map(lambda _, place=place: Home.make(place).id, range(2)))
            assert len(set(ids)) == 1


def test_a_foreign_folder_is_not_removed(folder: Path) -> None:
    folder.mkdir()
    (folder / "thesis.txt").write_text("years of work")
    with pytest.raises(HomeError, match="left alone"):
        Home(folder).remove()
    assert (folder / "thesis.txt").exists()


def test_a_file_is_no_home(folder: Path) -> None:
    folder.write_text("")
    with pytest.raises(HomeError, match="is no folder"):
        Home.make(folder)


def test_a_home_by_a_newer_version_is_refused(folder: Path) -> None:
    Home.make(folder)
    (folder / "version").write_text("2\n")
    with pytest.raises(HomeError, match=r"newer version.*its format is 2, this one knows 1"):
        Home.make(folder)


@pytest.mark.parametrize("text", ["", "soon", "-1"])
def test_a_version_that_is_no_number_is_refused(folder: Path, text: str) -> None:
    Home.make(folder)
    (folder / "version").write_text(text)
    with pytest.raises(HomeError, match="does not hold a number"):
        Home.open(folder)


def test_a_path_too_long_for_sockets_is_refused(tmp_path: Path) -> None:
    with pytest.raises(HomeError, match="too long a path"):
        Home.make(tmp_path / ("x" * 60))


def test_a_socket_of_the_longest_home_has_an_address() -> None:
    below = "nodes/node01/root/var/lib/kubelet/device-plugins/kubelet.sock"
    assert homes._LONGEST + len("/") + len(below) <= 107


def test_what_is_not_there_is_not_opened(folder: Path) -> None:
    with pytest.raises(HomeError, match="holds no embedded home"):
        Home.open(folder)


def test_a_home_in_use_is_refused_and_says_by_whom(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(homes, "_PAUSE_S", 0.0)
    home = Home.make(folder)
    home.enter(process(pid=4711))
    with home.locked():
        assert _seen(home) == (True, os.getpid())
        with pytest.raises(HomeError, match="in use by process 4711"), home.locked():
            pass
    assert _seen(home) == (False, None)


def _seen(home: Home) -> tuple[bool, int | None]:
    return home.is_running, home.holder


def test_a_home_in_use_is_not_removed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(homes, "_PAUSE_S", 0.0)
    home = Home.make(folder)
    with home.locked(), pytest.raises(HomeError, match="in use"):
        home.remove()
    assert home.is_there


def test_a_home_is_removed_with_all_that_is_in_it(folder: Path) -> None:
    home = Home.make(folder)
    (home.volumes / "claim").mkdir()
    home.remove()
    assert not folder.exists()


def test_choices_are_remembered(folder: Path) -> None:
    home = Home.make(folder)
    assert home.choices == Choices()
    home.remember(Choices(port=7000, nodes=2, services="10.96.0.0/16"))
    assert Home.open(folder).choices == Choices(port=7000, nodes=2, services="10.96.0.0/16")


def test_damaged_notes_are_no_notes(folder: Path) -> None:
    home = Home.make(folder)
    (folder / "choices.json").write_text("{")
    (folder / "process.json").write_text('{"pid": "x"}')
    assert home.choices == Choices()
    assert home.process is None


def test_who_left_is_forgotten(folder: Path) -> None:
    home = Home.make(folder)
    home.enter(process())
    assert home.process == process()
    home.leave()
    home.leave()
    assert home.process is None


def test_a_process_of_an_earlier_boot_is_told_apart() -> None:
    assert process().is_of_this_boot
    assert not process(boot_id="another").is_of_this_boot
