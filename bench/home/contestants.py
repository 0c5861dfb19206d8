"""The two homes of pods: ours in one process, and Kubernetes' own programs with kubelet and containerd.

Both run the same pod of the same image, which is there before anything is measured.
"""

import contextlib
import os
import sys
import time
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Final, Protocol

import msgspec

from bench.home import clusters
from clusterup import cgroups, images, processes, progress, state

OURS: Final = "kubevirt-py"
KUBERNETES: Final = "Kubernetes"
IMAGE: Final = "kubevirt.io/built-in"
VIRTCTL: Final = Path(sys.executable).with_name("virtctl")
LIMIT_S: Final = 120.0
BESIDE: Final = ("containerd-shim", "pause", "sleep", "busybox", "sh", "docker-registry", "unshare")
"""What runs in the nodes of Kubernetes without being part of it, or belongs to single pods."""


class Contestant(Protocol):
    name: str

    @property
    def kubeconfig(self) -> Path: ...

    @property
    def pids(self) -> Mapping[int, str]:
        """Of the programs that make it up."""
        ...


class Ours:
    name = OURS

    def __init__(self, folder: Path, *, with_kubevirt: bool) -> None:
        self._folder = folder
        self._with_kubevirt = with_kubevirt

    @property
    def kubeconfig(self) -> Path:
        return self._folder / "kubeconfig"

    @property
    def audit_log(self) -> Path:
        return self._folder / "audit.log"

    @property
    def pids(self) -> Mapping[int, str]:
        found = msgspec.json.decode((self._folder / "process.json").read_bytes())
        return {found["pid"]: "kubevirt"}

    async def up(self) -> float:
        """The seconds until its node is ready, and virt-api if it is wanted."""
        plain = () if self._with_kubevirt else ("--without-kubevirt",)
        began = time.perf_counter()
        await self._virtctl("up", "--port=0", "--no-merge-kubeconfig", *plain)
        return time.perf_counter() - began

    async def down(self, *words: str) -> None:
        await self._virtctl("down", *words)

    async def _virtctl(self, command: str, *words: str) -> None:
        await processes.run(
            VIRTCTL, command, f"--home={self._folder}", *words, limit_s=LIMIT_S, env=os.environ
        )


class Kubernetes:
    name = KUBERNETES

    def __init__(self, found: state.State, tree: cgroups.Tree) -> None:
        self._found = found
        self._tree = tree

    @property
    def kubeconfig(self) -> Path:
        return Path(self._found.kubeconfig)

    @property
    def pids(self) -> Mapping[int, str]:
        named = {pid: _name(pid) for pid in self._tree.processes()}
        return {pid: name for pid, name in named.items() if name and name not in BESIDE}


def _name(pid: int) -> str:
    with contextlib.suppress(OSError):
        # What the kernel keeps of a name is 15 characters long.
        name = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0].decode().rpartition("/")[2]
        return "containerd-shim" if name.startswith("containerd-shim") else name
    return ""


@contextlib.asynccontextmanager
async def our_home(folder: Path, *, with_kubevirt: bool = False) -> AsyncIterator[Ours]:
    """Made, and down. A plain one does what Kubernetes does."""
    ours = Ours(folder, with_kubevirt=with_kubevirt)
    try:
        await ours.up()
        await ours.down()
        yield ours
    finally:
        await ours.down("--delete-data")


@contextlib.asynccontextmanager
async def kubernetes(folder: Path, say: progress.Progress) -> AsyncIterator[Kubernetes]:
    theirs = clusters.a_cluster(folder / "bench", 1, say)
    try:
        found = await theirs.up()
        await images.push(found.registry, IMAGE, _busybox())
        yield Kubernetes(found, cgroups.Tree(clusters.NAME))
    finally:
        await theirs.down()


def _busybox() -> images.Image:
    files = {
        "bin/busybox": images.File(Path("/bin/busybox").read_bytes()),
        **{f"bin/{name}": images.File(link="busybox") for name in ("sh", "sleep")},
    }
    return images.build(files, ["/bin/sleep", "100000"])
