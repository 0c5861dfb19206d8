"""The heartbeat: tells the cluster that this node looks after guests, and whether it takes more.

One patch of the node a minute. A node whose heartbeat is too old gets no more guests (virt-controller sees to
that); one whose handler ends in peace says so itself.
"""

import random
from collections.abc import Callable
from datetime import datetime
from typing import Final

from kubevirt.api.scheme import NODES
from kubevirt.base.clock import Clock
from kubevirt.base.errors import KubevirtError
from kubevirt.base.log import get_logger
from kubevirt.kube.client import Client
from kubevirt.kube.patches import MergePatch

log = get_logger(__name__)

SCHEDULABLE: Final = "kubevirt.io/schedulable"
CPU_MANAGER: Final = "kubevirt.io/cpumanager"
HEARTBEAT: Final = "kubevirt.io/heartbeat"
INTERVAL_S: Final = 60.0
JITTER: Final = 0.2
"""Up to this part of the interval longer, so that nodes do not all come at once."""
RETRY_S: Final = 2.0
FAREWELL_S: Final = 5.0


class Heartbeat:
    def __init__(
        self,
        client: Client,
        node: str,
        clock: Clock,
        *,
        labels: Callable[[], dict[str, str]] = dict,
        randomness: random.Random | None = None,
    ) -> None:
        """`labels` are what else guests may ask of the node."""
        self.writes = 0
        self._client = client
        self._node = node
        self._clock = clock
        self._labels = labels
        self._random = randomness or random.Random()  # noqa: S311  # spreads load, hides nothing

    async def run(self) -> None:
        """Beats until cancelled, and then says goodbye."""
        try:
            while True:
                is_told = await self._beat(is_schedulable=True)
                wait_s = INTERVAL_S * (1 + JITTER * self._random.random()) if is_told else RETRY_S
                await self._clock.sleep(wait_s)
        finally:
            await self._say_goodbye()

    async def _say_goodbye(self) -> None:
        try:
            async with self._clock.timeout(FAREWELL_S):
                await self._beat(is_schedulable=False)
        except TimeoutError:
            log.warning("the node could not be told that nobody looks after its guests any more")

    async def _beat(self, *, is_schedulable: bool) -> bool:
        labels = {SCHEDULABLE: str(is_schedulable).lower(), CPU_MANAGER: "false", **self._labels()}
        annotations = {HEARTBEAT: _timestamp(self._clock.now())}
        patch = MergePatch({"metadata": {"labels": labels, "annotations": annotations}})
        try:
            await self._client.patch(NODES, self._node, patch)
        except KubevirtError as error:
            log.warning("no heartbeat", node=self._node, reason=str(error))
            return False
        self.writes += 1
        return True


def _timestamp(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
