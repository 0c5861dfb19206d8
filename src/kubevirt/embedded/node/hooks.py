"""Runs what a pod wants to be done after the start and before the stop of a container."""

from kubevirt.api.core.container import LifecycleHandler
from kubevirt.base.clock import Clock
from kubevirt.embedded.node.probes.asking import Asking, Target
from kubevirt.embedded.node.probes.schedule import Answer

POST_START_S = 300.0
"""A kubelet lets a postStart hook run for ever; nobody waits for a pod that long."""


async def run(
    handler: LifecycleHandler, target: Target, limit_s: float, *, asking: Asking, clock: Clock
) -> Answer:
    if handler.sleep is not None:
        await clock.sleep(min(handler.sleep.seconds, limit_s))
        return Answer(is_good=True)
    return await asking.ask(handler, target, limit_s)
