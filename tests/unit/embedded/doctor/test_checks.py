"""What the doctor makes of a machine."""

import os
import platform
import socket
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kubevirt.base.errors import ConfigError
from kubevirt.embedded import home as homes
from kubevirt.embedded.doctor import health, kubectl, machine, needs, place, programs
from kubevirt.embedded.doctor.finding import Verdict, missing, ok
from kubevirt.embedded.home import Choices, Home
from kubevirt.embedded.process.condition import Condition, NodeCondition, State


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.setattr(homes, "_LONGEST", 400)
    return Home.make(tmp_path / "home")


def test_root_is_needed() -> None:
    assert machine.user(0).verdict is Verdict.OK
    assert machine.user(1000).verdict is Verdict.MISSING


@pytest.mark.parametrize(
    ("release", "verdict"),
    [
        ("6.1.0-13-amd64", Verdict.OK),
        ("5.11.0", Verdict.OK),
        ("5.10.9", Verdict.MISSING),
        ("4.19", Verdict.MISSING),
        ("odd", Verdict.MISSING),
    ],
)
def test_an_old_kernel_is_refused(release: str, verdict: Verdict) -> None:
    assert machine.kernel(release).verdict is verdict


def test_a_kernel_without_namespaces_is_refused(tmp_path: Path) -> None:
    (tmp_path / "net").touch()
    found = machine.namespaces(tmp_path)
    assert found.verdict is Verdict.MISSING
    assert "cgroup, ipc, mnt, pid, uts" in found.cause


def test_without_overlay_there_is_a_way_out(tmp_path: Path) -> None:
    known = tmp_path / "filesystems"
    known.write_text("nodev\ttmpfs\n\text4\n")
    assert machine.overlay(known, tmp_path).way_out == "load it with: modprobe overlay"
    known.write_text("nodev\toverlay\n")
    assert machine.overlay(known, tmp_path).verdict is Verdict.OK


@pytest.mark.parametrize(
    ("line", "verdict"),
    [
        ("kernel/fs/overlayfs/overlay.ko:", Verdict.OK),
        ("kernel/fs/overlayfs/overlay.ko.xz: kernel/fs/other.ko.xz", Verdict.OK),
        ("kernel/fs/another_overlay.ko: kernel/fs/overlay.ko", Verdict.WARNING),
    ],
)
def test_an_overlay_that_nobody_has_loaded_yet_is_not_missed(
    tmp_path: Path, line: str, verdict: Verdict
) -> None:
    known = tmp_path / "filesystems"
    known.write_text("nodev\ttmpfs\n")
    (tmp_path / "modules.dep").write_text(f"kernel/drivers/net/tun.ko:\n{line}\n")
    assert machine.overlay(known, tmp_path).verdict is verdict


def test_devices_that_are_missing_are_named(tmp_path: Path) -> None:
    assert [each.verdict for each in machine.devices(tmp_path)] == [Verdict.WARNING] * 2
    (tmp_path / "net").mkdir()
    (tmp_path / "net/tun").touch()
    (tmp_path / "loop-control").touch()
    assert [each.verdict for each in machine.devices(tmp_path)] == [Verdict.OK] * 2


def test_a_missing_program_names_its_package(tmp_path: Path) -> None:
    needed, wished = programs.PROGRAMS[0], programs.PROGRAMS[3]
    found = programs.found(needed, str(tmp_path))
    assert (found.verdict, found.way_out) == (
        Verdict.MISSING,
        "install it with: apt-get install bubblewrap",
    )
    assert programs.found(wished, str(tmp_path)).verdict is Verdict.WARNING


def test_a_program_that_does_as_well_is_not_missed(tmp_path: Path) -> None:
    libvirt = next(each for each in programs.PROGRAMS if each.name == "libvirtd")
    assert programs.found(libvirt, str(tmp_path)).verdict is Verdict.WARNING
    (tmp_path / "virtqemud").touch(0o755)
    assert programs.found(libvirt, str(tmp_path)) == ok("libvirtd", str(tmp_path / "virtqemud"))


def test_guests_are_run_by_the_program_for_this_machines_processor() -> None:
    names = [each.name for each in programs.PROGRAMS]
    assert f"qemu-system-{platform.machine()}" in names


@pytest.mark.parametrize(
    ("version", "verdict"),
    [
        ("1.20.2", Verdict.WARNING),
        ("1.29.15", Verdict.WARNING),
        ("1.30.0", Verdict.OK),
        ("1.34.4", Verdict.OK),
        ("2.0", Verdict.OK),
        ("", Verdict.OK),
    ],
)
def test_a_kubectl_without_websockets_is_warned_of(version: str, verdict: Verdict) -> None:
    assert kubectl.judged(version, "/usr/bin/kubectl").verdict is verdict


def test_whoever_has_no_good_kubectl_is_not_sent_for_debians(tmp_path: Path) -> None:
    missing_one = programs.found(programs.PROGRAMS[-1], str(tmp_path))
    for found in (missing_one, kubectl.judged("1.20.2", "/usr/bin/kubectl")):
        assert "1.30 or newer" in found.way_out
        assert "apt-get" not in found.way_out
    asked = kubectl.judged("1.29.1", "/usr/bin/kubectl")
    assert "KUBECTL_REMOTE_COMMAND_WEBSOCKETS=true" in asked.way_out


async def test_a_program_tells_its_version(tmp_path: Path) -> None:
    shell = programs.Program(name="bash", package="bash", purpose="is a shell")
    assert (await programs.with_version(shell)).cause.startswith("5.")


def test_a_folder_is_judged_as_up_would(home: Home, tmp_path: Path) -> None:
    assert place.folder(home).verdict is Verdict.OK
    assert place.folder(Home(tmp_path / "none")).verdict is Verdict.NOTE
    assert place.folder(Home(tmp_path)).verdict is Verdict.MISSING
    (home.path / "version").write_text("99")
    assert "newer version" in place.folder(home).cause


def test_a_disk_that_is_nearly_full_is_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place_that_comes = tmp_path / "not" / "there"
    assert place.space(place_that_comes).verdict in (Verdict.OK, Verdict.WARNING)
    monkeypatch.setattr(place, "LEAST_BYTES", 1 << 60)
    assert place.space(place_that_comes).verdict is Verdict.MISSING


def test_a_port_in_use_is_told_of(home: Home) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        home.remember(Choices(port=taken.getsockname()[1]))
        assert place.port(home).verdict is Verdict.MISSING
    assert place.port(home).verdict is Verdict.OK


def test_files_of_the_future_tell_of_a_clock_that_was_set_back(home: Home) -> None:
    home.store.touch()
    now = datetime.now(UTC)
    os.utime(home.store, (now.timestamp(), now.timestamp()))
    assert place.clock(home, now).verdict is Verdict.OK
    assert place.clock(home, now - timedelta(hours=1)).verdict is Verdict.WARNING


@pytest.mark.parametrize(
    ("state", "verdict"),
    [
        (State.ABSENT, Verdict.NOTE),
        (State.DOWN, Verdict.NOTE),
        (State.STARTING, Verdict.NOTE),
        (State.STOPPING, Verdict.NOTE),
        (State.UP, Verdict.OK),
        (State.SILENT, Verdict.WARNING),
        (State.DIED, Verdict.WARNING),
    ],
)
def test_a_process_is_well_or_not(state: State, verdict: Verdict) -> None:
    (found,) = health.process(Condition(home="/h", state=state))
    assert found.verdict is verdict


def test_a_node_that_is_not_ready_is_told_of() -> None:
    nodes = (
        NodeCondition(name="node01", is_ready=True),
        NodeCondition(name="node02", is_ready=False, message="it sleeps"),
    )
    _, *found = health.process(Condition(home="/h", state=State.UP, nodes=nodes))
    assert [each.verdict for each in found] == [Verdict.OK, Verdict.WARNING]


def test_port_forward_is_said_not_to_work() -> None:
    assert any("port-forward" in each.name and "SPDY" in each.cause for each in health.limits())


def test_all_that_is_missing_is_said_in_one_sentence(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "user", lambda: missing("root", "no root", "use sudo"))
    monkeypatch.setattr(programs, "keeper", lambda: missing("keeper", "no keeper", "build it"))
    monkeypatch.setattr(programs, "all_found", lambda: iter(()))
    with pytest.raises(ConfigError) as refused:
        needs.check(home)
    assert str(refused.value) == (
        "this machine is not ready for it: no root (use sudo); no keeper (build it)"
    )
    assert refused.value.reason == "NotAble"
    monkeypatch.setattr(programs, "keeper", lambda: ok("keeper", "there"))
    with pytest.raises(ConfigError) as refused:
        needs.check(home)
    assert (str(refused.value), refused.value.reason) == ("no root; use sudo", "NotRoot")
