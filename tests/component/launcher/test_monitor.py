"""The monitor as pid 1 of a namespace of its own, with stand-ins for libvirtd, manager and QEMU.

A stand-in is a line of shell. It works in the monitor's folder, where it leaves notes about its life;
`QEMU` makes one let go of a process as libvirt does, so that it falls to pid 1.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import pytest

from kubevirt.components.launcher import monitor

pytestmark = [
    pytest.mark.skipif(
        os.geteuid() != 0, reason="needs root: a pid namespace is made for each test"
    ),
    pytest.mark.skipif(not shutil.which("bwrap"), reason="no bwrap: install bubblewrap"),
]

LIMIT_S = 60.0
LASTING = "echo $$ >> libvirtd-lives; exec sleep 1000"
"""A libvirtd that lives, and one line for each life."""
MANAGING = "echo $$ >> manager-lives; exec sleep 1000"
QEMU = "( setsid sh -c 'echo $$ > qemu-pid; {}' & ) ; until [ -s qemu-pid ]; do :; done; "
"""What the guest's process does goes into the braces."""


IMPATIENT = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("monitor", sys.argv[1])
monitor = importlib.util.module_from_spec(spec)
spec.loader.exec_module(monitor)
monitor.DELAYS_S = (0.0,)
sys.exit(monitor.main(sys.argv[2:]))
"""
"""The same monitor, but for its pauses between two starts."""


class Launcher:
    """A monitor that runs, seen from outside."""

    def __init__(self, process: subprocess.Popen[bytes], pid: int, folder: Path) -> None:
        self.process = process
        self.pid = pid
        self.folder = folder
        self.said = ""

    def send(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)

    def ended(self) -> int:
        _, stderr = self.process.communicate(timeout=LIMIT_S)
        self.said = stderr.decode()
        return self.process.returncode

    def note(self, name: str) -> str:
        path = self.folder / name
        return path.read_text().strip() if path.exists() else ""

    @property
    def exit_of_qemu(self) -> str:
        """Of the one that the manager wrote down."""
        pid, _, code = self.note("qemu-exit").partition(" ")
        return code if pid == self.note("qemu-pid") else ""

    def lives(self, who: str) -> list[str]:
        return self.note(f"{who}-lives").split()

    def inside(self, pid: str) -> int:
        """Our number of a process, by its number inside."""
        for status in Path("/proc").glob("[0-9]*/status"):
            numbers = _namespaced(status)
            if numbers[1:] == [pid] and _pid_namespace(numbers[0]) == _pid_namespace(self.pid):
                return int(numbers[0])
        raise AssertionError(f"there is no process {pid} inside")

    def kill(self, who: str) -> None:
        """The present life of the manager or of libvirtd, or QEMU."""
        pid = self.note("qemu-pid") if who == "qemu" else self.lives(who)[-1]
        os.kill(self.inside(pid), signal.SIGKILL)

    def messages(self) -> list[str]:
        return [json.loads(line)["msg"] for line in self.said.splitlines()]


def _namespaced(status: Path) -> list[str]:
    try:
        lines = status.read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return []
    return next(line for line in lines if line.startswith("NSpid:")).split()[1:]


@contextmanager
def launched(
    folder: Path,
    manager: str,
    libvirtd: str = LASTING,
    *,
    grace_s: float = 10,
    shell: str = "/bin/sh",
    impatient: bool = False,
    lifeline: int | None = None,
) -> Iterator[Launcher]:
    reading, writing = os.pipe()
    inherited = (writing,) if lifeline is None else (writing, lifeline)
    command = [
        *("bwrap", "--unshare-pid", "--as-pid-1", "--die-with-parent", "--dev-bind", "/", "/"),
        *("--proc", "/proc", "--chdir", str(folder), "--json-status-fd", str(writing)),
        *(sys.executable, "-I", "-S", *(["-c", IMPATIENT] if impatient else [])),
        *(monitor.__file__, str(folder), str(grace_s), *map(str, inherited[1:])),
        *("--", shell, "-c", libvirtd, "--", "/bin/sh", "-c", manager),
    ]
    with subprocess.Popen(command, stderr=subprocess.PIPE, pass_fds=inherited) as process:
        os.close(writing)
        with os.fdopen(reading) as status:
            pid = json.loads(status.readline())["child-pid"]
            try:
                yield Launcher(process, pid, folder)
            finally:
                process.kill()


def until(condition: Callable[[], object], limit_s: float = LIMIT_S) -> None:
    deadline = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.01)


def test_a_manager_that_ends_in_peace_ends_the_launcher(tmp_path: Path) -> None:
    with launched(tmp_path, "echo the guest was shut down > ending; exit 0") as launcher:
        assert launcher.ended() == 0
    assert launcher.messages() == ["the guest was shut down"]


@pytest.mark.parametrize("who", ["manager", "libvirtd"])
def test_who_is_killed_is_back_at_once_and_the_guest_runs_on(tmp_path: Path, who: str) -> None:
    guest = "[ -e qemu-pid ] || { " + QEMU.format("exec sleep 1000") + "}; "
    with launched(tmp_path, guest + MANAGING) as launcher:
        until(lambda: launcher.lives("manager") and launcher.lives("libvirtd"))
        qemu = launcher.inside(launcher.note("qemu-pid"))
        for each in range(2, 5):
            launcher.kill(who)
            until(lambda each=each: len(launcher.lives(who)) == each)  # type: ignore[misc]  # bound now
        os.kill(qemu, 0)
        assert launcher.exit_of_qemu == ""


@pytest.mark.parametrize("who", ["manager", "libvirtd"])
def test_who_dies_again_and_again_beside_a_guest_is_still_back_within_a_second(
    tmp_path: Path, who: str
) -> None:
    """After five deaths in a row the pause alone was a second."""
    guest = "[ -e qemu-pid ] || { " + QEMU.format("exec sleep 1000") + "}; "
    away_s = []
    with launched(tmp_path, guest + MANAGING) as launcher:
        until(lambda: launcher.lives("manager") and launcher.lives("libvirtd"))
        for each in range(2, 2 * len(monitor.DELAYS_S)):
            launcher.kill(who)
            began = time.monotonic()
            until(lambda each=each: len(launcher.lives(who)) == each)  # type: ignore[misc]  # bound now
            away_s.append(time.monotonic() - began)
    # The middle one: others use the machine, too.
    assert median(away_s[len(monitor.DELAYS_S) - 1 :]) < 1


def test_a_guest_that_runs_is_not_given_up_though_the_manager_never_lives(tmp_path: Path) -> None:
    guest = "[ -e qemu-pid ] || { " + QEMU.format("exec sleep 1000") + "}; "
    with launched(tmp_path, guest + "echo $$ >> manager-lives; exit 1", impatient=True) as launcher:
        until(lambda: len(launcher.lives("manager")) > monitor.TRIES + 1)
        os.kill(launcher.inside(launcher.note("qemu-pid")), 0)


def test_without_a_guest_a_manager_that_dies_early_again_and_again_ends_the_launcher(
    tmp_path: Path,
) -> None:
    with launched(tmp_path, "echo $$ >> manager-lives; exit 3", impatient=True) as launcher:
        until(lambda: len(launcher.lives("manager")) == monitor.TRIES)
        assert launcher.ended() == 1
    assert launcher.messages()[-1] == "the manager ended with code 3, 20 times in a row"


def test_a_program_that_is_not_there_is_told_and_ends_the_launcher(tmp_path: Path) -> None:
    with launched(tmp_path, MANAGING, shell="/nowhere/libvirtd", impatient=True) as launcher:
        assert launcher.ended() == 1
    messages = launcher.messages()
    assert messages[0] == (
        "libvirtd cannot be started: No such file or directory (/nowhere/libvirtd)"
    )
    assert messages[-1] == "libvirtd could not be started, 20 times in a row"


def test_what_will_not_be_better_next_time_is_not_tried_again(tmp_path: Path) -> None:
    manager = "echo $$ >> manager-lives; echo the flag --x is not known > ending; exit 64"
    with launched(tmp_path, manager) as launcher:
        assert launcher.ended() == 1
    assert launcher.messages() == ["the flag --x is not known"]
    assert len(launcher.lives("manager")) == 1


@pytest.mark.parametrize(("end", "recorded", "code"), [("exit 0", "0", 0), ("exit 7", "7", 1)])
def test_how_qemu_ended_is_recorded_and_decides_the_exit_code(
    tmp_path: Path, end: str, recorded: str, code: int
) -> None:
    manager = QEMU.format(end) + "until [ -s qemu-exit ]; do sleep 0.01; done; exit 0"
    with launched(tmp_path, manager) as launcher:
        assert launcher.ended() == code
    assert launcher.exit_of_qemu == recorded


def test_a_qemu_that_ended_before_the_guest_ran_is_not_its_end(tmp_path: Path) -> None:
    """A libvirtd was killed during a start; the next one ends what it finds, the manager starts another."""
    ends = 'until grep -q "^$(cat qemu-pid) " qemu-exit; do sleep 0.01; done; '
    manager = QEMU.format("exit 9") + ends + QEMU.replace("qemu-pid", "next").format("exit 0")
    manager += "mv next qemu-pid; " + ends + "exit 0"
    with launched(tmp_path, manager) as launcher:
        assert launcher.ended() == 0
    assert launcher.exit_of_qemu == "0"


def test_a_guest_that_panicked_is_a_failure_though_its_qemu_ended_in_peace(tmp_path: Path) -> None:
    manager = QEMU.format("exit 0") + (
        "until [ -s qemu-exit ]; do sleep 0.01; done; echo yes > crashed; exit 0"
    )
    with launched(tmp_path, manager) as launcher:
        assert launcher.ended() == 1


def test_a_killed_qemu_is_recorded_as_killed(tmp_path: Path) -> None:
    manager = QEMU.format("exec sleep 1000") + "until [ -s qemu-exit ]; do sleep 0.01; done; exit 0"
    with launched(tmp_path, manager) as launcher:
        until(lambda: launcher.note("qemu-pid"))
        launcher.kill("qemu")
        assert launcher.ended() == 1
    assert launcher.exit_of_qemu == "-9"


def test_a_qemu_that_ended_before_its_pid_was_known_is_found_when_the_manager_ends(
    tmp_path: Path,
) -> None:
    manager = (
        "( setsid sh -c 'echo $$ > early; exit 5' & ); until [ -s early ]; do :; done; "
        "until [ ! -e /proc/$(cat early) ]; do sleep 0.01; done; mv early qemu-pid; exit 0"
    )
    with launched(tmp_path, manager) as launcher:
        assert launcher.ended() == 1
    assert launcher.exit_of_qemu == "5"


def test_a_qemu_that_libvirt_only_asked_what_it_can_do_is_nobodys_guest(tmp_path: Path) -> None:
    manager = "( setsid sh -c 'echo $$ > probe; exit 1' & ); until [ -s probe ]; do :; done; "
    with launched(tmp_path, manager + MANAGING) as launcher:
        until(lambda: launcher.lives("manager"))
        until(lambda: not _is_there(launcher, "probe"))
        launcher.send(signal.SIGTERM)
        launcher.ended()
    assert not (tmp_path / "qemu-exit").exists()


def _is_there(launcher: Launcher, note: str) -> bool:
    try:
        launcher.inside(launcher.note(note))
    except AssertionError:
        return False
    return True


def test_asked_to_end_it_asks_the_manager_and_waits_for_it(tmp_path: Path) -> None:
    manager = (
        "trap 'echo ended on request > ending; exit 0' TERM; echo $$ >> manager-lives; "
        "while :; do sleep 0.01; done"
    )
    with launched(tmp_path, manager) as launcher:
        until(lambda: launcher.lives("manager"))
        launcher.send(signal.SIGTERM)
        assert launcher.ended() == 0
    assert launcher.messages() == ["ended on request"]


def test_a_manager_that_was_away_when_the_end_was_asked_for_still_hears_of_it(
    tmp_path: Path,
) -> None:
    manager = (
        "echo $$ >> manager-lives; [ -e asked-to-end ] && exit 0; "
        "[ $(wc -l < manager-lives) -gt 4 ] && { touch dying; exit 1; }; exit 1"
    )
    with launched(tmp_path, manager) as launcher:
        until((tmp_path / "dying").exists)
        launcher.send(signal.SIGTERM)
        assert launcher.ended() == 0


def test_a_guest_that_does_not_end_within_its_grace_is_ended(tmp_path: Path) -> None:
    manager = QEMU.format("exec sleep 1000") + "trap '' TERM; " + MANAGING
    with launched(tmp_path, manager, grace_s=0.3) as launcher:
        until(lambda: launcher.lives("manager"))
        launcher.send(signal.SIGTERM)
        assert launcher.ended() == 1
    assert launcher.messages()[-1] == "the guest did not end within 0.3 s and was ended"
    assert launcher.exit_of_qemu == "-15"


def test_no_process_is_left_when_the_launcher_has_ended(tmp_path: Path) -> None:
    manager = QEMU.format("exec sleep 1000") + "(setsid sleep 1000 &); " + MANAGING
    with launched(tmp_path, manager, grace_s=0.1) as launcher:
        until(lambda: launcher.lives("manager"))
        namespace = _pid_namespace(launcher.pid)
        launcher.send(signal.SIGTERM)
        launcher.ended()
    assert not [pid for pid in _processes() if _pid_namespace(pid) == namespace]


def test_a_killed_monitor_takes_everything_with_it(tmp_path: Path) -> None:
    with launched(tmp_path, QEMU.format("exec sleep 1000") + MANAGING) as launcher:
        until(lambda: launcher.lives("manager"))
        qemu = launcher.inside(launcher.note("qemu-pid"))
        launcher.send(signal.SIGKILL)
        assert launcher.ended() != 0
        until(lambda: not Path(f"/proc/{qemu}").exists())


def test_it_ends_when_whoever_started_it_is_gone(tmp_path: Path) -> None:
    lifeline, held = os.pipe()
    try:
        manager = QEMU.format("exec sleep 1000") + MANAGING
        with launched(tmp_path, manager, lifeline=lifeline) as launcher:
            until(lambda: launcher.lives("manager"))
            os.close(held)
            assert launcher.ended() == 1
    finally:
        os.close(lifeline)
    assert launcher.messages() == ["whoever started the launcher is gone"]
    assert launcher.exit_of_qemu == "-15"


def test_whoever_starts_it_may_be_gone_before_it_runs(tmp_path: Path) -> None:
    lifeline, held = os.pipe()
    os.close(held)
    try:
        with launched(tmp_path, MANAGING, lifeline=lifeline) as launcher:
            assert launcher.ended() == 1
    finally:
        os.close(lifeline)


def test_hostile_last_words_stay_one_line_of_json(tmp_path: Path) -> None:
    words = 'a "quoted" \\\\ back\\nslash \\033[2J'
    with launched(tmp_path, f"printf '{words}' > ending; exit 0") as launcher:
        assert launcher.ended() == 0
    assert launcher.messages() == ['a "quoted" \\ back slash  [2J']


def test_it_refuses_to_be_any_other_process_than_the_first(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert monitor.main([]) == monitor.USELESS
    assert "first process" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (0, "ended with code 0"),
        (-11, "was ended by SIGSEGV"),
        (-9, "was ended by SIGKILL, by somebody or for lack of memory"),
        (-40, "was ended by signal 40"),
    ],
)
def test_every_end_has_words(code: int, words: str) -> None:
    assert monitor.how(code) == words


def _processes() -> list[str]:
    return [entry.name for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def _pid_namespace(pid: str | int) -> str:
    try:
        return str(Path(f"/proc/{pid}/ns/pid").readlink())
    except OSError:
        return "gone"
