"""A home comes up, stays up, goes down, and comes up again with what was in it."""

import json
import os
import pty
import select
import signal
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.component.embedded.process.conftest import Virtctl
from tests.strangers import NOBODY, as_somebody_else

from kubevirt.api.resource import Resource
from kubevirt.kube.access import kubeconfig
from kubevirt.kube.client import Client

NAMESPACES: Resource[dict[str, Any]] = Resource(
    "", "v1", "namespaces", "Namespace", False, dict[str, Any]
)
pytestmark = pytest.mark.timeout(180)


def client(file: Path) -> Client:
    return Client(kubeconfig.load([file], {}))


def _url(virtctl: Virtctl) -> str:
    found = virtctl.home.process
    return found.url if found else ""


async def test_what_was_made_is_there_after_a_restart_at_the_same_address(virtctl: Virtctl) -> None:
    done = virtctl.up()
    assert done.out == ""
    assert "API server: https://127.0.0.1:" in done.err
    assert done.err.endswith(f"virtctl down --home {virtctl.home.path}\n")
    url = _url(virtctl)
    async with client(virtctl.home.kubeconfig) as api:
        await api.create(NAMESPACES, {"metadata": {"name": "kept"}})
    assert virtctl("down").code == 0
    assert _url(virtctl) == ""
    assert virtctl("up").code == 0
    assert _url(virtctl) == url
    async with client(virtctl.home.kubeconfig) as api:
        assert await api.get(NAMESPACES, "kept")


def test_a_second_up_says_that_it_is_up(standing: Virtctl) -> None:
    pid = standing.pid
    again = standing("up")
    assert again.code == 0
    assert "is up already at https://127.0.0.1:" in again.err
    assert standing.pid == pid


def test_a_second_up_tells_of_wishes_that_come_to_nothing(standing: Virtctl) -> None:
    pid = standing.pid
    again = standing("up", "--port", "1", "--nodes", "2", "--foreground")
    assert again.code == 0
    home = f"--home {standing.home.path}"
    told = again.err.splitlines()[-1]
    assert "--port 1 --nodes 2 --foreground came to nothing" in told
    assert f"virtctl down {home}, then virtctl up {home} --port 1 --nodes 2 --foreground" in told
    assert standing.pid == pid
    assert "came to nothing" not in standing("up", "--port", "0", "--nodes", "1").err


def test_who_wants_machines_in_a_home_without_them_is_told_how_to_have_them(
    standing: Virtctl,
) -> None:
    again = replace(standing, has_kubevirt=True)("up")
    home = f"--home {standing.home.path}"
    told = again.err.splitlines()[-1]
    assert "it has no virtual machines" in told
    assert told.endswith(f"virtctl down {home}, then virtctl up {home}")


def test_no_nodes_are_refused_and_not_taken_for_nothing_said(standing: Virtctl) -> None:
    code, sentence = refused(standing, "up", "--nodes", "0")
    assert (code, "0 is no number of nodes" in sentence) == (1, True)


def test_a_second_up_merges_a_context_that_was_lost(standing: Virtctl) -> None:
    standing.kubeconfig.unlink()
    assert standing("up", "--no-merge-kubeconfig").code == 0
    assert not standing.kubeconfig.exists()
    assert standing("up").code == 0
    assert "name: kubevirt" in standing.kubeconfig.read_text()


def test_a_context_is_merged_when_the_lock_in_its_way_is_removed(standing: Virtctl) -> None:
    """As the sentence about the lock says it."""
    standing.kubeconfig.unlink()
    lock = standing.kubeconfig.with_name(f"{standing.kubeconfig.name}.lock")
    lock.touch()
    told = standing("up").err.splitlines()[-1]
    assert "if nobody is, remove it, and merge with: virtctl up" in told
    assert not standing.kubeconfig.exists()
    lock.unlink()
    standing("up")
    assert "name: kubevirt" in standing.kubeconfig.read_text()


@as_somebody_else
def test_a_plain_users_second_up_says_whose_kubeconfig_it_is(standing: Virtctl) -> None:
    again = standing("up", uid=NOBODY)
    assert again.code == 0
    told = again.err.splitlines()[-1]
    assert f"{standing.home.kubeconfig}, cannot be read: Permission denied; use sudo" in told


def test_status_follows_the_home(virtctl: Virtctl) -> None:
    assert virtctl("status").code == 3
    virtctl.up()
    told = virtctl("status", "-o", "json")
    assert told.code == 0, told
    assert json.loads(told.out)["state"] == "up"
    virtctl("down")
    down = virtctl("status")
    assert (down.code, "down; bring it up" in down.out) == (3, True)


@as_somebody_else
def test_a_plain_user_sees_that_it_is_up(standing: Virtctl) -> None:
    told = standing("status", uid=NOBODY)
    assert (told.code, "only root may ask it for more" in told.out) == (0, True)


def test_down_of_a_home_that_is_not_up_says_so(virtctl: Virtctl) -> None:
    nothing = virtctl("down")
    assert (nothing.code, "there is no embedded home" in nothing.err) == (0, True)
    virtctl.up()
    virtctl("down")
    again = virtctl("down")
    assert (again.code, "is not up" in again.err) == (0, True)


async def test_the_context_is_merged_and_taken_out_with_the_data(virtctl: Virtctl) -> None:
    virtctl.up()
    async with Client(kubeconfig.load([virtctl.kubeconfig], {}, context="kubevirt")) as api:
        assert await api.get(NAMESPACES, "default")
    virtctl("down")
    assert "name: kubevirt" in virtctl.kubeconfig.read_text()
    removed = virtctl("down", "--delete-data")
    assert removed.code == 0, removed
    assert not virtctl.home.path.exists()
    assert "name: kubevirt" not in virtctl.kubeconfig.read_text()


def test_a_broken_kubeconfig_is_not_touched_and_costs_no_home(virtctl: Virtctl) -> None:
    virtctl.kubeconfig.write_text("{")
    done = virtctl.up()
    assert "was not touched" in done.err
    assert virtctl.kubeconfig.read_text() == "{"
    assert virtctl("status").code == 0


def test_the_kubeconfig_can_be_left_alone(virtctl: Virtctl) -> None:
    virtctl.up("--no-merge-kubeconfig")
    assert not virtctl.kubeconfig.exists()
    assert virtctl.home.kubeconfig.stat().st_mode & 0o777 == 0o600


def test_a_program_reads_steps_as_json(virtctl: Virtctl) -> None:
    done = virtctl.up("--progress=json", "--no-merge-kubeconfig")
    lines = [each for each in done.err.splitlines() if each.startswith("{")]
    types = [json.loads(each)["type"] for each in lines]
    assert types[0] == "began"
    assert types[-1] == "ready"


def test_the_process_has_a_session_of_its_own_and_nothing_of_the_users(standing: Virtctl) -> None:
    pid = standing.pid
    assert os.getsid(pid) == pid
    assert str(Path(f"/proc/{pid}/cwd").readlink()) == "/"
    environment = Path(f"/proc/{pid}/environ").read_bytes()
    assert b"KUBECONFIG" not in environment
    assert str(Path(f"/proc/{pid}/fd/2").readlink()) == str(standing.home.log)


def test_folders_are_for_all_whatever_the_user_prefers(virtctl: Virtctl) -> None:
    before = os.umask(0o077)
    try:
        virtctl.up()
    finally:
        os.umask(before)
    modes = {place.stat().st_mode & 0o777 for place in (virtctl.home.path, virtctl.home.volumes)}
    assert modes == {0o755}


def test_a_process_that_was_killed_is_found_and_brought_up_again(virtctl: Virtctl) -> None:
    virtctl.up()
    virtctl.kill()
    died = virtctl("status")
    assert (died.code, "its process died" in died.out) == (1, True)
    assert virtctl("up").code == 0
    assert virtctl("status").code == 0


def test_what_a_killed_process_left_is_cleared_away_by_down(virtctl: Virtctl) -> None:
    virtctl.up()
    virtctl.kill()
    done = virtctl("down")
    assert (done.code, "clearing away" in done.err) == (0, True)
    assert virtctl.home.process is None


def test_in_the_foreground_ctrl_c_ends_it(virtctl: Virtctl) -> None:
    words = [sys.executable, "-W", "error", "-m", "kubevirt.cli", "up", "--foreground", "--port=0"]
    with subprocess.Popen(words, env=virtctl.env, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            told = ""
            while "virtctl down" not in told:  # the last line of the greeting
                line = process.stderr.readline()
                assert line, told
                told += line
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 0
        finally:
            process.kill()
    assert virtctl.home.process is None
    assert not virtctl.home.is_running


def test_a_terminal_sees_ticks(virtctl: Virtctl) -> None:
    ours, theirs = pty.openpty()
    words = [sys.executable, "-m", "kubevirt.cli", "up", "--port=0", "--no-merge-kubeconfig"]
    with subprocess.Popen(words, env={**virtctl.env, "TERM": "xterm"}, stderr=theirs) as process:
        os.close(theirs)
        told = _all(ours)
        assert process.wait(60) == 0
    assert "✓ API server" in told


def _all(terminal: int) -> str:
    said = b""
    try:
        while select.select([terminal], [], [], 60)[0]:
            said += os.read(terminal, 4096)
    except OSError:  # the other side is closed
        pass
    finally:
        os.close(terminal)
    return said.decode()


# What is refused, in one sentence


def refused(virtctl: Virtctl, *words: str, uid: int | None = None) -> tuple[int, str]:
    done = virtctl(*(words or ("up",)), uid=uid)
    assert done.out == ""
    sentence = done.err.splitlines()[-1]
    assert sentence.startswith("virtctl: ")
    assert "Traceback" not in done.err
    return done.code, sentence


def test_a_port_in_use_is_refused(virtctl: Virtctl) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        code, sentence = refused(virtctl, "up", "--port", str(port))
    assert (code, f"port {port} is in use" in sentence) == (5, True)
    assert virtctl.home.process is None
    assert virtctl.up().code == 0


def test_a_start_that_fails_leaves_nothing_and_touches_nothing_of_others(virtctl: Virtctl) -> None:
    virtctl.up()
    virtctl("down")
    link = f"kvpy-{virtctl.home.id}"
    subprocess.run(["ip", "link", "add", link, "type", "bridge"], check=True, timeout=30)
    try:
        code, sentence = refused(virtctl)
        assert (code, "which is not ours" in sentence) == (1, True)
        assert virtctl.home.process is None
        assert virtctl("down").code == 0
    finally:  # it is still there
        subprocess.run(["ip", "link", "delete", link], check=True, timeout=30)
    assert virtctl("up").code == 0


def test_fewer_nodes_than_a_process_died_with_are_refused(virtctl: Virtctl) -> None:
    virtctl.up("--nodes", "2")
    virtctl.kill()
    code, sentence = refused(virtctl, "up", "--nodes", "1")
    assert (code, "bring it up with --nodes 2" in sentence) == (1, True)
    assert virtctl("up").code == 0


def test_a_home_that_another_process_holds_is_refused(virtctl: Virtctl) -> None:
    virtctl.up()
    virtctl.home.leave()
    words = [sys.executable, "-m", "kubevirt.embedded", "--home", str(virtctl.home.path)]
    done = subprocess.run([*words, "--report", "1"], capture_output=True, timeout=60, check=False)
    told = json.loads(done.stdout.splitlines()[-1])
    assert (told["type"], told["reason"]) == ("failed", "HomeInUse")


def test_a_home_by_a_newer_version_is_refused(virtctl: Virtctl) -> None:
    virtctl.up()
    virtctl("down")
    version = virtctl.home.path / "version"
    version.write_text("2")
    code, sentence = refused(virtctl)
    version.write_text("1")
    assert (code, "newer version" in sentence) == (5, True)


def test_a_foreign_folder_is_refused_and_never_removed(virtctl: Virtctl) -> None:
    virtctl.home.path.mkdir()
    (virtctl.home.path / "thesis.txt").write_text("years of work")
    code, sentence = refused(virtctl)
    assert (code, "is not empty and no embedded home" in sentence) == (1, True)
    virtctl("down", "--delete-data")
    assert (virtctl.home.path / "thesis.txt").exists()


@as_somebody_else
def test_a_plain_user_is_told_that_root_is_missing(virtctl: Virtctl) -> None:
    code, sentence = refused(virtctl, uid=NOBODY)
    assert (code, "you are not root" in sentence) == (6, True)


@as_somebody_else
def test_a_plain_user_cannot_stop_what_root_started(standing: Virtctl) -> None:
    code, sentence = refused(standing, "down", uid=NOBODY)
    assert (code, "use sudo" in sentence) == (6, True)
    assert standing("status").code == 0


def test_a_disk_without_room_is_refused(virtctl: Virtctl) -> None:
    virtctl.home.path.mkdir()
    options = ["-t", "tmpfs", "-o", "size=1m", "none", str(virtctl.home.path)]
    subprocess.run(["mount", *options], check=True, timeout=30)
    try:
        code, sentence = refused(virtctl)
    finally:
        subprocess.run(["umount", str(virtctl.home.path)], check=True, timeout=30)
    assert (code, "too little for a store" in sentence) == (7, True)


def test_a_store_that_is_none_is_refused_and_nothing_runs(virtctl: Virtctl) -> None:
    virtctl.up()
    virtctl("down")
    virtctl.home.store.write_bytes(b"no database at all" * 500)
    code, _ = refused(virtctl)
    assert code == 1
    assert not virtctl.home.is_running
