"""The controller of nodes: one whose virt-handler has been silent for too long gets no more guests.

It is virt-handler's own word that lets guests come to a node, and nobody else could take it back for one that died. When it
speaks again it says so itself. What becomes of guests there is the instances' controller's: one without a pod has failed.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress

from kubevirt.api.scheme import NODES
from kubevirt.base.clock import Clock
from kubevirt.base.log import get_logger
from kubevirt.components.controller.caches import Caches
from kubevirt.components.controller.kept import KeptNode
from kubevirt.kube.cache.store import Change
from kubevirt.kube.client import Client
from kubevirt.kube.controller import DONE, After, Controller, ControllerSettings, Result
from kubevirt.kube.errors import NotFound
from kubevirt.kube.key import Key
from kubevirt.kube.patches import MergePatch
from kubevirt.virt import nodes
from kubevirt.virt.pod.names import SCHEDULABLE

NAME = "virt-controller-node"
MARGIN_S = 0.001
CLOSED = "false"

log = get_logger(__name__)


class NodeController:
    def __init__(
        self,
        client: Client,
        clock: Clock,
        caches: Caches,
        *,
        workers: int,
        before_each: Callable[[], None],
    ) -> None:
        self._client = client
        self._clock = clock
        self._caches = caches
        self.controller: Controller[Key] = Controller(
            NAME,
            self._reconcile,
            clock=clock,
            settings=ControllerSettings(workers=workers),
            before_each=before_each,
        )
        self._is_leading = False
        self.controller.watch(caches.nodes, self._of_node)

    async def run(self) -> None:
        """For as long as this process leads. Who does not lead keeps no list of what it would have to do."""
        self._is_leading = True
        try:
            for node in self._caches.nodes:
                self.controller.queue.add(Key.of(node))
            await self.controller.run()
        finally:
            self._is_leading = False

    def _of_node(self, change: Change[KeptNode]) -> Iterable[Key]:
        """Kubelets write to their nodes all the time; that is nothing to look at."""
        old, new = change.old, change.new
        is_same = old is not None and new is not None and old.said == new.said
        return () if is_same or new is None or not self._is_leading else (change.key,)

    async def _reconcile(self, key: Key) -> Result:
        node = self._caches.nodes.get(key)
        if node is None or not node.is_open:
            return DONE
        silent_from = nodes.silent_from(node.metadata.annotations.heartbeat)
        if silent_from is None:
            return DONE
        if (wait_s := (silent_from - self._clock.now()).total_seconds()) > 0:
            return After(wait_s + MARGIN_S)
        await self._close(node)
        return DONE

    async def _close(self, node: KeptNode) -> None:
        """Refused if it has spoken meanwhile: then there is nothing to close."""
        metadata = {
            "resourceVersion": node.metadata.resource_version,
            "labels": {SCHEDULABLE: CLOSED},
        }
        name = node.metadata.name
        log.warning("virt-handler is silent; its node gets no more guests", node=name)
        with suppress(NotFound):
            patch = MergePatch({"metadata": metadata})
            await self._client.patch(NODES.metadata_only, name, patch)
