"""Real Kubernetes as the home under test: the provider k8s-1.34 of cluster-up, with two nodes."""

import hashlib
import json
import os
import subprocess
from pathlib import Path

from tests.cluster.support import Provider, bring_down, kernel_settings
from tests.pods.home import KUBERNETES, SPARE, Home

from clusterup import binaries, cluster, errors, images, preflight, settings, state
from clusterup.pytest_plugin import session_loop

IMAGE = "kubevirt.io/built-in"
DISK_IMAGE = "kubevirt.io/disk:1"
_WANTED = (*cluster.PROGRAMS, "probe")
_BEFORE = "kernel-settings.json"
"""As this machine had them before the cluster."""


def why_not(folder: Path) -> str:
    """What keeps this machine from running it; empty if nothing does."""
    try:
        preflight.check(folder, _programs(), _WANTED)
    except errors.Missing as reason:
        return str(reason)
    if _programs().missing(_WANTED):
        return "Kubernetes' programs are not built; run `cluster-up/cli.sh build` (minutes, once)"
    return ""


def start(folder: Path) -> Home:
    (folder / _BEFORE).write_text(json.dumps(kernel_settings()))
    one = _provider(folder)
    with session_loop() as loop:
        outcome = loop.run(one.run("up.sh"))
        assert outcome.code == 0, outcome.stderr
        found = state.read(one.home)
        assert found is not None
        loop.run(images.push(found.registry, IMAGE, _tools()))
        disk = images.build({"disk/disk.img": images.File(b"a disk\n", mode=0o644)}, ["/none"])
        loop.run(images.push(found.registry, DISK_IMAGE, disk))
        loop.run(one.kubectl("taint", "node", "node02", f"{SPARE}=:NoSchedule"))
    return Home(
        name=KUBERNETES,
        folder=str(folder),
        kubeconfig=found.kubeconfig,
        kubectl=str(_programs().path("kubectl")),
        image=IMAGE,
        disk_image=DISK_IMAGE,
        nodes=found.nodes,
        provisions=False,
    )


def stop(folder: Path) -> None:
    """Nothing is left of it, whatever the pods of all the tests have done."""
    with session_loop() as loop:
        loop.run(bring_down(_provider(folder), json.loads((folder / _BEFORE).read_text())))


def _tools() -> images.Image:
    """Busybox from this machine under all of its names, as the built-in image of the embedded home
    has the programs of Debian; and our probe, for what busybox cannot do.
    """
    listing = subprocess.run(["busybox", "--list"], capture_output=True, text=True, check=True)
    files = {f"bin/{name}": images.File(link="busybox") for name in listing.stdout.split()}
    files |= {
        "bin/busybox": images.File(Path("/bin/busybox").read_bytes()),
        "bin/probe": images.File(_programs().path("probe").read_bytes()),
        "tmp/.here": images.File(mode=0o644),
    }
    return images.build(files, ["/bin/sh", "-c", "exec sleep 100000"])


def _programs() -> binaries.Binaries:
    return binaries.Binaries(
        settings.PROVIDERS / settings.KUBERNETES, settings.cache_folder(os.environ)
    )


def _name(folder: Path) -> str:
    """Of the folder's, in which any letter may stand anywhere, also where a cluster's name has none."""
    return f"pods-{hashlib.sha256(folder.name.encode()).hexdigest()[:8]}"


def _provider(folder: Path) -> Provider:
    """cluster-up's scripts, as a person calls them."""
    environment = {
        **os.environ,
        "KUBE_PROVIDER": settings.KUBERNETES,
        "KUBEVIRT_CLUSTER_NAME": _name(folder),
        "KUBEVIRT_CLUSTER_UP_HOME": str(folder),
        "KUBEVIRT_NUM_NODES": "2",
    }
    return Provider(environment, _name(folder))
