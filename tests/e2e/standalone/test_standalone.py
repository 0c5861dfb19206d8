"""`virt-launcher --standalone` as its user meets it: real guests, a real network, a real terminal."""

import http.server
import json
import os
import signal
import sys
import termios
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml
from tests.component.host.net_world import World
from tests.e2e.standalone.driver import LIMIT_S, Machine, Session

from kubevirt.components.launcher.standalone.console import HOW_TO_LEAVE, LEFT

pytestmark = pytest.mark.timeout(300)

EXAMPLES = Path(__file__).parents[3] / "examples" / "standalone"
VM = EXAMPLES / "vm.yaml"
WITH_FILES = EXAMPLES / "vmi-with-files.yaml"
PYTHON = Path(sys.executable).resolve().name
"""Whatever its version: the virtual environment's, which is the launcher's too."""


@contextmanager
def a_web_server(world: World) -> Iterator[str]:
    """Outside the machine; its address."""

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(f"hello {self.client_address[0]}\n".encode())

        def log_message(self, *_: object) -> None:
            pass

    server = world.outside.call(lambda: http.server.HTTPServer(("10.244.1.1", 0), Page))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://10.244.1.1:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_machine_boots_to_a_login_reaches_out_and_powers_off(machine: Machine) -> None:
    with (
        a_web_server(machine.world) as address,
        machine.launched("--standalone", str(VM), "--console") as session,
    ):
        session.log_in()
        assert session.run("hostname") == "testvm"
        # The server sees the machine's own address, not the guest's: that is what masquerade means.
        assert "hello 10.244.1.5" in session.run(f"wget -qO- {address}")
        session.type("sudo poweroff\n")
        assert session.ended() == 0
    assert session.said.splitlines()[-1] == "virt-launcher: the guest has shut down"


def test_boot_messages_from_the_very_first_are_shown(machine: Machine) -> None:
    with machine.launched("--standalone", str(VM), "--console") as session:
        shown = session.until("login: ")
        session.send(signal.SIGTERM)
        session.ended()
    assert shown.count("guest: user-data is neither #cloud-config nor a script") == 1


def test_the_manifest_may_come_as_json_in_the_environment(machine: Machine) -> None:
    text = json.dumps(yaml.safe_load(VM.read_text()))
    with machine.launched(STANDALONE_VMI=text) as session:
        session.until_said("guest testvm runs at ")
        session.send(signal.SIGINT)
        session.send(signal.SIGTERM)
        assert session.ended() == 1
    assert "the guest was ended at once" in session.said


def test_one_interruption_lets_the_guest_shut_down(machine: Machine) -> None:
    with machine.launched("--standalone", str(VM), "--console") as session:
        session.until("login: ")
        session.send(signal.SIGINT)
        assert session.ended() == 0
    assert "asking the guest to end" in session.said


def test_configuration_secrets_and_a_disk_of_the_users_own_reach_the_guest(
    machine: Machine, tmp_path: Path
) -> None:
    disk = tmp_path / "data.img"
    disk.write_bytes(b"mine" + bytes((1 << 20) - 4))
    os.chown(disk, 1000, 1000)
    with machine.launched(
        *("--standalone", str(WITH_FILES), "--volume", f"data={disk}", "--console")
    ) as session:
        session.log_in()
        assert session.run("hostname") == "from-a-secret"
        assert "green" in session.run(_file_on("SETTINGS", "colour"))
        assert "open sesame" in session.run(_file_on("KEYS", "key"))
        session.run(f"echo -n yours | sudo dd of={_device('DATA')} conv=notrunc 2>/dev/null; sync")
        session.type("sudo poweroff\n")
        assert session.ended() == 0
    assert disk.read_bytes()[:5] == b"yours"
    assert (disk.stat().st_uid, disk.stat().st_gid) == (1000, 1000)


def _device(serial: str) -> str:
    return f"/dev/$(cd /sys/block; grep -l {serial} */serial | cut -d/ -f1)"


def _file_on(serial: str, name: str) -> str:
    return f"sudo mount -r {_device(serial)} /mnt && cat /mnt/{name}; sudo umount /mnt"


def test_all_processes_of_a_guest_share_its_limits(machine: Machine, tmp_path: Path) -> None:
    manifest = yaml.safe_load(VM.read_text())
    domain = manifest["spec"]["template"]["spec"]["domain"]
    domain["resources"]["limits"] = {"memory": "64M", "cpu": "2"}
    file = tmp_path / "vm.yaml"
    file.write_text(yaml.safe_dump(manifest))
    with machine.launched("--standalone", str(file)) as session:
        session.until_said("guest testvm runs at ")
        groups = [Path(each) for each in machine.cgroups()]
        assert groups
        for each in groups:
            names = [_name(pid) for pid in (each / "cgroup.procs").read_text().split()]
            assert {"bwrap", "libvirtd", "qemu-system-x86_64"} <= set(names)
            assert names.count(PYTHON) >= 2  # monitor and manager
        limit = next(
            int(file.read_text())
            for each in groups
            for file in (each / "memory.limit_in_bytes", each / "memory.max")
            if file.exists()
        )
        assert 64_000_000 < limit < 64_000_000 + (300 << 20)


def _name(pid: str) -> str:
    """Of its program, as the kernel has it; nothing if it is gone."""
    try:
        return Path(f"/proc/{pid}/exe").readlink().name
    except OSError:
        return ""


def test_while_the_guest_runs_the_outer_process_is_small(machine: Machine) -> None:
    with machine.launched("--standalone", str(VM), "--console") as session:
        session.until("login: ")
        status = Path(f"/proc/{session.process.pid}/status").read_text()
    resident = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    assert int(resident.split()[1]) < 20_000, resident


def test_a_killed_dhcp_server_is_back(machine: Machine) -> None:
    with machine.launched("--standalone", str(VM), "--console") as session:
        session.log_in()
        first = _dnsmasq(session)
        os.kill(first, signal.SIGKILL)
        deadline = time.monotonic() + LIMIT_S
        while (second := _dnsmasq(session)) in (0, first):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert second


def _dnsmasq(session: Session) -> int:
    pid = session.process.pid
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return next((int(each) for each in children if _name(each) == "dnsmasq"), 0)


# The terminal.


def test_on_a_terminal_the_console_can_be_left_and_the_terminal_is_as_before(
    machine: Machine,
) -> None:
    with machine.launched("--standalone", str(VM), "--console", terminal=True) as session:
        before = termios.tcgetattr(session.terminal)
        session.until(HOW_TO_LEAVE)
        session.until("login: ")
        assert termios.tcgetattr(session.terminal) != before
        session.type("\x1d")
        session.until(LEFT)
        assert termios.tcgetattr(session.terminal) == before
        session.type("\x03")  # no longer the guest's
        session.until("asking the guest to end")
        assert session.process.wait(LIMIT_S) == 0


def test_in_the_console_ctrl_c_is_the_guests(machine: Machine) -> None:
    with machine.launched("--standalone", str(VM), "--console", terminal=True) as session:
        session.log_in()
        session.type("sh -c 'echo be\"\"gun; exec sleep 1000'\n")
        session.until("begun")  # it is the terminal's foreground program by now
        session.type("\x03")
        session.until("$ ")
        assert session.run("echo still here") == "still here"
        session.type("sudo poweroff\n")
        assert session.process.wait(LIMIT_S) == 0


def test_a_closed_window_ends_the_guest(machine: Machine) -> None:
    with machine.launched("--standalone", str(VM), "--console", terminal=True) as session:
        session.until("login: ")
        session.close_window()
        assert session.process.wait(LIMIT_S) == 0


def test_a_reader_of_the_output_may_leave_and_the_guest_runs_on(machine: Machine) -> None:
    with machine.launched("--standalone", str(VM), "--console") as session:
        session.log_in()
        assert session.process.stdout
        session.process.stdout.close()
        session.type("sudo poweroff\n")
        assert session.process.wait(LIMIT_S) == 0


# Deaths.


def test_a_killed_run_takes_its_guest_with_it_and_the_next_one_cleans_up(
    machine: Machine, tmp_path: Path
) -> None:
    disk = tmp_path / "data.img"
    disk.write_bytes(bytes(1 << 20))
    words = ("--standalone", str(WITH_FILES), "--volume", f"data={disk}")
    with machine.launched(*words) as session:
        session.until_said("guest with-files runs at ")
        session.send(signal.SIGKILL)
        session.process.wait(LIMIT_S)
        deadline = time.monotonic() + LIMIT_S
        while machine.processes():
            assert time.monotonic() < deadline, machine.processes()
            time.sleep(0.02)
    assert machine.files()
    assert disk.stat().st_uid == 107
    with machine.launched(*words) as session:
        session.until_said("guest with-files runs at ")
        session.send(signal.SIGINT)
        session.send(signal.SIGTERM)
        session.ended()
    assert disk.stat().st_uid == os.geteuid()


def test_an_interruption_before_the_guest_runs_leaves_nothing(machine: Machine) -> None:
    with machine.launched("--standalone", str(VM)) as session:
        deadline = time.monotonic() + LIMIT_S
        while not list(machine.home.glob("runs/*/launcher.log")):
            assert time.monotonic() < deadline
            time.sleep(0.005)
        session.send(signal.SIGINT)
        session.send(signal.SIGINT)
        assert session.ended() == 1


def test_a_spec_that_the_launcher_refuses_is_told_in_its_words(
    machine: Machine, tmp_path: Path
) -> None:
    manifest = yaml.safe_load(VM.read_text())
    for disk in manifest["spec"]["template"]["spec"]["domain"]["devices"]["disks"]:
        disk["bootOrder"] = 1
    file = tmp_path / "vm.yaml"
    file.write_text(yaml.safe_dump(manifest))
    with machine.launched("--standalone", str(file)) as session:
        assert session.ended() == 1
    assert "bootOrder" in session.said.splitlines()[-1]
