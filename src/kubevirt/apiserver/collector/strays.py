"""Strays: dependants that name an owner in another namespace, which is no owner to them.

They are treated as if it were gone, and an event says why.
"""

from typing import Any, Final

from kubevirt.apiserver.collector.controllers import Controller
from kubevirt.apiserver.collector.deciding import Above
from kubevirt.apiserver.collector.owners import Owners
from kubevirt.apiserver.collector.traits import Reference, Traits
from kubevirt.apiserver.kinds.kind import Kind
from kubevirt.apiserver.refusals import Refusal
from kubevirt.apiserver.registry.registry import Registry
from kubevirt.apiserver.schema import gotext
from kubevirt.base.log import get_logger

log = get_logger(__name__)

Object = dict[str, Any]

COMPONENT: Final = "garbage-collector-controller"
REASON: Final = "OwnerRefInvalidNamespace"


class Strays:
    def __init__(self, registry: Registry, controller: Controller, owners: Owners) -> None:
        self._registry = registry
        self._controller = controller
        self._owners = owners

    async def among(self, thing: Traits, above: Above) -> list[Reference]:
        """The references that lead into another namespace."""
        suspects = (*above.gone, *above.misplaced)
        return [each for each in suspects if await self._owners.is_elsewhere(each, thing.namespace)]

    async def report(self, kind: Kind, thing: Traits, references: list[Reference]) -> None:
        events = self._registry.catalog.kind("", "events")
        for reference in references:
            home = thing.namespace or "default"
            try:
                await self._controller.create(events, home, self._event(kind, thing, reference))
            except Refusal as error:  # its namespace is going: nobody will look for events there
                log.info("an event was not recorded", reason=error)

    def _event(self, kind: Kind, thing: Traits, reference: Reference) -> Object:
        group, version = kind.group, kind.storage_version.name
        about = {
            "kind": kind.names.kind,
            "namespace": thing.namespace,
            "name": thing.name,
            "uid": thing.uid,
            "apiVersion": f"{group}/{version}" if group else version,
        }
        named = (
            f"[{reference.api_version}/{reference.kind}, namespace: {thing.namespace}, "
            f"name: {reference.name}, uid: {reference.uid}]"
        )
        now = self._registry.now()
        return {
            "metadata": {"name": f"{thing.name}.{self._registry.chance.uid()[:8]}"},
            "involvedObject": {name: value for name, value in about.items() if value},
            "reason": REASON,
            "message": f"ownerRef {named} does not exist in namespace {gotext.quoted(thing.namespace)}",
            "type": "Warning",
            "source": {"component": COMPONENT},
            "reportingComponent": COMPONENT,
            "firstTimestamp": now,
            "lastTimestamp": now,
            "count": 1,
        }
