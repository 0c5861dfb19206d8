"""What cluster-up says when it cannot: one sentence with what is missing, why, and the way out."""

import asyncio
import os
import shutil
import socket
import subprocess
import sys
from collections import namedtuple
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.cluster.support import SCRIPTS
from tests.strangers import NOBODY, as_somebody_else

from clusterup import binaries, errors, network, nodes, ports, preflight, processes, settings, state
from clusterup.light import LightCluster

# The first of some starts a cluster, and a busy machine takes its time for each.
pytestmark = pytest.mark.timeout(400)

Usage = namedtuple("Usage", "total used free")  # noqa: PYI024  # stands in for shutil's own


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {**os.environ, "KUBEVIRT_CLUSTER_UP_HOME": str(tmp_path), "KUBE_PROVIDER": "k8s-1.34"}


async def say(script: str, environment: Mapping[str, str], *prefix: str) -> processes.Outcome:
    outcome = await processes.run(*prefix, SCRIPTS / script, env=environment, check=False)
    assert "Traceback" not in outcome.stderr
    return outcome


@pytest.mark.parametrize("script", ["up.sh", "down.sh"])
async def test_an_unknown_provider_is_refused_with_those_that_are_known(
    environment: dict[str, str], script: str
) -> None:
    outcome = await say(script, environment | {"KUBE_PROVIDER": "k8s-9.99"})
    assert outcome.code == 1
    assert outcome.stderr == (
        "cluster-up: KUBE_PROVIDER=k8s-9.99 names no provider, so there is nothing to start; "
        "known are embedded, k8s-1.34, external\n"
    )


async def test_a_provider_is_no_path(environment: dict[str, str]) -> None:
    outcome = await say("up.sh", environment | {"KUBE_PROVIDER": "../clusterup"})
    assert outcome.code == 1
    assert len(outcome.stderr.splitlines()) == 1


async def test_an_embedded_cluster_that_is_not_up_cannot_be_entered(
    environment: dict[str, str],
) -> None:
    for words in (["cli.sh", "ls"], ["cli.sh", "ssh", "node01"], ["kubectl.sh", "get", "nodes"]):
        script, *rest = words
        outcome = await processes.run(
            SCRIPTS / script, *rest, env=environment | {"KUBE_PROVIDER": "embedded"}, check=False
        )
        assert outcome.code == 1
        assert "no cluster embedded is up" in outcome.stderr


@pytest.mark.parametrize("count", ["0", "-1", "9", "two", "1.5", "٢", "1e3"])
async def test_a_number_of_nodes_that_is_none_is_refused(
    environment: dict[str, str], count: str
) -> None:
    outcome = await say("up.sh", environment | {"KUBEVIRT_NUM_NODES": count})
    assert outcome.code == 1
    assert f"KUBEVIRT_NUM_NODES={count} is no number of nodes" in outcome.stderr
    assert "from 1 to 8" in outcome.stderr


@pytest.mark.parametrize("name", ["../etc", "a b", "-x", "UP", "a" * 40])
async def test_a_name_that_cannot_be_part_of_a_path_is_refused(
    environment: dict[str, str], name: str
) -> None:
    outcome = await say("up.sh", environment | {"KUBEVIRT_CLUSTER_NAME": name})
    assert outcome.code == 1
    assert "cannot name a cluster" in outcome.stderr


@as_somebody_else
@pytest.mark.parametrize(
    ("script", "way_out"),
    [("up.sh", "sudo make cluster-up"), ("down.sh", "sudo make cluster-down")],
)
async def test_who_is_not_root_is_told_so(
    environment: dict[str, str], script: str, way_out: str
) -> None:
    as_nobody = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--")
    outcome = await say(script, environment, *as_nobody)
    assert outcome.code == 1
    assert "you are not root" in outcome.stderr
    assert way_out in outcome.stderr


@pytest.mark.parametrize(("program", "package"), [("runc", "runc"), ("nft", "nftables")])
def test_a_missing_program_is_named_with_its_package(
    monkeypatch: pytest.MonkeyPatch, program: str, package: str
) -> None:
    found = shutil.which
    monkeypatch.setattr(
        shutil, "which", lambda name, path=None: None if name == program else found(name, path=path)
    )
    with pytest.raises(errors.Missing, match=f"{program} is missing.*apt-get install {package}"):
        preflight._check_programs()


def test_missing_network_plugins_are_named_with_their_package(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(nodes, "CNI_FOLDERS", (tmp_path,))
    with pytest.raises(errors.Missing, match="apt-get install containernetworking-plugins"):
        preflight._check_plugins()


@pytest.mark.skipif(
    os.geteuid() != 0, reason="run as root, so that a view of the machine can be changed"
)
@pytest.mark.parametrize(
    ("change", "refusal", "way_out"),
    [
        (
            "umount --lazy --all --types cgroup,cgroup2",
            "no cgroup controller cpu, memory, pids mounted",
            "mount the cgroup file systems",
        ),
        (
            "grep -vw overlay /proc/filesystems >known && mount --bind known /proc/filesystems",
            "the kernel knows no overlay file system",
            "run `modprobe overlay`",
        ),
        (
            (
                "mount -t tmpfs -o size=8g none /mnt && mkdir /mnt/upper /mnt/work && mount -t overlay"
                " -o lowerdir=$PWD,upperdir=/mnt/upper,workdir=/mnt/work none $PWD"
            ),
            "lies on an overlay file system",
            "with KUBEVIRT_CLUSTER_UP_HOME",
        ),
    ],
    ids=["cgroups", "overlay", "disk"],
)
async def test_a_machine_that_cannot_run_pods_is_refused(
    whole_programs: None, environment: dict[str, str], change: str, refusal: str, way_out: str
) -> None:
    # In a namespace whose mounts are its own: nobody else sees the change.
    script = f'cd "$KUBEVIRT_CLUSTER_UP_HOME" && {change} && exec "$@"'
    outcome = await say("up.sh", environment, "unshare", "--mount", "sh", "-c", script, "sh")
    assert outcome.code == 1
    assert refusal in outcome.stderr
    assert way_out in outcome.stderr
    assert len(outcome.stderr.splitlines()) == 1


def test_too_little_room_for_a_cluster_is_said_in_numbers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(10, 9, 1024**3))
    with pytest.raises(
        errors.Missing, match=r"has 1\.0 GiB free .* needs 3; .* KUBEVIRT_CLUSTER_UP_HOME"
    ):
        preflight._check_space(tmp_path / "not" / "there" / "yet")


def test_too_little_room_to_build_is_said_in_numbers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(10, 9, 1024**3))
    with pytest.raises(errors.Missing, match=r"has 1\.0 GiB free .* KUBEVIRT_CACHE"):
        binaries._check_space(tmp_path)


def test_without_go_it_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(binaries, "_own_programs", lambda: str(tmp_path))
    with pytest.raises(errors.Missing, match=r"Go 1\.24 or newer .*make bootstrap"):
        binaries.find_go()


def test_an_old_go_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    old = tmp_path / "go"
    old.write_text("#!/bin/sh\necho go1.19.8\n")
    old.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(binaries, "_own_programs", lambda: str(tmp_path))
    with pytest.raises(errors.Missing, match=r"go is go1\.19\.8"):
        binaries.find_go()


def test_the_go_of_the_virtual_environment_will_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    new = tmp_path / "go"
    new.write_text("#!/bin/sh\necho go1.25.1\n")
    new.chmod(0o755)
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setattr(binaries, "_own_programs", lambda: str(tmp_path))
    assert binaries.find_go() == str(new)


async def test_when_every_network_is_taken_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    async def routes(*_: str) -> list[dict[str, str]]:
        return [{"dst": "default"}, {"dst": "10.0.0.0/8"}]

    monkeypatch.setattr(network, "_ip", routes)
    with pytest.raises(errors.Missing, match=r"10\.200\.0\.0/16 .* are in use by routes"):
        await network.choose(1)


async def test_a_network_beside_those_in_use_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    async def routes(*_: str) -> list[dict[str, str]]:
        return [{"dst": "10.200.0.0/24"}, {"dst": "10.201.7.7"}, {"dst": "10.202.128.0/17"}]

    monkeypatch.setattr(network, "_ip", routes)
    assert (await network.choose(1)).number == 203


def test_a_port_in_use_is_passed_over(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with socket.socket() as busy:
        busy.bind((ports.LOOPBACK, 0))
        busy.listen()
        number = busy.getsockname()[1]
        monkeypatch.setattr(ports, "_RANGE", range(number, number + 1))
        with pytest.raises(errors.Missing, match="no TCP port"):
            ports.take()


def test_a_port_is_given_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    first = ports.take()
    monkeypatch.setattr(ports, "_RANGE", range(first.number, first.number + 1))
    with pytest.raises(errors.Missing):
        ports.take()
    first.release()
    again = ports.take()
    assert again.number == first.number
    again.release()


def test_a_damaged_state_is_said_with_the_way_out(tmp_path: Path) -> None:
    (tmp_path / "state.json").write_text("{")
    with pytest.raises(errors.ClusterError, match=r"state\.json is damaged .*make cluster-down"):
        state.read(tmp_path)


def test_two_commands_at_once_do_not_meet(tmp_path: Path) -> None:
    with (
        state.only_one(tmp_path),
        pytest.raises(errors.ClusterError, match="another cluster-up or cluster-down is at work"),
        state.only_one(tmp_path),
    ):
        pass
    with state.only_one(tmp_path):
        pass


@pytest.mark.parametrize("script", ["kubectl.sh", "cli.sh"])
async def test_without_a_cluster_the_tools_say_how_to_start_one(
    environment: dict[str, str], script: str
) -> None:
    outcome = await processes.run(SCRIPTS / script, "ls", env=environment, check=False)
    assert outcome.code == 1
    assert "make cluster-up" in outcome.stderr
    assert "Traceback" not in outcome.stderr


async def test_without_a_virtual_environment_it_says_how_to_make_one(tmp_path: Path) -> None:
    shutil.copy(SCRIPTS / "cli.sh", tmp_path / "cli.sh")
    outcome = await processes.run(tmp_path / "cli.sh", "up", check=False)
    assert outcome.code == 1
    assert "make bootstrap" in outcome.stderr


async def test_an_external_cluster_without_kubectl_is_refused(
    environment: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "dirname").symlink_to("/usr/bin/dirname")
    bare = environment | {"KUBE_PROVIDER": "external", "PATH": str(tmp_path)}
    outcome = await say("up.sh", bare)
    assert outcome.code == 1
    assert "kubectl is not on PATH" in outcome.stderr


async def test_an_external_cluster_that_does_not_answer_is_refused(
    environment: dict[str, str], light_cluster: LightCluster, tmp_path: Path
) -> None:
    kubeconfig = light_cluster.kubeconfig.read_text().replace(
        light_cluster.url, "https://127.0.0.1:1"
    )
    (tmp_path / "kubeconfig").write_text(kubeconfig)
    outcome = await say("up.sh", external(environment, light_cluster, tmp_path / "kubeconfig"))
    assert outcome.code == 1
    assert "does not answer" in outcome.stderr
    assert "check KUBECONFIG" in outcome.stderr


async def test_an_external_cluster_that_answers_is_taken_as_it_is(
    environment: dict[str, str], light_cluster: LightCluster
) -> None:
    wanted = external(environment, light_cluster, light_cluster.kubeconfig)
    outcome = await say("up.sh", wanted)
    assert outcome.code == 0
    assert "the cluster of context cluster-up answers: Kubernetes v1.34." in outcome.stderr
    listing = await processes.run(SCRIPTS / "kubectl.sh", "get", "ns", env=wanted)
    assert "kube-system" in listing.stdout
    assert (await say("down.sh", wanted)).code == 0


def external(
    environment: dict[str, str], cluster: LightCluster, kubeconfig: Path
) -> dict[str, str]:
    path = f"{cluster.kubectl.parent}:{environment['PATH']}"
    return environment | {
        "KUBE_PROVIDER": "external",
        "KUBECONFIG": str(kubeconfig),
        "PATH": path,
        "HOME": str(cluster.folder),
    }


async def test_a_wrong_command_line_shows_how_it_is_used() -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "clusterup", "fly"),
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(settings.PROVIDERS)},
    )
    _, said = await process.communicate()
    assert process.returncode == 2
    assert b"usage: clusterup" in said
