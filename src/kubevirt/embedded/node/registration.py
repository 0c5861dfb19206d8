"""Keeps the node's own object as it should be: there, with its labels, and with a status that is true."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import msgspec

from kubevirt.api.core.node import Node
from kubevirt.api.scheme import NODES
from kubevirt.base.clock import Clock
from kubevirt.base.errors import KubevirtError, Retry
from kubevirt.base.log import get_logger
from kubevirt.embedded.node import machine, node_status
from kubevirt.embedded.node.neighbours import Devices, Network
from kubevirt.embedded.node.settings import NodeSettings
from kubevirt.kube.client import Client
from kubevirt.kube.errors import AlreadyExists, NotFound
from kubevirt.kube.patches import MergePatch, StrategicMergePatch

Data = dict[str, Any]

log = get_logger(__name__)

_RETRY_S = 1.0


class Registration:
    def __init__(
        self,
        settings: NodeSettings,
        client: Client,
        devices: Devices,
        network: Network,
        clock: Clock,
    ) -> None:
        self._settings = settings
        self._client = client
        self._devices = devices
        self._network = network
        self._clock = clock
        self._machine = machine.look(settings.folder)
        self._called = asyncio.Event()
        self._written: Data = {}
        """The status without its conditions."""
        self._conditions: list[Data] = []
        self._written_at = -settings.status_s
        self.uid = ""

    async def register(self) -> None:
        """Returns when the object is there and ready."""
        node = await self._object()
        self.uid = node["metadata"]["uid"]
        self._conditions = (node.get("status") or {}).get("conditions") or []
        wanted = node_status.metadata(self._settings, self._machine)["labels"]
        if _is_part(wanted, node["metadata"].get("labels") or {}):
            await self._write(has_news=True)
            return
        patch = MergePatch({"metadata": {"labels": wanted}})
        await self._client.patch(NODES, self._settings.name, patch)
        await self._write(has_news=True)

    async def _object(self) -> Data:
        """The one that is there, or a new one."""
        with suppress(NotFound):
            return await self._client.get(NODES.raw, self._settings.name)
        node = {
            "metadata": node_status.metadata(self._settings, self._machine),
            "spec": {},
        }
        with suppress(AlreadyExists):
            return await self._client.create(NODES.raw, node)
        return await self._client.get(NODES.raw, self._settings.name)

    def learn(self, node: Node) -> None:
        """Somebody took us for dead: we are not."""
        ready = next((each for each in node.status.conditions if each.type == "Ready"), None)
        if self._written and (ready is None or ready.status != "True"):
            self._conditions = msgspec.to_builtins(list(node.status.conditions))
            self._called.set()

    def forget(self) -> None:
        """Somebody removed the object: it is made anew."""
        self._written, self._conditions = {}, []
        self._called.set()

    def look_again(self) -> None:
        """Devices of the node have come or gone."""
        self._called.set()

    async def run(self) -> None:
        """Writes what has changed, and now and then although nothing has."""
        while True:
            with suppress(TimeoutError):
                async with self._clock.timeout(self._settings.heartbeat_s):
                    await self._called.wait()
            self._called.clear()
            try:
                await self._write()
            except NotFound:
                await self._register_again()
            except (Retry, KubevirtError) as error:
                log.warning("status of the node not written", error=error)
                await self._clock.sleep(_RETRY_S)
                self._called.set()

    async def _register_again(self) -> None:
        self._written = {}
        try:
            await self.register()
        except KubevirtError as error:
            log.warning("the node cannot be registered", error=error)
            await self._clock.sleep(_RETRY_S)
            self._called.set()

    async def _write(self, *, has_news: bool = False) -> None:
        settings, now = self._settings, self._clock.now()
        status = node_status.of(settings, self._machine, self._devices.capacity)
        before = {each["type"]: each for each in self._conditions}
        left = machine.load(settings.folder)
        conditions = node_status.conditions(left, self._network.trouble, before, now)
        is_old = self._clock.monotonic() - self._written_at >= settings.status_s
        ours = [before[each["type"]] for each in conditions if each["type"] in before]
        is_same = status == self._written and not node_status.is_news(ours, conditions)
        if is_same and not is_old and not has_news:
            return
        body: Data = {"status": {**status, "conditions": conditions}}
        gone = {
            name: None
            for name in self._written.get("capacity", {})
            if name not in status["capacity"]
        }
        for field in ("capacity", "allocatable"):
            body["status"][field] = {**status[field], **gone}
        await self._client.patch_status(NODES.raw, settings.name, StrategicMergePatch(body))
        self._written, self._conditions = status, conditions
        self._written_at = self._clock.monotonic()


def _is_part(wanted: Mapping[str, str], found: Mapping[str, str]) -> bool:
    return all(found.get(name) == value for name, value in wanted.items())
