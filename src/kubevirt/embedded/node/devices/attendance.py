"""One plugin, from its coming to its going.

It tells which devices it has and how they are, in a stream. When that ends the plugin has gone: nobody gets
its devices any more, but they are counted for a while longer, in which it may come back. It comes back by
registering anew.
"""

from collections.abc import Callable
from typing import Final

from kubevirt.base.clock import Clock
from kubevirt.base.errors import KubevirtError
from kubevirt.base.files import Root
from kubevirt.base.log import get_logger
from kubevirt.rpc.devices import Plugin, Registered

log = get_logger(__name__)

MOST_DEVICES: Final = 10_000
GONE_S: Final = 300.0
"""How long devices of a plugin that has gone are still counted; a kubelet's."""

Connect = Callable[[str, str], Plugin]
"""To the plugin of a resource, by the path of its socket."""


class Attendance:
    def __init__(
        self,
        registered: Registered,
        changed: Callable[[], None],
        before: "Attendance | None" = None,
    ) -> None:
        """What the one before had is counted until this one tells."""
        self.registered = registered
        self.healthy: frozenset[str] = before.healthy if before else frozenset()
        self.devices: frozenset[str] = before.devices if before else frozenset()
        self.plugin: Plugin | None = None
        """None when it has gone."""
        self._changed = changed

    async def run(self, folder: Root, connect: Connect, clock: Clock) -> None:
        """Returns when the plugin has gone for good."""
        resource = self.registered.resource
        try:
            # The very socket that was registered, whatever has its name later.
            with folder.connectable(self.registered.socket) as path:
                self.plugin = connect(path, resource)
                await self._attend(self.plugin)
        except (KubevirtError, OSError) as error:
            log.warning("a device plugin has gone", resource=resource, because=str(error))
        self.plugin = None
        self._become(self.devices, frozenset())
        await clock.sleep(GONE_S)
        self._become(frozenset(), frozenset())

    async def _attend(self, plugin: Plugin) -> None:
        try:
            async for found in plugin.devices():
                if len(found) > MOST_DEVICES:
                    log.error("too many devices", resource=self.registered.resource)
                    return
                healthy = frozenset(each.id for each in found if each.is_healthy)
                self._become(frozenset(each.id for each in found), healthy)
            log.info("a device plugin has gone", resource=self.registered.resource)
        finally:
            await plugin.close()

    def _become(self, devices: frozenset[str], healthy: frozenset[str]) -> None:
        if (devices, healthy) != (self.devices, self.healthy):
            self.devices, self.healthy = devices, healthy
            self._changed()
