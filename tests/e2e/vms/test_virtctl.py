"""Every command of virtctl that no other test of this folder types, through the whole house to a real guest."""

import asyncio
import json
import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.e2e.nouns.guests import Guest
from tests.e2e.standalone.driver import Session
from tests.e2e.vms import companions, screen, shared_home
from tests.e2e.vms.objects import a_vm
from tests.e2e.vms.place import LIMIT_S, Object, Place
from tests.e2e.vms.reaching import forwarded, printed, virtctl, with_password

import kubevirt
from kubevirt.cli import exit_codes
from kubevirt.testing.home import virtctl_program

BOOT_ID = "/proc/sys/kernel/random/boot_id"
PORT = 7007
HINT = (
    "no output for 5 s: the guest may have no serial getty; press Enter or try: virtctl vnc testvm"
)
SHUT_DOWN = "reboot: Restarting system"
"""The last words of a guest that was asked."""


def a_paused_machine() -> Object:
    """One that would take its time to end."""
    guest = {"startStrategy": "Paused", "terminationGracePeriodSeconds": 900}
    return a_vm(runStrategy="Always", guest=guest)


# With a guest.


async def test_what_is_typed_for_a_guest_arrives_in_it(place: Place, tmp_path: Path) -> None:
    await place.create(a_paused_machine())
    await place.until_status("testvm", "Paused")
    with silent_console(place) as console:
        await asyncio.to_thread(console.until_said, HINT)
    assert place.virtctl("unpause", "vm", "testvm", "--wait").code == 0
    with place.console("testvm") as guest:
        guest.log_in()
        await place.until("testvm", has_agent, "connected", kind="VirtualMachineInstance")
        the_agent_tells(place)
        the_screen_is_seen(place, tmp_path)
        files_are_copied(place, guest, tmp_path)
        both_protocols_are_forwarded(place, guest)
        await it_boots_anew(place, guest)
    await it_is_cut_off(place)


@contextmanager
def silent_console(place: Place) -> Iterator[Session]:
    """`virtctl console` of somebody who types nothing."""
    pipe = subprocess.PIPE
    with subprocess.Popen(
        virtctl(place, "console", "testvm"),
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        env=place.home.environment,
    ) as process:
        assert process.stdin
        assert process.stdout
        session = Session(process, process.stdin.fileno(), process.stdout.fileno())
        try:
            yield session
        finally:
            session.give_up()


def has_agent(vmi: Object) -> bool:
    conditions = vmi.get("status", {}).get("conditions", [])
    return any(each["type"] == "AgentConnected" for each in conditions)


def the_agent_tells(place: Place) -> None:
    (user,) = answered(place, "userlist", "testvm")["items"]
    assert user["userName"] == "cirros"
    disks = {each["mountPoint"]: each for each in answered(place, "fslist", "testvm")["items"]}
    assert disks["/"]["fileSystemType"] == "ext4"
    assert 0 < disks["/"]["usedBytes"] < disks["/"]["totalBytes"]


def answered(place: Place, *words: str) -> Object:
    said = place.virtctl(*words)
    assert said.code == 0, said.err
    found: Object = json.loads(said.out)
    return found


def the_screen_is_seen(place: Place, folder: Path) -> None:
    """By a viewer at the port of the proxy, which ends with it, and as a picture: the same screen."""
    file = folder / "screen.png"
    assert place.virtctl("vnc", "screenshot", "testvm", f"--file={file}").code == 0
    picture = screen.of_picture(file.read_bytes())
    with subprocess.Popen(
        virtctl(place, "vnc", "testvm", "--proxy-only"),
        stdout=subprocess.PIPE,
        env=place.home.environment,
    ) as proxy:
        assert proxy.stdout
        seen = screen.by_viewer(json.loads(proxy.stdout.readline())["port"])
        assert proxy.wait(LIMIT_S) == 0
    assert (seen.width, seen.height) == (picture.width, picture.height)
    assert not seen.is_blank
    assert not picture.is_blank


def files_are_copied(place: Place, guest: Guest, folder: Path) -> None:
    """A program there, and a folder there and back."""
    program = folder / "echo"
    source = Path(__file__).with_name("echo.c")
    subprocess.run(["cc", "-static", "-o", program, source], check=True, timeout=LIMIT_S)
    inside = folder / "box/inner"
    inside.mkdir(parents=True)
    (inside / "note").write_text("there and back")
    environment = with_password(place, folder)
    options = [f"--known-hosts={folder}/known", "--local-ssh-opts=-o StrictHostKeyChecking=no"]
    there = "cirros@vm/testvm:/tmp"
    for words in (
        ("--preserve", str(program), f"{there}/echo"),
        ("--recursive", str(folder / "box"), f"{there}/box"),
        ("--recursive", f"{there}/box", str(folder / "again")),
    ):
        printed(virtctl(place, "scp", *options, *words), environment)
    assert guest.read("/tmp/box/inner/note") == "there and back"
    assert (folder / "again/inner/note").read_text() == "there and back"


def both_protocols_are_forwarded(place: Place, guest: Guest) -> None:
    """By one command, to one number of a port: what was copied answers datagrams, a shell connections."""
    guest.run(f"(/tmp/echo {PORT} & nc -l -p {PORT} -e cat &)")
    with forwarded(place, f"udp/0:{PORT}", f"tcp/0:{PORT}") as (datagrams, connections):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asker:
            asker.settimeout(LIMIT_S)
            asker.connect(("127.0.0.1", datagrams))
            for word in (b"one", b"another"):
                asker.send(word)
                assert asker.recv(100) == word
        with socket.create_connection(("127.0.0.1", connections), LIMIT_S) as asker:
            asker.sendall(b"and by a connection")
            assert asker.recv(100) == b"and by a connection"


async def it_boots_anew(place: Place, guest: Guest) -> None:
    """Without being asked, and asked to, of which it tells: the same QEMU all the time."""
    before, boot = await identity(place), guest.read(BOOT_ID)
    scheduled(place, "reset")
    guest.log_in()
    assert SHUT_DOWN not in guest.booted, guest.booted
    assert guest.read(BOOT_ID) != boot
    await place.until("testvm", has_agent, "connected", kind="VirtualMachineInstance")
    scheduled(place, "soft-reboot")
    guest.session.until(SHUT_DOWN)
    assert await identity(place) == before


def scheduled(place: Place, verb: str) -> None:
    said = place.virtctl(verb, "testvm")
    assert (said.code, said.out) == (0, f"VMI testvm was scheduled to {verb}\n"), said.err


async def identity(place: Place) -> tuple[str, int]:
    uid = (await place.vmi("testvm"))["metadata"]["uid"]
    pod = (await place.pod("testvm"))["metadata"]["uid"]
    return uid, companions.of_guest(pod)[companions.QEMU]


async def it_is_cut_off(place: Place) -> None:
    """Its time to end is longer than the test's."""
    before, _ = await identity(place)
    at_once = ("--force", "--grace-period=0", "--wait")
    said = place.virtctl("restart", "testvm", *at_once)
    assert said.code == 0, said.err
    assert (await place.vmi("testvm"))["metadata"]["uid"] != before
    said = place.virtctl("stop", "testvm", *at_once)
    assert said.code == 0, said.err


# Without one.


@pytest.fixture
async def halted(place: Place) -> Place:
    """With a machine in it that is not to run, and one that cannot."""
    nowhere = {"startStrategy": "Paused", "nodeSelector": {"test/no": "node"}}
    await place.create(a_vm("testvm"), a_vm("lost", guest=nowhere))
    await place.until_status("testvm", "Stopped")
    return place


async def test_an_exit_code_says_what_kind_of_trouble_it_was(halted: Place) -> None:
    for code, words, said in (
        (exit_codes.OK, "start testvm --dry-run", ""),
        (exit_codes.USAGE, "start", "(see virtctl start --help)"),
        (exit_codes.NOT_FOUND, "start ghost", 'virtualmachine.kubevirt.io "ghost" not found'),
        (exit_codes.TIMEOUT, "start lost --wait --timeout=1s", "ErrorUnschedulable"),
        (exit_codes.FAILED, "restart lost --force --grace-period=5", "only gracePeriod=0"),
        (exit_codes.CONFLICT, "stop testvm", "VM is not running"),
        (exit_codes.NO_ACCESS, "start testvm --as=nobody", 'User "nobody" cannot'),
    ):
        found = halted.virtctl(*words.split())
        assert (found.code, said in found.err) == (code, True), (words, found)


async def test_a_machine_is_expanded_where_it_is_and_before_it_is(
    halted: Place, tmp_path: Path
) -> None:
    there = answered(halted, "expand", "--vm=testvm", "--output=json")
    assert there["spec"]["template"]["spec"]["domain"]["machine"]["type"]
    manifest = tmp_path / "vm.json"
    manifest.write_text(json.dumps(a_vm("unborn")))
    unborn = answered(halted, "expand", f"--file={manifest}", "--output=json")
    assert unborn["metadata"]["name"] == "unborn"
    assert unborn["spec"]["template"]["spec"]["volumes"][0]["name"] == "root"


async def test_kubectl_and_the_shell_know_its_words_and_the_machines(halted: Place) -> None:
    version = halted.virtctl("version").out.strip()
    ours, theirs, kubernetes = version.splitlines()
    assert ours == f"Client Version: {kubevirt.__version__}"
    assert theirs.startswith("Server Version: v")
    assert kubernetes.startswith("Kubernetes Version: v1.")
    programs = f"{virtctl_program().parent}:{os.environ['PATH']}"
    environment = {**halted.home.environment, "PATH": programs}
    here = f"--namespace={halted.namespace}"
    kubectl = shared_home.kubectl_program()
    assert printed([kubectl, "virt", "version"], environment) == version
    assert printed([kubectl, "virt", here, "start", "testvm", "--dry-run"], environment)
    offered = printed([kubectl, "__complete", "virt", "start", here, "testv"], environment)
    assert offered.splitlines()[0] == "testvm"
    script = (
        "source <(virtctl completion bash); "
        f"COMP_WORDS=(virtctl start {here} testv) COMP_CWORD=3; "
        "eval \"$(complete -p virtctl | sed -E 's/.*-F ([^ ]+).*/\\1/')\" virtctl; "
        'echo "${COMPREPLY[@]}"'
    )
    assert printed(["bash", "-c", script], environment) == "testvm"
