"""What a home has on the machine, taken away: by its process when that goes down, or after one that died.

Containers end first, then what they stood on. Everything is found by the folders of the home, nothing by memory.
"""

import asyncio
import signal
from collections.abc import Coroutine, Iterator
from contextlib import suppress
from typing import Any, Final

import msgspec

from kubevirt.base.clock import Clock, SystemClock
from kubevirt.base.errors import KubevirtError, Retry
from kubevirt.base.log import get_logger
from kubevirt.base.tasks import background
from kubevirt.embedded.home import Home
from kubevirt.embedded.network.switchboard import Switchboard
from kubevirt.embedded.node.records import PodRecords
from kubevirt.embedded.process import settings
from kubevirt.embedded.programs import sighted
from kubevirt.embedded.runtime import hearing
from kubevirt.embedded.runtime.attempt import Attempt
from kubevirt.embedded.runtime.groups import Groups
from kubevirt.embedded.storage.loop import IN_POD, LoopDevices
from kubevirt.host import mounts
from kubevirt.host.net.netns import Namespace

log = get_logger(__name__)

GRACE_S = 30.0
"""Of a pod that does not say, as in Kubernetes."""
_KILLED_S = 10.0
_LOCK_S: Final = 0.05
"""Between the end of a keeper and of its lock."""


async def clear(home: Home, clock: Clock | None = None) -> None:
    """All of it, though no process of the home runs any more."""
    clock = clock or SystemClock()
    await asyncio.to_thread(sighted.end_all, home)  # before they see pods end, and make new ones
    async with asyncio.TaskGroup() as tasks:
        for pod in _pods(home):
            tasks.create_task(_end_pod(pod, clock))
    choices = home.choices
    if choices.pods:
        with Namespace.current() as machine:
            switchboard = Switchboard(settings.network(home, choices), machine)
            try:
                await switchboard.take_away()
            finally:
                switchboard.close()
    await clear_machine(home)


async def clear_machine(home: Home) -> None:
    """What is left when containers have ended and their network is gone: mounts, disks, control groups."""
    for folder in (home.nodes, home.network):  # what is mounted elsewhere in it is not ours
        mounts.unmount_below(folder)
    for link in home.path.glob(f"nodes/*/root/var/lib/kubelet/pods/*/{IN_POD}/*"):
        link.unlink(missing_ok=True)
    await LoopDevices(home.volumes, home.nodes).release()
    for node in sorted(each.name for each in home.nodes.iterdir()):
        groups = Groups(settings.groups(home, node))
        for uid in groups.left_over():
            try:
                groups.remove(uid)
            except (KubevirtError, OSError) as error:
                log.warning("control groups not removed", uid=uid, error=error)
        groups.close()


def _pods(home: Home) -> Iterator[PodRecords]:
    return (PodRecords(each) for each in sorted(home.path.glob("nodes/*/pods/*")))


async def _end_pod(records: PodRecords, clock: Clock) -> None:
    """As a node does that goes down: the next one takes it for a restart of the machine in good order."""
    pod = records.pod()
    grace_s = pod.spec.termination_grace_period_seconds if pod and pod.spec else None
    async with asyncio.TaskGroup() as tasks:
        for attempt in records.all_attempts():
            tasks.create_task(
                _end(attempt, min(GRACE_S if grace_s is None else grace_s, settings.STOP_S), clock)
            )
    if state := records.state():
        records.keep_state(
            msgspec.structs.replace(state, is_down=True, network=None, has_volumes=False)
        )


async def _end(attempt: Attempt, grace_s: float, clock: Clock) -> None:
    asking = hearing.ask(attempt, signal.SIGTERM, clock)
    if await _ends_by(asking, attempt, grace_s, clock):
        return
    killing = hearing.send(attempt, signal.SIGKILL, clock)
    if not await _ends_by(killing, attempt, _KILLED_S, clock):
        log.warning("a container does not end", folder=str(attempt.folder))


async def _ends_by(
    work: Coroutine[Any, Any, None], attempt: Attempt, limit_s: float, clock: Clock
) -> bool:
    with suppress(TimeoutError):
        async with clock.timeout(limit_s), background(work):
            while attempt.is_running:
                with suppress(Retry):
                    await attempt.ended()
                    return True
                await clock.sleep(_LOCK_S)
    return not attempt.is_running
