"""What a manager writes down is there for the next one, whole or not at all."""

import os
from pathlib import Path

import pytest

from kubevirt.components.launcher.notes import Notes, is_alive


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "launcher"


def test_a_new_launcher_knows_nothing(folder: Path) -> None:
    notes = Notes(str(folder))
    assert not notes.has_started
    assert notes.instance is None
    assert notes.qemu_pid is None
    assert notes.qemu_exit is None
    assert notes.asked_to_end_at is None
    assert notes.thaw_at is None
    assert notes.resets == 0
    assert notes.ending == ""


def test_the_next_manager_knows_what_the_last_one_wrote(folder: Path) -> None:
    notes = Notes(str(folder))
    notes.guest_runs()
    notes.remember_instance(b'{"metadata":{}}')
    notes.qemu_runs_as(42)
    notes.remember_thaw(12.5)
    notes.was_reset()
    notes.was_reset()
    notes.tell_ending("the guest has shut down")
    notes.close()
    notes = Notes(str(folder))
    assert notes.has_started
    assert notes.instance == b'{"metadata":{}}'
    assert notes.qemu_pid == 42
    assert notes.thaw_at == 12.5
    assert notes.resets == 2
    assert notes.ending == "the guest has shut down"


def test_what_the_monitor_writes_is_understood(folder: Path) -> None:
    notes = Notes(str(folder))
    notes.qemu_runs_as(42)
    (folder / "qemu-exit").write_text("42 -9\n")
    (folder / "asked-to-end").write_text("17.25\n")
    assert notes.qemu_exit == -9
    assert notes.asked_to_end_at == 17.25


def test_a_note_without_a_time_still_says_that_we_were_asked(folder: Path) -> None:
    notes = Notes(str(folder))
    (folder / "asked-to-end").write_text("yes\n")
    assert notes.is_asked_to_end
    assert notes.asked_to_end_at is None


def test_a_start_that_failed_leaves_no_trace(folder: Path) -> None:
    notes = Notes(str(folder))
    notes.qemu_runs_as(42)
    (folder / "qemu-exit").write_text("42 1\n")
    notes.forget_qemu()
    assert not notes.has_started
    assert notes.qemu_pid is None
    assert notes.qemu_exit is None


def test_the_end_of_a_qemu_that_was_replaced_is_not_the_end_of_its_successor(folder: Path) -> None:
    notes = Notes(str(folder))
    notes.qemu_runs_as(42)
    (folder / "qemu-exit").write_text("42 -9\n")
    notes.qemu_runs_as(43)
    assert notes.qemu_exit is None


@pytest.mark.parametrize("text", ["", "42", "-9", "42 x", "x 1", " 1"])
def test_an_end_that_is_not_to_be_understood_is_none(folder: Path, text: str) -> None:
    notes = Notes(str(folder))
    notes.qemu_runs_as(42)
    (folder / "qemu-exit").write_text(f"{text}\n")
    assert notes.qemu_exit is None


def test_a_thaw_that_was_done_is_forgotten(folder: Path) -> None:
    notes = Notes(str(folder))
    notes.remember_thaw(1.0)
    notes.remember_thaw(None)
    assert notes.thaw_at is None


def test_a_process_is_alive_until_it_has_ended_even_if_nobody_reaped_it() -> None:
    assert is_alive(os.getppid())
    assert is_alive(os.getpid(), "py")
    assert not is_alive(os.getpid(), "qemu-system")
    child = os.posix_spawn("/bin/true", ["true"], {})
    try:
        os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
        assert not is_alive(child)
    finally:
        os.waitpid(child, 0)
    assert not is_alive(child)
