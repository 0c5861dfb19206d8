"""The embedded home under test, with two nodes, as `virtctl up` makes it."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

from tests.pods.home import EMBEDDED, SPARE, Home

from clusterup import images

IMAGE = "kubevirt.io/built-in"
DISK_IMAGE = "kubevirt.io/disk:1"
_LIMIT_S = 60.0


def why_not(folder: Path) -> str:  # as of the other home
    """What keeps this machine from running it; empty if nothing does."""
    if not _virtctl().exists():
        return "there is no virtctl beside this Python; run `make bootstrap`"
    if shutil.which("kubectl") is None:
        return "there is no kubectl; install the package kubernetes-client"
    return ""


def start(folder: Path) -> Home:
    home = _state(folder)
    archives = home / "images" / "archives"
    try:
        _call("up", "--home", str(home), "--port=0", "--nodes=2", "--no-merge-kubeconfig")
        (archives / "kubevirt.io").mkdir(parents=True, exist_ok=True)
        disk = images.build({"disk/disk.img": images.File(b"a disk\n", mode=0o644)}, ["/none"])
        # Without a name of its own, an archive is known by where it lies.
        disk.write_layout(archives / f"{DISK_IMAGE}.tar")
        nodes = _nodes(home)
        _kubectl(home, "taint", "node", nodes[1], f"{SPARE}=:NoSchedule")
    except BaseException:
        stop(folder)
        raise
    return Home(
        name=EMBEDDED,
        folder=str(folder),
        kubeconfig=str(home / "kubeconfig"),
        kubectl=str(shutil.which("kubectl")),
        image=IMAGE,
        disk_image=DISK_IMAGE,
        nodes=nodes,
        storage_class="local",
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


def _call(*words: str) -> None:
    done = subprocess.run(
        [_virtctl(), *words], capture_output=True, text=True, check=False, timeout=_LIMIT_S
    )
    assert done.returncode == 0, f"virtctl {words[0]}: {done.stderr}"


def _kubectl(home: Path, *words: str) -> str:
    done = subprocess.run(
        ["kubectl", f"--kubeconfig={home / 'kubeconfig'}", *words],
        capture_output=True,
        text=True,
        check=True,
        timeout=_LIMIT_S,
    )
    return done.stdout
