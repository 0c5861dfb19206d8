"""Completion asks the server, has little time, and is silent when something is wrong."""

import socket
import subprocess
import time

import click
import pytest
from tests.component.cli.conftest import Place

from kubevirt.cli import access, completing
from kubevirt.kube.http.request import Limits


def completed(place: Place, line: str, *, kubeconfig: str = "") -> tuple[list[str], str]:
    """What a shell offers after this line, and what is said beside it."""
    words = line.split(" ")
    done = subprocess.run(
        place.argv()[:5],
        env={
            **place.env,
            "KUBECONFIG": kubeconfig or place.env["KUBECONFIG"],
            "_VIRTCTL_COMPLETE": "bash_complete",
            "COMP_WORDS": line,
            "COMP_CWORD": str(len(words) - 1),
        },
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    offered = [each.partition(",")[2] for each in done.stdout.splitlines()]
    return [each for each in offered if each], done.stderr


def test_names_come_from_the_server(place: Place) -> None:
    place.machine("alpha")
    place.machine("alps")
    place.machine("beta")
    place.instance("gamma")
    where = f"-n {place.namespace}"
    assert completed(place, f"virtctl start {where} al") == (["alpha", "alps"], "")
    assert completed(place, f"virtctl console {where} ") == (["gamma"], "")
    assert completed(place, f"virtctl pause {where} vm b") == (["beta"], "")
    assert completed(place, f"virtctl ssh {where} jo@vmi/") == (["jo@vmi/gamma"], "")
    assert completed(place, "virtctl ssh v") == (["vm/", "vmi/"], "")
    assert completed(place, f"virtctl expose {where} vm al") == (["alpha", "alps"], "")
    assert completed(place, f"virtctl expose {where} vmi ") == (["gamma"], "")
    assert completed(place, "virtctl expose vmi") == (["vmi", "vmirs"], "")


def test_a_side_of_a_copy_is_a_guest_or_a_file(place: Place) -> None:
    place.machine("alpha")
    where = f"-n {place.namespace}"
    offered = completed(place, f"virtctl scp {where} vm/a")
    assert offered == (
        ["vm/alpha:", "vm/a"],
        "",
    )  # the last is what the shell looks for among files
    assert completed(place, f"virtctl scp {where} notes.txt jo@vm")[0][:2] == ["jo@vm/", "jo@vmi/"]
    assert completed(place, f"virtctl scp {where} vm/alpha:/tm") == ([], "")


def test_commands_and_contexts_need_no_server(place: Place) -> None:
    assert completed(place, "virtctl soft")[0] == ["soft-reboot"]
    assert completed(place, "virtctl start --context ")[0] != []


def test_a_server_that_does_not_answer_is_not_waited_for(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In this process: a program takes longer than the limit to start where much else goes on."""
    monkeypatch.setenv("KUBECONFIG", place.env["KUBECONFIG"])
    command = click.Command("start", params=[click.Argument(["name"])])
    context = click.Context(command)
    with socket.create_server(("127.0.0.1", 0)) as mute:
        server = f"https://127.0.0.1:{mute.getsockname()[1]}"
        monkeypatch.setenv(
            access.INHERITED, access.Access(server=server).inherited_env({})[access.INHERITED]
        )
        began = time.monotonic()
        assert completing.machines(context, command.params[0], "a") == []
        assert completing.LIMIT_S <= time.monotonic() - began < Limits().connect_s


def test_a_server_that_is_not_there_is_silent(place: Place) -> None:
    assert completed(place, "virtctl start --server https://127.0.0.1:1 a") == ([], "")


def test_a_broken_kubeconfig_is_silent(place: Place) -> None:
    broken = place.server.folder / "broken.kubeconfig"
    broken.write_text("{")
    assert completed(place, "virtctl start a", kubeconfig=str(broken)) == ([], "")
