"""Control groups v1: a tree for each controller, and a group in each of those that we need."""

from collections.abc import Mapping
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

CONTROLLERS: Final = ("cpu", "cpuacct", "memory", "pids")
_DEFAULT_SHARES: Final = 1024


class CgroupsV1(Cgroups):
    def __init__(self, mounts: Mapping[str, Path]) -> None:
        """The mount of each controller. Some controllers share one."""
        self._mounts = {name: mounts[name] for name in CONTROLLERS if name in mounts}

    def open(self, parent: str, name: str) -> Group:
        path = checked_path(parent, name)
        return GroupV1(path, {each: mount / path for each, mount in self._mounts.items()})

    def create(self, parent: str, name: str, limits: CgroupLimits | None = None) -> Group:
        path = checked_path(parent, name)
        try:
            for mount in self._mounts.values():
                (mount / path).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise explained(error, f"cgroup {path} cannot be made") from None
        group = self.open(parent, name)
        if limits:
            group.limit(limits)
        return group


class GroupV1(Group):
    def __init__(self, name: str, folders: Mapping[str, Path]) -> None:
        super().__init__(name, folders.values())
        self._folder = folders

    def limit(self, limits: CgroupLimits) -> None:
        quota = None if limits.cpus is None else max(1000, round(limits.cpus * CPU_PERIOD_US))
        self._set("cpu.cfs_period_us", quota, str(CPU_PERIOD_US))
        self._set("cpu.cfs_quota_us", quota, _or(quota, "-1"))
        self._set("cpu.shares", limits.cpu_shares, _or(limits.cpu_shares, str(_DEFAULT_SHARES)))
        self._set("memory.limit_in_bytes", limits.memory_bytes, _or(limits.memory_bytes, "-1"))
        self._set("pids.max", limits.pids, _or(limits.pids, "max"))

    def usage(self) -> Usage:
        nanoseconds = self._number("cpuacct.usage")
        memory = self._folder.get("memory")
        return Usage(
            memory_bytes=self._number("memory.usage_in_bytes"),
            memory_peak_bytes=self._number("memory.max_usage_in_bytes"),
            cpu_usec=None if nanoseconds is None else nanoseconds // 1000,
            oom_kills=read_entry(memory / "memory.oom_control", "oom_kill") if memory else None,
            pids=self._number("pids.current"),
        )

    def _number(self, file: str) -> int | None:
        folder = self._folder.get(file.partition(".")[0])
        return read_number(folder / file) if folder else None

    def _set(self, file: str, limit: int | None, value: str) -> None:
        folder = self._folder.get(file.partition(".")[0])
        if folder is None:
            if limit is None:
                return
            raise CgroupUnavailableError(
                f"cgroup {self.name} cannot be limited: this machine has no {file}"
            )
        with self._explained(f"have {file} set to {value}"):
            write(folder / file, value)


def _or(limit: int | None, unlimited: str) -> str:
    return unlimited if limit is None else str(limit)
