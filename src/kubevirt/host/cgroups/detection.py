"""Which control groups this machine has."""

from pathlib import Path
from typing import Final

from kubevirt.host.cgroups.group import Cgroups, CgroupUnavailableError
from kubevirt.host.cgroups.v1 import CONTROLLERS, CgroupsV1
from kubevirt.host.cgroups.v2 import CgroupsV2

MOUNTS: Final = Path("/proc/self/mounts")


def detect(mounts: Path = MOUNTS) -> Cgroups:
    """v1 if the controllers are there, as on machines that have both: a controller is in one only."""
    old: dict[str, Path] = {}
    new: Path | None = None
    for line in mounts.read_text().splitlines():
        _, point, kind, options, *_ = line.split()
        if kind == "cgroup2":
            new = new or Path(_unescaped(point))
        elif kind == "cgroup":
            for option in options.split(","):
                if option in CONTROLLERS:
                    old.setdefault(option, Path(_unescaped(point)))
    if old:
        return CgroupsV1(old)
    if new:
        return CgroupsV2(new)
    raise CgroupUnavailableError(
        "this machine has no control groups mounted; mount them with: "
        "mount -t cgroup2 none /sys/fs/cgroup"
    )


def _unescaped(point: str) -> str:
    """The kernel writes spaces and their like as octal numbers."""
    return point.encode().decode("unicode_escape") if "\\" in point else point
