"""Shows that the node lives, by renewing its lease. Who watches it decides what silence means."""

from datetime import datetime
from typing import Any, Final, Protocol

from kubevirt.api.scheme import LEASES
from kubevirt.base.clock import Clock
from kubevirt.base.errors import KubevirtError
from kubevirt.base.log import get_logger
from kubevirt.embedded.node.settings import NodeSettings
from kubevirt.kube.client import Client
from kubevirt.kube.errors import AlreadyExists, NotFound
from kubevirt.kube.patches import MergePatch

NAMESPACE: Final = "kube-node-lease"

log = get_logger(__name__)


class Registered(Protocol):
    """A node whose object may be another one by now."""

    uid: str


class NodeLease:
    def __init__(self, settings: NodeSettings, client: Client, clock: Clock) -> None:
        self._settings = settings
        self._client = client
        self._clock = clock

    async def renew(self, uid: str) -> None:
        """`uid` is the node's: the lease goes with it."""
        name, now = self._settings.name, self._clock.now()
        patch = MergePatch({"spec": self._spec(now)})
        try:
            await self._client.patch(LEASES.raw, name, patch, NAMESPACE)
        except NotFound:
            lease = {"metadata": _metadata(name, uid), "spec": self._spec(now)}
            try:
                await self._client.create(LEASES.raw, lease, NAMESPACE)
            except AlreadyExists:
                await self._client.patch(LEASES.raw, name, patch, NAMESPACE)

    async def run(self, owner: Registered) -> None:
        while True:
            await self._clock.sleep(self._settings.heartbeat_s)
            try:
                await self.renew(owner.uid)
            except KubevirtError as error:
                log.warning("lease of the node not renewed", error=error)

    def _spec(self, now: datetime) -> dict[str, Any]:
        return {
            "holderIdentity": self._settings.name,
            "leaseDurationSeconds": self._settings.lease_s,
            "renewTime": now.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        }


def _metadata(name: str, uid: str) -> dict[str, Any]:
    owner = {"apiVersion": "v1", "kind": "Node", "name": name, "uid": uid}
    return {"name": name, "ownerReferences": [owner]}
