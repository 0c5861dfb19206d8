"""KubeVirt's own virtctl, the program itself, does with our virt-api what it does with its own.

What it asks is also replayed without it: `tests/component/virtapi/test_upstream_virtctl.py`.
"""

import asyncio
import json
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.component.cli import terminals
from tests.e2e.vms import screen
from tests.e2e.vms.objects import Object, a_vm
from tests.e2e.vms.place import LIMIT_S, Place
from tests.e2e.vms.reaching import printed, with_password

from clusterup import binaries, progress, settings
from clusterup.pytest_plugin import session_loop

WANTED = "SOAK_UPSTREAM_VIRTCTL"
VERSIONS = {"1.6": "v1.6.0", "1.8": "v1.8.2"}
BOOT_ID = "/proc/sys/kernel/random/boot_id"

pytestmark = pytest.mark.skipif(
    not os.environ.get(WANTED),
    reason=f"KubeVirt's own virtctl is built from its Go modules (minutes, once): {WANTED}=1",
)


@pytest.fixture(scope="module")
def programs() -> binaries.Binaries:
    """Built, or found in the cache."""
    found = binaries.Binaries(
        Path(__file__).parent / "upstream-virtctl", settings.cache_folder(os.environ)
    )
    with session_loop() as loop:
        loop.run(found.ensure(found.all_programs(), progress.Progress("upstream virtctl")))
    return found


class Theirs:
    """Their virtctl in a place of ours."""

    def __init__(self, program: Path, place: Place) -> None:
        self._program = program
        self.place = place

    def words(self, *words: str) -> list[str]:
        return [str(self._program), f"--namespace={self.place.namespace}", *words]

    def __call__(self, *words: str) -> str:
        return printed(self.words(*words), self.place.home.environment)

    @contextmanager
    def going_on(self, *words: str, terminal: int | None = None) -> Iterator[subprocess.Popen[str]]:
        """While the body runs."""
        with subprocess.Popen(
            self.words(*words),
            stdin=terminal,
            stdout=subprocess.PIPE if terminal is None else terminal,
            stderr=terminal,
            text=True,
            env=self.place.home.environment,
        ) as program:
            try:
                yield program
            finally:
                program.send_signal(signal.SIGINT)


@pytest.fixture(params=VERSIONS)
def theirs(request: pytest.FixtureRequest, programs: binaries.Binaries, place: Place) -> Theirs:
    return Theirs(programs.path(f"virtctl-{request.param}"), place)


@pytest.mark.timeout(1800)
async def test_their_virtctl_works_with_our_virt_api_unchanged(
    theirs: Theirs, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    place, version = theirs.place, VERSIONS[request.node.callspec.params["theirs"]]
    said = theirs("version")
    assert f'GitVersion:"{version}"' in said.splitlines()[0]
    assert said.splitlines()[1].startswith("Server Version: version.Info{GitVersion:")
    wanted = a_vm("testvm", runStrategy="Manual")
    await place.create(wanted)
    assert theirs("start", "testvm") == "VM testvm was scheduled to start"
    await place.until("testvm", _has_an_agent, "met by its agent")
    boot = await asyncio.to_thread(_at_the_console, theirs)
    await _by_network(theirs, boot, tmp_path)
    await asyncio.to_thread(_on_the_screen, theirs)
    await _paused_and_unpaused(theirs)
    assert json.loads(theirs("guestosinfo", "testvm"))["hostname"] == "testvm"
    assert isinstance(json.loads(theirs("userlist", "testvm")), dict)
    assert isinstance(json.loads(theirs("fslist", "testvm")), dict)
    _expanded(theirs, wanted, tmp_path)
    await _restarted(theirs)
    assert theirs("stop", "testvm") == "VM testvm was scheduled to stop"
    await place.until_status("testvm", "Stopped")


def _has_an_agent(vm: Object) -> bool:
    conditions = vm.get("status", {}).get("conditions", ())
    return any(each["type"] == "AgentConnected" and each["status"] == "True" for each in conditions)


def _at_the_console(theirs: Theirs) -> str:
    with (
        terminals.opened() as terminal,
        theirs.going_on("console", "testvm", terminal=terminal.others) as program,
    ):
        terminal.until(b"Successfully connected to testvm console")
        for shown, typed in (
            (b"", b"\n"),
            (b"login: ", b"cirros\n"),
            (b"Password: ", b"gocubsgo\n"),
            (b"$ ", f"cat {BOOT_ID}; echo that was '@it'\n".encode()),
            (b"that was @it", b"\x1d"),
        ):
            terminal.until(shown)
            terminal.type(typed)
        program.wait(LIMIT_S)
    lines = terminal.shown.decode().splitlines()
    return next(line for line in lines if len(line) == 36 and line.count("-") == 4)


async def _by_network(theirs: Theirs, boot: str, folder: Path) -> None:
    """By their ssh, which is the local one through a port; and by a port of our own choice."""
    environment = with_password(theirs.place, folder)
    command = (
        "cat " + BOOT_ID,
        "mkdir /tmp/w; echo hello >/tmp/w/index.html; sudo httpd -h /tmp/w",
    )
    options = [f"--known-hosts={folder}/known", "--local-ssh-opts=-o StrictHostKeyChecking=no"]
    for each, answer in zip(command, (boot, ""), strict=True):
        words = theirs.words("ssh", "cirros@vm/testvm", *options, f"--command={each}")
        assert await asyncio.to_thread(printed, words, environment) == answer
    port = _free_port()
    with theirs.going_on("port-forward", "vm/testvm", f"{port}:80"):
        assert await asyncio.to_thread(_fetched, port) == b"hello\n"


def _free_port() -> int:
    """Theirs takes no zero for one."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        port: int = server.getsockname()[1]
        return port


def _fetched(port: int) -> bytes:
    end = time.monotonic() + LIMIT_S
    while True:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=LIMIT_S) as answer:
                found: bytes = answer.read()
                return found
        except (OSError, urllib.error.URLError):
            assert time.monotonic() < end, "nothing listens"
            time.sleep(0.1)


def _on_the_screen(theirs: Theirs) -> None:
    with theirs.going_on("vnc", "testvm", "--proxy-only") as proxy:
        assert proxy.stdout
        seen = screen.by_viewer(json.loads(proxy.stdout.readline())["port"])
        assert seen.width
        assert seen.height


async def _paused_and_unpaused(theirs: Theirs) -> None:
    assert theirs("pause", "vm", "testvm") == "VMI testvm was scheduled to pause"
    await theirs.place.until_status("testvm", "Paused")
    assert theirs("unpause", "vm", "testvm") == "VMI testvm was scheduled to unpause"
    await theirs.place.until_status("testvm", "Running")


def _expanded(theirs: Theirs, wanted: dict[str, Any], folder: Path) -> None:
    """One that is there, and one that is only in a file."""
    found = yaml.safe_load(theirs("expand", "--vm", "testvm"))
    assert found["kind"] == "VirtualMachine"
    assert found["spec"]["runStrategy"] == "Manual"
    file = folder / "vm.yaml"
    file.write_text(yaml.safe_dump(wanted))
    found = yaml.safe_load(theirs("expand", "--file", str(file)))
    assert found["spec"]["template"]["spec"]["volumes"]


async def _restarted(theirs: Theirs) -> None:
    place = theirs.place
    before = (await place.vmi("testvm"))["metadata"]["uid"]
    assert theirs("restart", "testvm") == "VM testvm was scheduled to restart"
    await place.until(
        "testvm",
        lambda vmi: bool(vmi["metadata"]["uid"] != before),
        "another",
        kind="VirtualMachineInstance",
    )
    await place.until_phase("testvm", "Running")
