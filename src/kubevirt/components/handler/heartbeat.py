"""The heartbeat: tells the cluster that this node looks after guests, and whether it takes more.

One patch of the node a minute; the server answers with the node, and a second one follows if that is not labelled as it
should be: at first, and when somebody took labels off. A node whose heartbeat is too old gets no more guests (virt-controller sees to
that); one whose handler ends in peace says so itself.
"""

import random
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final

from kubevirt.api.meta import ObjectMeta
from kubevirt.api.scheme import NODES
from kubevirt.api.struct import NO_ENTRIES
from kubevirt.base.clock import Clock
from kubevirt.base.errors import KubevirtError
from kubevirt.base.log import get_logger
from kubevirt.components.handler.node_labels import changes
from kubevirt.kube.client import Client
from kubevirt.kube.patches import MergePatch
from kubevirt.virt.nodes import HEARTBEAT
from kubevirt.virt.pod.names import SCHEDULABLE

log = get_logger(__name__)

CPU_MANAGER: Final = "kubevirt.io/cpumanager"
INTERVAL_S: Final = 60.0
JITTER: Final = 0.2
"""Up to this part of the interval longer, so that nodes do not all come at once."""
RETRY_S: Final = 10.0
"""Before the next, if the last was not heard or said that nothing is ready."""
READY_S: Final = 10.0
LOOK_S: Final = 0.05
FAREWELL_S: Final = 5.0


class Heartbeat:
    def __init__(
        self,
        client: Client,
        node: str,
        clock: Clock,
        *,
        labels: Mapping[str, str] = NO_ENTRIES,
        is_ready: Callable[[], bool] = lambda: True,
        randomness: random.Random | None = None,
    ) -> None:
        """`labels` are what else guests may ask of the node. `is_ready` tells whether a guest would find here
        what it needs: until then none is sent.
        """
        self.writes = 0
        self._client = client
        self._node = node
        self._clock = clock
        self._labels = labels
        self.is_ready = is_ready
        self._random = randomness or random.Random()  # noqa: S311  # spreads load, hides nothing

    async def run(self) -> None:
        """Beats until cancelled, and then says goodbye."""
        try:
            await self._get_ready()
            while True:
                is_ready = self.is_ready()
                is_told = await self._beat(is_schedulable=is_ready, is_labelled=True)
                wait_s = INTERVAL_S * (1 + JITTER * self._random.random())
                await self._clock.sleep(wait_s if is_told and is_ready else RETRY_S)
        finally:
            await self._say_goodbye()

    async def _get_ready(self) -> None:
        """Mostly a moment; who takes longer is told of as what it is."""
        ends = self._clock.monotonic() + READY_S
        while not self.is_ready() and self._clock.monotonic() < ends:
            await self._clock.sleep(LOOK_S)

    async def _say_goodbye(self) -> None:
        try:
            async with self._clock.timeout(FAREWELL_S):
                await self._beat(is_schedulable=False)
        except TimeoutError:
            log.warning("the node could not be told that nobody looks after its guests any more")

    async def _beat(self, *, is_schedulable: bool, is_labelled: bool = False) -> bool:
        labels = {SCHEDULABLE: str(is_schedulable).lower(), CPU_MANAGER: "false"}
        annotations = {HEARTBEAT: _timestamp(self._clock.now())}
        try:
            node = await self._write({"labels": labels, "annotations": annotations})
            wanted = changes(node, self._labels) if is_labelled else {}
            if wanted:
                await self._write({"labels": wanted})
        except KubevirtError as error:
            log.warning("no heartbeat", node=self._node, reason=str(error))
            return False
        return True

    async def _write(self, metadata: Mapping[str, Any]) -> ObjectMeta:
        patch = MergePatch({"metadata": metadata})
        node = await self._client.patch(NODES.metadata_only, self._node, patch)
        self.writes += 1
        return node.metadata


def _timestamp(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
