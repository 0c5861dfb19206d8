"""The cgroups of a cluster: how all its processes are found and ended, and no others.

Every program of a cluster starts in a cgroup below `/kubevirt-cluster-up/CLUSTER`; pods get theirs
below the node's. Whatever a program forks is in there with it and cannot leave. So the end of a
cluster is: kill what is in that tree, remove the tree. That needs no record of what was started and
works after a crash at any point.

Both layouts are served: one unified hierarchy (v2), or one per controller (v1), with or without a
v2 hierarchy beside them (hybrid).
"""

import contextlib
import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from clusterup import errors, waiting

TOP = "kubevirt-cluster-up"
_HANDED_DOWN = "trusted.kubevirt-cluster-up"
"""Attribute of our topmost cgroup (v2): the controllers that the machine's root did not hand down
before we came. It lasts as long as that cgroup, which is as long as it matters."""
_END_LIMIT_S = 120.0


@dataclass(frozen=True)
class Hierarchy:
    """One mounted cgroup file system."""

    mount: Path
    is_unified: bool
    controllers: frozenset[str]


def hierarchies(mountinfo: str | None = None) -> list[Hierarchy]:
    """Every cgroup file system of this machine, v2 first."""
    text = Path("/proc/self/mountinfo").read_text() if mountinfo is None else mountinfo
    found: dict[Path, Hierarchy] = {}
    for line in text.splitlines():
        left, _, right = line.partition(" - ")
        mount = Path(left.split()[4])
        kind, _, options = right.split()[:3]
        if kind == "cgroup":
            found[mount] = Hierarchy(
                mount, is_unified=False, controllers=frozenset(options.split(","))
            )
        elif kind == "cgroup2":
            found[mount] = Hierarchy(
                mount, is_unified=True, controllers=_unified_controllers(mount)
            )
    return sorted(found.values(), key=lambda hierarchy: not hierarchy.is_unified)


def _unified_controllers(mount: Path) -> frozenset[str]:
    with contextlib.suppress(OSError):
        return frozenset((mount / "cgroup.controllers").read_text().split())
    return frozenset()


class Tree:
    """The cgroups of one cluster, in every hierarchy at once."""

    def __init__(self, cluster: str, among: list[Hierarchy] | None = None) -> None:
        self._cluster = cluster
        self._hierarchies = hierarchies() if among is None else among

    def path_of(self, machine: str) -> str:
        """The cgroup of a machine, as the kubelet names it."""
        return f"/{TOP}/{self._cluster}/{machine}"

    def add(self, machine: str) -> None:
        """Make the cgroups of a machine, and below them the one its own programs run in."""
        for hierarchy in self._hierarchies:
            folder = hierarchy.mount
            for part in (TOP, self._cluster, machine, "system"):
                new = _delegate(folder, hierarchy.controllers) if hierarchy.is_unified else []
                folder = folder / part
                folder.mkdir(exist_ok=True)
                if new and part == TOP:
                    os.setxattr(folder, _HANDED_DOWN, " ".join(new).encode())
                if "cpuset" in hierarchy.controllers and not hierarchy.is_unified:
                    _inherit_cpuset(folder)

    def entrance(self, machine: str) -> list[Path]:
        """The files into which a program of a machine writes its process id before it starts."""
        # One hierarchy is enough to be found by; v2 where there is one, because it kills whole
        # trees at once.
        first = self._hierarchies[0]
        return [first.mount / TOP / self._cluster / machine / "system" / "cgroup.procs"]

    def exists(self) -> bool:
        return any(root.exists() for root in self._roots())

    def processes(self, machine: str = ".") -> list[int]:
        """All that run in the cluster, or in one machine of it, pods included."""
        pids = {
            int(word)
            for root in self._roots()
            for folder in _folders(root / machine)
            for word in _read(folder / "cgroup.procs").split()
        }
        return sorted(pids - {0})

    async def end(self) -> None:
        """Kill everything and remove the cgroups. Harmless when there is nothing."""

        async def is_empty() -> bool:
            for root in self._roots():
                with contextlib.suppress(OSError):
                    (root / "cgroup.kill").write_text("1")
            for pid in self.processes():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            return not self.processes()

        await waiting.until(is_empty, limit_s=_END_LIMIT_S, what="the cluster's processes end")
        await waiting.until(self._removed, limit_s=_END_LIMIT_S, what="the cluster's cgroups go")

    async def _removed(self) -> bool:
        for root in self._roots():
            for folder in sorted(_folders(root), key=lambda path: len(path.parts), reverse=True):
                # A cgroup is busy for a moment after its last process has gone.
                with contextlib.suppress(OSError):
                    folder.rmdir()
            _remove_top(root.parent)
        return not self.exists()

    def _roots(self) -> list[Path]:
        return [hierarchy.mount / TOP / self._cluster for hierarchy in self._hierarchies]


def check() -> None:
    """Raise `Missing` where there are no cgroups to work with."""
    found = hierarchies()
    controllers = {name for hierarchy in found for name in hierarchy.controllers}
    if lacking := {"cpu", "memory", "pids"} - controllers:
        raise errors.Missing(
            f"this machine has no cgroup controller {', '.join(sorted(lacking))} mounted below "
            "/sys/fs/cgroup, and kubelet runs no pod without; mount the cgroup file systems, or in "
            "a container start it with its own cgroups (--cgroupns=private --privileged)"
        )


def _folders(root: Path) -> Iterator[Path]:
    for folder, _, _ in os.walk(root):
        yield Path(folder)


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        # Gone meanwhile, or a threaded cgroup that does not list its processes.
        return ""


def _delegate(folder: Path, controllers: frozenset[str]) -> list[str]:
    """Let the children of a v2 cgroup have its controllers; return those they did not have."""
    control = folder / "cgroup.subtree_control"
    new = sorted(controllers - set(_read(control).split()))
    for controller in new:
        # Some cannot be handed down (in use by a v1 hierarchy, or by real-time processes);
        # kubelet says which it misses, if it misses one.
        with contextlib.suppress(OSError):
            control.write_text(f"+{controller}")
    return [controller for controller in new if controller in _read(control).split()]


def _remove_top(top: Path) -> None:
    """Remove our topmost cgroup when no other cluster is in it, and take back what the machine's
    root handed down for our sake. Where somebody else has come to need it, the kernel refuses.
    """
    with contextlib.suppress(OSError):
        handed_down = b""
        with contextlib.suppress(OSError):
            handed_down = os.getxattr(top, _HANDED_DOWN)
        top.rmdir()
        for controller in handed_down.decode().split():
            with contextlib.suppress(OSError):
                (top.parent / "cgroup.subtree_control").write_text(f"-{controller}")


def _inherit_cpuset(folder: Path) -> None:
    """A new v1 cpuset is empty, and nothing can run in an empty one."""
    for name in ("cpuset.cpus", "cpuset.mems"):
        if not _read(folder / name).strip():
            (folder / name).write_text(_read(folder.parent / name))
