"""What a node remembers of a pod on disk."""

from pathlib import Path

import pytest
from tests.unit.embedded.node.objects import a_pod, at, container

from kubevirt.embedded.node import records, sighting
from kubevirt.embedded.node.memory import PodMemory
from kubevirt.embedded.node.neighbours import PodNetwork
from kubevirt.embedded.node.records import PodRecords, State, TryRecord
from kubevirt.embedded.node.seen import Hook, Stopping, Tried

NETWORK = PodNetwork(namespace="/run/x", addresses=("10.0.0.5",), resolver="nameserver x\n")


def a_try(folder: PodRecords, number: int, session: str = "s", name: str = "main") -> Path:
    """One that began and was lost."""
    attempt = folder.attempt(name, number)
    records.begin(attempt, TryRecord(began_at=at(number), session=session, image_id="sha256:1"))
    (attempt.folder / "started.json").write_text("{}")
    return attempt.folder


def test_a_pod_is_found_again_as_it_was(tmp_path: Path) -> None:
    folder, pod = PodRecords(tmp_path / "u1"), a_pod(hostname="wilma")
    memory = PodMemory.recall(pod, folder, "boot")
    memory.let_in(pod)
    memory.remember(has_volumes=True, network=NETWORK)

    again = PodMemory.recall(pod, PodRecords(tmp_path / "u1"), "boot")

    assert folder.pod() == pod
    assert again.is_known
    assert again.state == memory.state
    assert again.seen(()).addresses == ("10.0.0.5",)


def test_a_pod_that_was_not_let_in_leaves_nothing(tmp_path: Path) -> None:
    memory = PodMemory.recall(a_pod(), PodRecords(tmp_path / "u1"), "boot")

    memory.remember(is_torn_down=True)

    assert not memory.is_known
    assert not (tmp_path / "u1").exists()


@pytest.mark.parametrize("how", ["boot", "down"])
def test_after_the_machine_or_the_home_was_down_all_is_of_before(tmp_path: Path, how: str) -> None:
    folder, pod = PodRecords(tmp_path / "u1"), a_pod()
    state = State(session="s", boot_id="one", network=NETWORK, is_down=how == "down")
    folder.begin(pod, state)
    a_try(folder, 0)

    memory = PodMemory.recall(pod, folder, "two" if how == "boot" else "one")
    later = PodMemory.recall(pod, folder, "two" if how == "boot" else "one")

    assert memory.network is None
    assert [each.is_of_before for each in memory.tries["main"]] == [True]
    assert not memory.has_begun
    assert later.state.session == memory.state.session != "s"


def test_a_try_that_never_began_never_was(tmp_path: Path) -> None:
    folder = PodRecords(tmp_path / "u1")
    a_try(folder, 0)
    records.begin(folder.attempt("main", 1), TryRecord(began_at=at(1), session="s"))

    found = sighting.tries(a_pod(), folder, "s")

    assert [each.number for each in found["main"]] == [0]
    assert not folder.attempt("main", 1).folder.exists()


def test_a_hook_that_ran_when_its_node_ended_is_done(tmp_path: Path) -> None:
    folder = PodRecords(tmp_path / "u1")
    a_try(folder, 0)
    stopping = Stopping(since=at(5), pre_stop=Hook.RUNNING, is_interruption=True)
    records.keep_stopping(folder.attempt("main", 0), stopping)

    (tried,) = sighting.tries(a_pod(), folder, "s")["main"]

    assert tried.stopping == Stopping(since=at(5), pre_stop=Hook.DONE, is_interruption=True)
    assert tried.ended is not None
    assert tried.ended.is_interrupted


def test_old_tries_are_forgotten_but_for_what_counts(tmp_path: Path) -> None:
    folder = PodRecords(tmp_path / "u1")
    for number in range(10):
        place = a_try(folder, number)
        (place / "log").write_text("said")
        (place / "upper").mkdir()

    folder.forget_old("main")

    attempts = folder.attempts("main")
    assert [int(each.folder.name) for each in attempts] == [3, 4, 5, 6, 7, 8, 9]
    whole = [each for each in attempts if (each.folder / "log").exists()]
    assert [int(each.folder.name) for each in whole] == [8, 9]
    assert not (attempts[0].folder / "upper").exists()
    assert len(sighting.tries(a_pod(), folder, "s")["main"]) == 7


def test_memory_holds_no_more_tries_than_count(tmp_path: Path) -> None:
    memory = PodMemory.recall(a_pod(), PodRecords(tmp_path / "u1"), "boot")

    for number in range(9):
        memory.add("main", Tried(number=number, started_at=at(number)))

    assert [each.number for each in memory.tries["main"]] == [2, 3, 4, 5, 6, 7, 8]


def test_what_was_not_finished_when_the_power_went_is_not_there(tmp_path: Path) -> None:
    folder = PodRecords(tmp_path / "u1")
    folder.folder.mkdir()
    (folder.folder / "pod.json").write_text('{"metadata": {"na')
    (folder.folder / "state.json").write_text("")

    assert folder.pod() is None
    assert folder.state() is None


def test_a_disk_that_takes_nothing_keeps_no_pod_from_ending(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    folder = PodRecords(tmp_path / "file" / "u1")

    folder.keep_pod(a_pod())
    folder.keep_state(State(session="s", boot_id="b"))
    records.keep_stopping(folder.attempt("main", 0), Stopping(since=at(0)))
    records.keep_out_of_memory(folder.attempt("main", 0))
    folder.remove()

    with pytest.raises(OSError, match="Not a directory"):
        folder.begin(a_pod(), State(session="s", boot_id="b"))


def test_an_attempt_of_each_container_is_found(tmp_path: Path) -> None:
    folder = PodRecords(tmp_path / "u1")
    a_try(folder, 0)
    a_try(folder, 0, name="beside")

    found = folder.all_attempts()

    assert [each.folder.parent.name for each in found] == ["beside", "main"]
    pod = a_pod(container("main"), container("beside"))
    assert {name for name, its in sighting.tries(pod, folder, "s").items() if its} == {
        "main",
        "beside",
    }
