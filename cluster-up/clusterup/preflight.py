"""What this machine must have before a cluster is tried; the first thing it lacks is said, with why
it matters and the way out.
"""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from clusterup import binaries, cgroups, errors, nodes
from kubevirt.base import commands

_STATE_SPACE_BYTES = 3 * 1024**3
"""Images and their unpacked copies on each node, with room for a test's own."""

# Program, Debian package, what it is for.
_PROGRAMS = (
    ("runc", "runc", "starts the containers of pods"),
    ("docker-registry", "docker-registry", "is the registry that nodes take images from"),
    ("nft", "nftables", "is how kube-proxy makes services work"),
    ("conntrack", "conntrack", "is how kube-proxy forgets connections to pods that are gone"),
    ("ip", "iproute2", "makes the links between the nodes"),
    ("iptables", "iptables", "is how pods get host ports"),
    ("nsenter", "util-linux", "enters a node"),
    ("unshare", "util-linux", "makes a node"),
    ("pivot_root", "util-linux", "gives a node its own root"),
    ("mount", "mount", "gives a node its own files"),
)


def check(home: Path, programs: binaries.Binaries, wanted: Sequence[str]) -> None:
    """Raise `Missing` for the first thing that is."""
    _check_root()
    _check_programs()
    _check_plugins()
    cgroups.check()
    _check_kernel()
    _check_space(home)
    _check_file_system(home)
    if programs.missing(wanted):
        binaries.find_go()


def _check_root() -> None:
    if os.geteuid() != 0:
        raise errors.Missing(
            "you are not root, and nodes are made of network and mount namespaces, which only root "
            "can make here; run `sudo make cluster-up`, or use the light cluster of "
            "docs/cluster-up.md, which needs no root"
        )


def _check_programs() -> None:
    for program, package, purpose in _PROGRAMS:
        if shutil.which(program, path=commands.SEARCH_PATH) is None:
            raise errors.Missing(
                f"the program {program} is missing, which {purpose}; "
                f"install it with `apt-get install {package}` or run `make bootstrap`"
            )


def _check_plugins() -> None:
    if not any((folder / "ptp").exists() for folder in nodes.CNI_FOLDERS):
        places = " or ".join(map(str, nodes.CNI_FOLDERS))
        raise errors.Missing(
            f"the network plugin ptp is not in {places}, and pods get their addresses from it; "
            "install it with `apt-get install containernetworking-plugins` or run `make bootstrap`"
        )


def _check_kernel() -> None:
    if not any(line.split()[-1] == "overlay" for line in _lines("/proc/filesystems")):
        raise errors.Missing(
            "the kernel knows no overlay file system, and the layers of images are put together "
            "with it; run `modprobe overlay`"
        )


def _check_space(home: Path) -> None:
    folder = _existing(home)
    free = shutil.disk_usage(folder).free
    if free < _STATE_SPACE_BYTES:
        raise errors.Missing(
            f"{folder} has {free / 1024**3:.1f} GiB free and a cluster with its images needs "
            f"{_STATE_SPACE_BYTES / 1024**3:.0f}; free some space or name another place with "
            "KUBEVIRT_CLUSTER_UP_HOME"
        )


def _check_file_system(home: Path) -> None:
    folder = _existing(home)
    device = folder.stat().st_dev
    wanted = f"{os.major(device)}:{os.minor(device)}"
    for line in _lines("/proc/self/mountinfo"):
        left, _, right = line.partition(" - ")
        if left.split()[2] == wanted and right.split()[0] == "overlay":
            raise errors.Missing(
                f"{folder} lies on an overlay file system, as in a container, and images cannot be "
                "unpacked on one; name a folder on a real disk with KUBEVIRT_CLUSTER_UP_HOME"
            )


def _existing(path: Path) -> Path:
    while not path.exists():
        path = path.parent
    return path


def _lines(path: str) -> list[str]:
    return Path(path).read_text().splitlines()
