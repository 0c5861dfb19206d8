"""The user, the kernel, and what the kernel offers."""

import os
import platform
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from kubevirt.embedded.doctor.finding import Finding, missing, note, ok, warning
from kubevirt.host import kvm
from kubevirt.host.cgroups import detection
from kubevirt.host.cgroups.group import CgroupUnavailableError

OLDEST_KERNEL: Final = (5, 11)
"""openat2 came with 5.6, close_range with 5.9, epoll_pwait2 and the rest with this one."""
_MODULES: Final = Path("/lib/modules", platform.release())
_NAMESPACES: Final = ("cgroup", "ipc", "mnt", "net", "pid", "uts")


def user(uid: int | None = None) -> Finding:
    if (os.geteuid() if uid is None else uid) == 0:
        return ok("root", "you are root")
    return missing(
        "root",
        "you are not root, and network namespaces, mounts and control groups are root's",
        "use sudo",
    )


def kernel(release: str = "") -> Finding:
    release = release or platform.release()
    numbers = re.match(r"(\d+)\.(\d+)", release)
    found = (int(numbers[1]), int(numbers[2])) if numbers else (0, 0)
    if found >= OLDEST_KERNEL:
        return ok("kernel", f"Linux {release}")
    wanted = ".".join(map(str, OLDEST_KERNEL))
    return missing("kernel", f"Linux {release} is too old", f"use Linux {wanted} or newer")


def namespaces(folder: Path = Path("/proc/self/ns")) -> Finding:
    absent = [name for name in _NAMESPACES if not (folder / name).exists()]
    if not absent:
        return ok("namespaces", ", ".join(_NAMESPACES))
    return missing(
        "namespaces",
        f"the kernel has no {', '.join(absent)} namespaces, which containers are made of",
        "use a kernel that has them",
    )


def overlay(known: Path = Path("/proc/filesystems"), modules: Path = _MODULES) -> Finding:
    if any(line.split()[-1] == "overlay" for line in known.read_text().splitlines()):
        return ok("overlay", "the file system of containers is there")
    if _can_be_loaded("overlay", modules):
        return ok("overlay", "the kernel loads the file system of containers with the first one")
    return warning(
        "overlay",
        "the kernel knows no overlay file system, so only the built-in image runs",
        "load it with: modprobe overlay",
    )


def _can_be_loaded(name: str, modules: Path) -> bool:
    """By the kernel itself, as soon as somebody asks it for what the module offers."""
    try:
        lines = (modules / "modules.dep").read_text(errors="replace").splitlines()
    except OSError:
        return False
    files = (line.partition(":")[0].rpartition("/")[2] for line in lines)
    return any(each.partition(".")[0] == name for each in files)


def devices(folder: Path = Path("/dev")) -> Iterator[Finding]:
    if (folder / "net/tun").exists():
        yield ok("tun", f"{folder}/net/tun is there")
    else:
        way_out = "load it with: modprobe tun"
        yield warning("tun", f"there is no {folder}/net/tun, which guests are reached by", way_out)
    if (folder / "loop-control").exists():
        yield ok("loop", f"{folder}/loop-control is there")
    else:
        cause = f"there is no {folder}/loop-control, so volumes of mode Block cannot be had"
        yield warning("loop", cause, "load it with: modprobe loop")


def control_groups() -> Finding:
    try:
        found = detection.detect()
    except CgroupUnavailableError as error:
        return warning("cgroups", "no limit of a container is kept", str(error))
    return ok("cgroups", f"{type(found).__name__.removeprefix('Cgroups')} is there")


async def acceleration(cache: Path) -> Finding:
    """The result of the boot probe is remembered in a folder that is there."""
    found = await kvm.acceleration(cache)
    if found.usable:
        return ok("kvm", "guests run on the hardware")
    return note("kvm", f"guests are emulated, which is slower: {found.reason}")
