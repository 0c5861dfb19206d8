"""Control groups of pods: one for each pod, in it one for each container.

    groups = Groups(f"kubevirt-embedded/{home_id}/{node}")
    folders = groups.for_container(uid, "main", container.resources)

The folders are what a keeper enters before it becomes the sandbox, so that all of a container is in them
from its first instruction. A machine that cannot limit something (a controller that is missing, control
groups that are not ours to write) runs containers without that limit, and says so once.

A group is made anew for each try of a container: the kernel's counters begin at zero with it.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from kubevirt.api.core.container import ResourceRequirements
from kubevirt.base.clock import Clock
from kubevirt.base.errors import ConfigError
from kubevirt.base.log import Logger, get_logger
from kubevirt.embedded.runtime.limits import limits_of
from kubevirt.host.cgroups.detection import detect
from kubevirt.host.cgroups.group import (
    CgroupError,
    CgroupLimits,
    Cgroups,
    CgroupUnavailableError,
    Group,
)

_log = get_logger("embedded.runtime.groups")
_POD: Final = "pod"
POD_LIMITS: Final = CgroupLimits(pids=16_384)
"""Of all containers of a pod together. Kubernetes has none of its own, but here the machine is one that
somebody works on, and a pod that starts processes without end would take it down.
"""


class Groups:
    def __init__(self, parent: str, cgroups: Cgroups | None = None, log: Logger = _log) -> None:
        """`parent` is a path from the root of all groups, and nobody else's."""
        self._parent = parent
        self._log = log
        self._lacking = set[str]()
        """Limits that this machine cannot set."""
        self._cgroups = cgroups or self._detected()

    def _detected(self) -> Cgroups | None:
        try:
            return detect()
        except CgroupUnavailableError as error:
            self._go_without(error)
            return None

    def for_container(
        self, uid: str, name: str, resources: ResourceRequirements | None
    ) -> Sequence[str]:
        """The folders of the groups that one more try of a container begins in."""
        try:
            self._made(self._parent, _POD + uid, POD_LIMITS)
            return self._made(self._pod(uid), name, limits_of(resources), is_new=True)
        except CgroupUnavailableError as error:
            self._go_without(error)
            return ()

    def is_out_of_memory(self, uid: str, name: str) -> bool:
        """Whether the kernel ended a process of the container's last try for want of memory."""
        if self._cgroups is None:
            return False
        return bool(self._cgroups.open(self._pod(uid), name).usage().oom_kills)

    async def kill(self, uid: str, clock: Clock) -> None:
        """Everything that runs in a pod, also what its containers' first processes do not know of."""
        if self._cgroups is not None:
            await self._cgroups.open(self._parent, _POD + uid).kill(clock)

    def remove(self, uid: str) -> None:
        """All groups of a pod whose containers have ended. What is still there has got away from its
        container, and ends now; then it takes another try.
        """
        if self._cgroups is not None:
            group = self._cgroups.open(self._parent, _POD + uid)
            group.kill_now()
            group.remove()

    def left_over(self) -> frozenset[str]:
        """The pods, by uid, that have groups here."""
        names = (each.name for folder in self._folders() for each in _folders_in(folder))
        return frozenset(name.removeprefix(_POD) for name in names if name.startswith(_POD))

    def close(self) -> None:
        """What is left when there are no pods any more: the folders above theirs."""
        for folder in self._folders():
            for above in (folder, *folder.parents[: self._parent.count("/")]):
                with suppress(OSError):  # another node or home is still there
                    above.rmdir()

    def _made(
        self, parent: str, name: str, limits: CgroupLimits, *, is_new: bool = False
    ) -> Sequence[str]:
        if self._cgroups is None:
            return ()
        if is_new:
            before = self._cgroups.open(parent, name)
            before.kill_now()  # what got away from the last try must not run beside the next one
            with suppress(CgroupError):  # it takes a moment; an old group is as good as a new one
                before.remove()
        group = self._cgroups.create(parent, name)
        self._limit(group, limits)
        return [str(folder) for folder in group.folders]

    def _limit(self, group: Group, limits: CgroupLimits) -> None:
        possible = msgspec.structs.replace(limits, **dict.fromkeys(self._lacking))
        try:
            group.limit(possible)
        except CgroupUnavailableError:
            self._limit_one_by_one(group, possible)

    def _limit_one_by_one(self, group: Group, limits: CgroupLimits) -> None:
        """Finds out what this machine cannot limit; the rest holds."""
        for name in CgroupLimits.__struct_fields__:
            try:
                group.limit(CgroupLimits(**{name: getattr(limits, name)}))
            except CgroupUnavailableError as error:
                self._lacking.add(name)
                self._log.warning("containers run without a limit", limit=name, cause=str(error))
        group.limit(msgspec.structs.replace(limits, **dict.fromkeys(self._lacking)))

    def _go_without(self, error: ConfigError) -> None:
        self._cgroups = None
        self._log.warning("containers run without control groups", cause=str(error))

    def _pod(self, uid: str) -> str:
        return f"{self._parent}/{_POD}{uid}"

    def _folders(self) -> Sequence[Path]:
        if self._cgroups is None:
            return ()
        above, _, name = self._parent.rpartition("/")
        return self._cgroups.open(above, name).folders


def _folders_in(folder: Path) -> Iterator[Path]:
    if folder.is_dir():
        yield from (each for each in folder.iterdir() if each.is_dir())
