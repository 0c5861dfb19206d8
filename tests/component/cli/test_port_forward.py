"""virtctl port-forward: TCP, UDP, standard input and output."""

import signal
import socket
import subprocess
import time

import pytest
from tests.component.cli import stand_in, terminals
from tests.component.cli.conftest import Place, Virtctl
from tests.component.cli.terminals import LIMIT_S

from kubevirt.cli import exit_codes


@pytest.fixture
def guest(place: Place) -> Place:
    for kind in ("vm", "vmi"):
        for protocol in ("tcp", "udp"):
            path = place.below(kind, "testvm", f"portforward/80/{protocol}")
            place.virt_api.talks[path] = stand_in.echo
    return place


def forwarded(guest: Place, *words: str) -> tuple["subprocess.Popen[bytes]", list[int]]:
    program = guest.start("port-forward", *words)
    assert program.stdout is not None
    ports = []
    for _ in words[1:]:
        line = program.stdout.readline().decode()
        assert line.startswith("forwarding "), line
        ports.append(int(line.split(":")[1].split()[0]))
    return program, ports


def test_several_ports_lead_to_the_guest_each_connection_by_itself(guest: Place) -> None:
    program, ports = forwarded(guest, "vm/testvm", "0:80", "udp/0:80")
    for text in (b"one", b"two"):
        with socket.create_connection(("127.0.0.1", ports[0]), LIMIT_S) as web:
            web.sendall(text)
            assert web.recv(100) == text.upper()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.settimeout(LIMIT_S)
        for text in (b"three", b"four"):
            sender.sendto(text, ("127.0.0.1", ports[1]))
            assert sender.recv(100) == text.upper()
    program.send_signal(signal.SIGINT)
    assert terminals.ended(program) == 0
    udp = [each for each in guest.virt_api.asked if each.path.endswith("80/udp")]
    assert len([each for each in udp if guest.namespace in each.path]) == 1


def test_what_was_asked_is_answered_after_the_last_word(guest: Place) -> None:
    """A client that says that it has no more to say still reads."""
    program, (port,) = forwarded(guest, f"vmi/testvm/{guest.namespace}", "tcp/0:80")
    with socket.create_connection(("127.0.0.1", port), LIMIT_S) as web:
        web.sendall(b"get / bye")
        web.shutdown(socket.SHUT_WR)
        assert web.recv(100) == b"GET / BYE"
        assert web.recv(100) == b""
    program.send_signal(signal.SIGINT)
    assert terminals.ended(program) == 0


def test_a_refused_connection_is_said_and_the_others_go_on(guest: Place) -> None:
    what = guest.below("vmi", "testvm", "portforward/81/tcp")
    guest.virt_api.refuse(f"GET {what}", 409, "VMI is paused", "Conflict")
    program, (bad, good) = forwarded(guest, "vmi/testvm", "0:81", "0:80")
    with socket.create_connection(("127.0.0.1", bad), LIMIT_S) as web:
        assert web.recv(100) == b""
    with socket.create_connection(("127.0.0.1", good), LIMIT_S) as web:
        web.sendall(b"bye")
        assert web.recv(100) == b"BYE"
    assert program.stderr is not None
    assert program.stderr.readline() == b"virtctl: VMI is paused\n"
    program.send_signal(signal.SIGINT)
    assert terminals.ended(program) == 0


def test_standard_input_and_output_are_the_connection(guest: Place) -> None:
    program = guest.start("port-forward", "--stdio=true", "vmi/testvm", "80")
    out, err = program.communicate(b"ssh, bye", timeout=LIMIT_S)
    assert (program.returncode, out, err) == (0, b"SSH, BYE", b"")


def test_nobody_lingers_for_an_ssh_that_has_gone(guest: Place) -> None:
    """Without an answer to come, the end of the pipes is its end."""
    path = guest.below("vmi", "testvm", "portforward/80/tcp")
    guest.virt_api.talks[path] = stand_in.silent
    program = guest.start("port-forward", "--stdio=true", "vmi/testvm", "80", patient=True)
    assert program.stdin is not None
    assert program.stdout is not None
    asked = [each.path for each in guest.virt_api.asked]
    end = time.monotonic() + LIMIT_S
    while path not in asked:
        assert time.monotonic() < end
        time.sleep(0.05)
        asked = [each.path for each in guest.virt_api.asked]
    program.stdin.close()
    program.stdout.close()
    program.stdin = program.stdout = None
    assert terminals.ended(program) == 0


def test_a_taken_port_is_said_before_any_is_opened(guest: Place, virtctl: Virtctl) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = virtctl("port-forward", "vm/testvm", "0:80", f"{taken.getsockname()[1]}:80")
    assert (done.code, done.out) == (exit_codes.CONFLICT, "")


@pytest.mark.parametrize(
    "words",
    [
        ["port-forward", "vm/testvm"],
        ["port-forward", "vm/testvm", "sctp/80"],
        ["port-forward", "vm/testvm", "80:"],
        ["port-forward", "vm/testvm", "70000"],
        ["port-forward", "vm/testvm", "80:0"],
        ["port-forward", "pod/testvm", "80"],
        ["port-forward", "--stdio", "vm/testvm", "80", "81"],
        ["port-forward", "vm/testvm", "0:80", "--address", "localhost"],
    ],
)
def test_a_wrong_line_opens_nothing(virtctl: Virtctl, words: list[str]) -> None:
    done = virtctl(*words)
    assert (done.code, done.out) == (exit_codes.USAGE, "")
