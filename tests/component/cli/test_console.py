"""virtctl console, at a terminal and in a pipe."""

import signal
import subprocess
import threading
from collections.abc import Iterator

import pytest
from aiohttp import web
from tests.component.cli import stand_in, terminals
from tests.component.cli.conftest import Place, Virtctl
from tests.component.cli.terminals import LIMIT_S, Terminal

from kubevirt.cli import exit_codes

GREETING = b"Successfully connected to testvm console. Press Ctrl+] or Ctrl+5 to exit console.\r\n"


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    with terminals.opened() as made:
        yield made


@pytest.fixture
def guest(place: Place) -> Place:
    """One that runs, and says again in capitals what it hears."""
    place.instance()
    talks(place, stand_in.greeting(b"login: "))
    return place


def talks(place: Place, talk: stand_in.Talk) -> None:
    place.virt_api.talks[place.below("vmi", "testvm", "console")] = talk


def at(place: Place, terminal: Terminal, *words: str) -> "subprocess.Popen[bytes]":
    end = terminal.others
    return place.start("console", "testvm", *words, stdin=end, stdout=end, stderr=end)


def test_keys_go_to_the_guest_and_the_escape_key_ends_it(guest: Place, terminal: Terminal) -> None:
    before = terminal.settings()
    program = at(guest, terminal)
    terminal.until(GREETING)
    terminal.until(b"login: ")
    assert terminal.is_raw
    terminal.type(b"root\x03")  # Ctrl+C is the guest's
    terminal.until(b"ROOT\x03")
    terminal.type(b"\x1d")
    assert terminals.ended(program) == 0
    assert terminal.settings() == before


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_and_leaves_the_terminal_as_it_was(
    guest: Place, terminal: Terminal, number: signal.Signals
) -> None:
    before = terminal.settings()
    program = at(guest, terminal)
    terminal.until(b"login: ")
    program.send_signal(number)
    assert terminals.ended(program) == exit_codes.INTERRUPTED
    assert terminal.settings() == before


def test_the_guests_end_is_its_end(guest: Place, terminal: Terminal) -> None:
    before = terminal.settings()
    program = at(guest, terminal)
    terminal.until(b"login: ")
    terminal.type(b"bye")
    terminal.until(b"The console of testvm is closed")
    assert terminals.ended(program) == 0
    assert terminal.settings() == before


def test_a_silent_guest_gets_a_hint(guest: Place, terminal: Terminal) -> None:
    talks(guest, stand_in.silent)
    program = at(guest, terminal)
    terminal.until(
        b"no output for 5 s: the guest may have no serial getty; press Enter or try: virtctl vnc testvm\r\n"
    )
    terminal.type(b"\x1d")
    assert terminals.ended(program) == 0


def test_a_pipe_is_written_to_the_guest_and_its_answer_is_read(guest: Place) -> None:
    program = guest.start("console", "testvm")
    out, err = program.communicate(b"whoami\n", timeout=LIMIT_S)
    assert program.returncode == 0
    assert out == b"login: WHOAMI\n"
    assert err == GREETING.replace(b"\r", b"")


def test_a_file_is_written_to_the_guest_too(guest: Place) -> None:
    with open(guest.server.folder / "typed", "wb+") as file:  # noqa: PTH123  # for a descriptor
        file.write(b"whoami\n")
        file.seek(0)
        program = guest.start("console", "testvm", stdin=file)
        out, _ = program.communicate(timeout=LIMIT_S)
    assert (program.returncode, out) == (0, b"login: WHOAMI\n")


def test_a_lot_of_output_arrives_whole(guest: Place) -> None:
    whole = b"".join(b"line %d\n" % number for number in range(50_000))

    async def flood(socket: web.WebSocketResponse) -> None:
        for start in range(0, len(whole), 10_000):
            await socket.send_bytes(whole[start : start + 10_000])

    talks(guest, flood)
    program = guest.start("console", "testvm")
    out, _ = program.communicate(timeout=LIMIT_S)
    assert out == whole


def test_a_guest_that_is_coming_is_waited_for(place: Place) -> None:
    place.instance(phase="Scheduling")
    talks(place, stand_in.greeting(b"hello"))
    later = threading.Timer(1.0, lambda: place.tell_instance("testvm", {"phase": "Running"}))
    later.start()
    program = place.start("console", "testvm")
    out, _ = program.communicate(b"\x1d", timeout=LIMIT_S)
    later.join()
    assert program.returncode == 0
    assert out in (b"", b"hello")  # the key may be there before the greeting


def test_a_guest_that_does_not_come_is_given_up(place: Place, virtctl: Virtctl) -> None:
    place.instance(phase="Scheduling")
    done = virtctl("console", "testvm", "--timeout", "1s")
    assert done.code == exit_codes.TIMEOUT
    assert "VirtualMachineInstance testvm is not Running after 1 s: it is Scheduling" in done.err


def test_a_guest_that_is_not_there_is_not_found(virtctl: Virtctl) -> None:
    done = virtctl("console", "testvm")
    assert done.code == exit_codes.NOT_FOUND
    assert 'virtualmachineinstances.kubevirt.io "testvm" not found' in done.err
    assert "virtctl start testvm" in done.err


def test_with_wait_a_guest_may_even_not_be_there_yet(place: Place) -> None:
    talks(place, stand_in.greeting(b"hello"))
    later = threading.Timer(1.0, place.instance)
    later.start()
    program = place.start("console", "testvm", "--wait")
    out, _ = program.communicate(b"bye", timeout=LIMIT_S)
    later.join()
    assert (program.returncode, out) == (0, b"helloBYE")


def test_a_refused_console_is_in_the_servers_words(place: Place, virtctl: Virtctl) -> None:
    place.instance()
    what = f"GET {place.below('vmi', 'testvm', 'console')}"
    place.virt_api.refuse(what, 400, "No serial consoles are present.", "BadRequest")
    done = virtctl("console", "testvm")
    assert (done.code, done.err) == (1, "virtctl: No serial consoles are present.\n")
