"""The embedded home under test, with two nodes, as `virtctl up` makes it."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.pods.home import EMBEDDED, SPARE, Home

from clusterup import binaries, images, settings

IMAGE = "kubevirt.io/built-in"
DISK_IMAGE = "kubevirt.io/disk:1"
_LIMIT_S = 240.0


def why_not(folder: Path) -> str:  # as of the other home
    """What keeps this machine from running it; empty if nothing does."""
    if not _virtctl().exists():
        return "there is no virtctl beside this Python; run `make bootstrap`"
    if not _kubectl_program():
        return "there is no kubectl; run `cluster-up/cli.sh build --light`, or install one"
    return ""


def start(folder: Path) -> Home:
    home = _state(folder)
    archives = home / "images" / "archives"
    try:
        _call(
            "up",
            "--home",
            str(home),
            "--port=0",
            f"--nodes={_nodes_wanted()}",
            "--no-merge-kubeconfig",
            "--without-kubevirt",  # pods are pods with and without it
        )
        (archives / "kubevirt.io").mkdir(parents=True, exist_ok=True)
        disk = images.build({"disk/disk.img": images.File(b"a disk\n", mode=0o644)}, ["/none"])
        # Without a name of its own, an archive is known by where it lies.
        disk.write_layout(archives / f"{DISK_IMAGE}.tar")
        nodes = _nodes(home)
        for spare in nodes[1:]:
            _kubectl(home, "taint", "node", spare, f"{SPARE}=:NoSchedule")
    except BaseException:
        stop(folder)
        raise
    return Home(
        name=EMBEDDED,
        folder=str(folder),
        kubeconfig=str(home / "kubeconfig"),
        kubectl=_kubectl_program(),
        image=IMAGE,
        disk_image=DISK_IMAGE,
        nodes=nodes,
        provisions=True,
    )


def stop(folder: Path) -> None:
    _call("down", "--home", str(_state(folder)), "--delete-data")


def _state(folder: Path) -> Path:
    return folder / "home"


def _nodes(home: Path) -> list[str]:
    listed = json.loads(_kubectl(home, "get", "nodes", "-o", "json"))
    return sorted(node["metadata"]["name"] for node in listed["items"])


def _virtctl() -> Path:
    return Path(sys.executable).with_name("virtctl")


def _nodes_wanted() -> int:
    return int(os.environ.get("PODS_NODES") or 2)


def _kubectl_program() -> str:
    """Of Kubernetes' own version if it is built, else any; empty where there is none."""
    programs = binaries.Binaries(
        settings.PROVIDERS / settings.KUBERNETES, settings.cache_folder(os.environ)
    )
    built = programs.path("kubectl")
    return str(built) if built.exists() else shutil.which("kubectl") or ""


def _call(*words: str) -> None:
    done = subprocess.run(
        [_virtctl(), *words], capture_output=True, text=True, check=False, timeout=_LIMIT_S
    )
    assert done.returncode == 0, f"virtctl {words[0]}: {done.stderr}"


def _kubectl(home: Path, *words: str) -> str:
    done = subprocess.run(
        [_kubectl_program(), f"--kubeconfig={home / 'kubeconfig'}", *words],
        capture_output=True,
        text=True,
        check=True,
        timeout=_LIMIT_S,
    )
    return done.stdout
