"""Events that the collector records about objects, under the names of Kubernetes' own controllers."""

from typing import Any

from kubevirt.apiserver.collector.controllers import Controller
from kubevirt.apiserver.kinds.kind import Kind
from kubevirt.apiserver.refusals import Refusal
from kubevirt.apiserver.registry.registry import Registry
from kubevirt.base.log import get_logger

log = get_logger(__name__)

Object = dict[str, Any]


class Telling:
    def __init__(self, registry: Registry, controller: Controller, component: str) -> None:
        self._registry = registry
        self._controller = controller
        self._component = component

    async def tell(
        self, kind: Kind, metadata: Object, type_: str, reason: str, message: str
    ) -> None:
        """`metadata` names the object: of it, name, namespace and uid."""
        events = self._registry.catalog.kind("", "events")
        home = metadata.get("namespace") or "default"
        event = self._event(kind, metadata, type_, reason, message)
        try:
            await self._controller.create(events, home, event)
        except Refusal as error:  # its namespace is going: nobody will look for events there
            log.info("an event was not recorded", reason=error)

    def _event(self, kind: Kind, metadata: Object, type_: str, reason: str, message: str) -> Object:
        group, version = kind.group, kind.storage_version.name
        about = {
            "kind": kind.names.kind,
            "namespace": metadata.get("namespace"),
            "name": metadata["name"],
            "uid": metadata["uid"],
            "apiVersion": f"{group}/{version}" if group else version,
        }
        now = self._registry.now()
        return {
            "metadata": {"name": f"{metadata['name']}.{self._registry.chance.uid()[:8]}"},
            "involvedObject": {name: value for name, value in about.items() if value},
            "reason": reason,
            "message": message,
            "type": type_,
            "source": {"component": self._component},
            "reportingComponent": self._component,
            "firstTimestamp": now,
            "lastTimestamp": now,
            "count": 1,
        }
