"""Control groups v2: one tree, in which each group hands controllers down to those below it."""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from kubevirt.host.cgroups.group import (
    CPU_PERIOD_US,
    CgroupLimits,
    Cgroups,
    CgroupUnavailableError,
    Group,
    Usage,
    checked_path,
    explained,
    read_entry,
    read_number,
    write,
)

_CONTROLLERS: Final = ("cpu", "memory", "pids")


class CgroupsV2(Cgroups):
    def __init__(self, mount: Path) -> None:
        self._mount = mount

    def open(self, parent: str, name: str) -> Group:
        path = checked_path(parent, name)
        return GroupV2(path, [self._mount / path])

    def create(self, parent: str, name: str, limits: CgroupLimits | None = None) -> Group:
        path = checked_path(parent, name)
        above = self._mount
        try:
            for part in path.split("/"):
                _hand_down(above)
                above /= part
                above.mkdir(exist_ok=True)
        except OSError as error:
            raise explained(error, f"cgroup {path} cannot be made") from None
        group = GroupV2(path, [above])
        if limits:
            group.limit(limits)
        return group


def _hand_down(folder: Path) -> None:
    """Gives those below what this group has of the controllers that we need."""
    has = (folder / "cgroup.controllers").read_text().split()
    given = (folder / "cgroup.subtree_control").read_text().split()
    missing = [each for each in _CONTROLLERS if each in has and each not in given]
    if missing:
        write(folder / "cgroup.subtree_control", " ".join(f"+{each}" for each in missing))


class GroupV2(Group):
    def limit(self, limits: CgroupLimits) -> None:
        quota = None if limits.cpus is None else max(1000, round(limits.cpus * CPU_PERIOD_US))
        self._set("cpu.max", quota, f"{_or_max(quota)} {CPU_PERIOD_US}")
        self._set("cpu.weight", limits.cpu_shares, str(_weight(limits.cpu_shares)))
        self._set("memory.max", limits.memory_bytes, _or_max(limits.memory_bytes))
        self._set("pids.max", limits.pids, _or_max(limits.pids))

    def usage(self) -> Usage:
        (folder,) = self._folders
        return Usage(
            memory_bytes=read_number(folder / "memory.current"),
            memory_peak_bytes=read_number(folder / "memory.peak"),
            cpu_usec=read_entry(folder / "cpu.stat", "usage_usec"),
            oom_kills=read_entry(folder / "memory.events", "oom_kill"),
            pids=read_number(folder / "pids.current"),
        )

    def _kill_once(self, pids: Iterable[int]) -> None:
        (folder,) = self._folders
        try:
            write(folder / "cgroup.kill", "1")
        except FileNotFoundError:  # a kernel before 5.14
            super()._kill_once(pids)

    def _set(self, file: str, limit: int | None, value: str) -> None:
        path = self._folders[0] / file
        if limit is None and not path.exists():
            return
        if not path.exists():
            raise CgroupUnavailableError(
                f"cgroup {self.name} cannot be limited: this machine hands down no {file}"
            )
        with self._explained(f"have {file} set to {value}"):
            write(path, value)


def _or_max(limit: int | None) -> str:
    return "max" if limit is None else str(limit)


def _weight(shares: int | None) -> int:
    """Kubernetes' own mapping of 2…262144 shares to a weight of 1…10000; 100 is the kernel's default."""
    if shares is None:
        return 100
    return 1 + (min(max(shares, 2), 262_144) - 2) * 9999 // 262_142
