"""virtctl ssh and scp: what the programs of this machine are told, and that they find the way."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from aiohttp import web
from tests.component.cli.conftest import Place, Virtctl
from tests.component.cli.terminals import LIMIT_S

from kubevirt.cli import exit_codes


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """A folder with an ssh and an scp that only tell how they were called."""
    for name in ("ssh", "scp"):
        program = tmp_path / name
        program.write_text(
            f"#!{sys.executable}\nimport json, os, sys\n"
            "print(json.dumps([sys.argv[1:], '_VIRTCTL_ACCESS' in os.environ]))\n"
            "sys.exit(42)\n"
        )
        program.chmod(0o755)
    return tmp_path


def called(place: Place, recorded: Path, *words: str, code: int = 42) -> list[str]:
    done = subprocess.run(
        place.argv(*words),
        env={**place.env, "PATH": str(recorded)},
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT_S,
    )
    assert done.returncode == code, done.stderr
    argv, has_access = json.loads(done.stdout)
    assert has_access
    return [str(each) for each in argv]


def test_ssh_is_told_the_way_the_key_and_the_user(place: Place, recorded: Path) -> None:
    argv = called(
        place,
        recorded,
        *("ssh", "jo@vm/testvm", "-i", "/keys/one", "-p", "2222", "-c", "uname -a"),
        *("-t", "-o LogLevel=ERROR", "--known-hosts=/tmp/known hosts"),
    )
    proxy = f"-m kubevirt.cli port-forward --stdio=true vm/testvm/{place.namespace} 2222"
    assert argv == [
        "-o",
        f"ProxyCommand={sys.executable} {proxy}",
        "-o",
        'UserKnownHostsFile="/tmp/known hosts"',
        "-o LogLevel=ERROR",
        "-i",
        "/keys/one",
        f"jo@vm.testvm.{place.namespace}",
        "uname -a",
    ]


def test_a_bare_name_is_an_instance_and_the_exit_code_is_sshs(place: Place, recorded: Path) -> None:
    argv = called(place, recorded, "ssh", "-l", "jo", "testvm")
    assert argv[-1] == f"jo@vmi.testvm.{place.namespace}"
    assert argv[3] == f'UserKnownHostsFile="{place.server.folder}/.ssh/kubevirt_known_hosts"'


def test_a_token_is_on_no_command_line(place: Place, recorded: Path) -> None:
    argv = called(place, recorded, "ssh", "testvm", "--token", "s3cr3t")
    assert not any("s3cr3t" in each for each in argv)


def test_scp_copies_both_ways(place: Place, recorded: Path) -> None:
    there = called(place, recorded, "scp", "-r", "--preserve", "./a:b", "jo@vmi/testvm/lab:/tmp/c")
    assert there[-5:] == ["-r", "-p", "--", "./a:b", "jo@vmi.testvm.lab:/tmp/c"]
    here = called(place, recorded, "scp", "vm/testvm:x", "y", "-l", "jo")
    assert here[-2:] == [f"jo@vm.testvm.{place.namespace}:x", "y"]


@pytest.mark.parametrize(
    "words",
    [
        ["ssh", "vm/testvm;reboot"],
        ["ssh", "-oProxyCommand=x@vm/testvm"],
        ["ssh", "jo$(x)@vm/testvm"],
        ["scp", "a", "b"],
        ["scp", "vm/a:x", "vm/b:y"],
        ["scp", "pod/a:x", "y"],
    ],
)
def test_a_wrong_line_starts_nothing(virtctl: Virtctl, words: list[str]) -> None:
    assert virtctl(*words).code == exit_codes.USAGE


def test_a_machine_without_ssh_is_told_of_the_package(
    virtctl: Virtctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    done = virtctl("ssh", "vm/testvm")
    assert done.code == exit_codes.NOT_ABLE
    assert "apt-get install openssh-client" in done.err


@pytest.mark.skipif(not shutil.which("ssh"), reason="install openssh-client to run it")
def test_the_real_ssh_finds_the_guest_with_the_flags_it_was_given(place: Place) -> None:
    """Up to the first words of both: no server of SSH is on this machine."""
    heard: list[bytes] = []

    async def first_words(socket: web.WebSocketResponse) -> None:
        await socket.send_bytes(b"SSH-1.0-old\r\n")
        async for message in socket:
            heard.append(message.data)  # noqa: PERF401  # each as it comes

    place.virt_api.talks[place.below("vmi", "testvm", "portforward/22/tcp")] = first_words
    env = place.env
    del env["KUBECONFIG"]  # the flags alone lead there
    done = subprocess.run(
        place.argv("ssh", "jo@testvm", "-t", "-oStrictHostKeyChecking=no"),
        env=env,
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT_S,
    )
    assert done.returncode == 255
    assert "Protocol major versions differ" in done.stderr
    assert b"".join(heard).startswith(b"SSH-2.0-OpenSSH")
