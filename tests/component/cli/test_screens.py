"""virtctl vnc: a local port for one viewer, a viewer of this machine, a picture."""

import json
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from aiohttp import web
from tests.component.cli import stand_in, terminals
from tests.component.cli.conftest import Place, Virtctl
from tests.component.cli.terminals import LIMIT_S

from kubevirt.cli import exit_codes

PNG = b"\x89PNG\r\n\x1a\n\x00picture"


@pytest.fixture
def guest(place: Place) -> Place:
    place.instance()
    path = place.below("vmi", "testvm", "vnc")
    place.virt_api.talks[path] = stand_in.greeting(b"RFB 003.008\n")
    return place


def proxy(guest: Place, *words: str) -> tuple["subprocess.Popen[bytes]", int]:
    program = guest.start("vnc", "testvm", "--proxy-only", *words)
    assert program.stdout is not None
    line = program.stdout.readline()
    return program, int(json.loads(line)["port"])


def test_proxy_only_says_its_port_as_upstream_does(guest: Place) -> None:
    program = guest.start("vnc", "testvm", "--proxy-only=true")
    assert program.stdout is not None
    line = program.stdout.readline()
    assert line == b'{"port":%d}\n' % json.loads(line)["port"]
    program.send_signal(signal.SIGINT)
    assert terminals.ended(program) == 0


def test_a_viewer_sees_the_screen_and_its_end_ends_the_proxy(guest: Place) -> None:
    program, port = proxy(guest)
    with socket.create_connection(("127.0.0.1", port), LIMIT_S) as viewer:
        assert viewer.recv(100) == b"RFB 003.008\n"
        viewer.sendall(b"bye")
        assert viewer.recv(100) == b"BYE"
        assert viewer.recv(100) == b""
    assert terminals.ended(program) == 0
    assert guest.virt_api.last("vnc").query == {}


def test_a_session_is_preserved_if_that_is_wanted(guest: Place) -> None:
    program, _ = proxy(guest, "--preserve-session")
    assert guest.virt_api.last("vnc").query == {"preserveSession": "true"}
    program.send_signal(signal.SIGINT)
    assert terminals.ended(program) == 0


def test_a_viewer_is_started_and_waited_for(guest: Place, tmp_path: Path) -> None:
    """One that is no window: it connects, says what it saw, and ends."""
    viewer = tmp_path / "viewer"
    seen = tmp_path / "seen"
    viewer.write_text(
        f"#!{sys.executable}\n"
        "import socket, sys, pathlib\n"
        "host, port = sys.argv[1].split('::')\n"
        "with socket.create_connection((host, int(port)), 60) as screen:\n"
        f"    pathlib.Path({str(seen)!r}).write_bytes(screen.recv(100))\n"
    )
    viewer.chmod(0o755)
    program = guest.start("vnc", "testvm", "--vnc-path", str(viewer))
    _, err = program.communicate(timeout=LIMIT_S)
    assert (program.returncode, err) == (0, b"")
    assert seen.read_bytes() == b"RFB 003.008\n"


def test_a_machine_without_a_viewer_is_told_of_the_proxy(
    virtctl: Virtctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    done = virtctl("vnc", "testvm")
    assert done.code == exit_codes.NOT_ABLE
    assert "no remote-viewer and no vncviewer" in done.err
    assert "virtctl vnc --proxy-only" in done.err


def test_a_guest_without_a_screen_is_said_before_a_viewer_opens(
    place: Place, virtctl: Virtctl
) -> None:
    what = f"GET {place.below('vmi', 'testvm', 'vnc')}"
    place.virt_api.refuse(what, 400, "No graphics devices are present.", "BadRequest")
    done = virtctl("vnc", "testvm", "--proxy-only")
    assert (done.code, done.out) == (1, "")
    assert done.err == "virtctl: No graphics devices are present.\n"


def test_a_taken_port_is_a_conflict(guest: Place, virtctl: Virtctl) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = virtctl("vnc", "testvm", "--proxy-only", "--port", str(port))
    assert done.code == exit_codes.CONFLICT
    assert f"port {port} of 127.0.0.1" in done.err


def test_a_screenshot_is_written_to_a_file(place: Place, virtctl: Virtctl, tmp_path: Path) -> None:
    what = f"GET {place.below('vmi', 'testvm', 'vnc/screenshot')}"
    place.virt_api.answers[what] = lambda: web.Response(body=PNG, content_type="image/png")
    done = virtctl("vnc", "screenshot", "testvm", "-f", str(tmp_path / "a.png"), "--move-cursor")
    assert (done.code, done.out, done.err) == (0, "", "")
    assert (tmp_path / "a.png").read_bytes() == PNG
    assert place.virt_api.last("screenshot").query == {"moveCursor": "true"}


def test_a_screenshot_goes_into_a_pipe_as_it_is(place: Place) -> None:
    what = f"GET {place.below('vmi', 'testvm', 'vnc/screenshot')}"
    place.virt_api.answers[what] = lambda: web.Response(body=PNG, content_type="image/png")
    program = place.start("vnc", "screenshot", "vmi/testvm")
    out, _ = program.communicate(timeout=LIMIT_S)
    assert (program.returncode, out) == (0, PNG)
