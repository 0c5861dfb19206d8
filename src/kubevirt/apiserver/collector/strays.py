"""Strays: dependants that name an owner in another namespace, which is no owner to them.

They are treated as if it were gone, and an event says why.
"""

from typing import Final

from kubevirt.apiserver.collector.controllers import Controller
from kubevirt.apiserver.collector.deciding import Above
from kubevirt.apiserver.collector.owners import Owners
from kubevirt.apiserver.collector.telling import Telling
from kubevirt.apiserver.collector.traits import Reference, Traits
from kubevirt.apiserver.kinds.kind import Kind
from kubevirt.apiserver.registry.registry import Registry
from kubevirt.apiserver.schema import gotext

COMPONENT: Final = "garbage-collector-controller"
MOST_EXPLAINED: Final = 16
"""Of an object. Each is looked for in all namespaces, and who names more owners has made a mistake that the
first ones explain.
"""
REASON: Final = "OwnerRefInvalidNamespace"


class Strays:
    def __init__(self, registry: Registry, controller: Controller, owners: Owners) -> None:
        self._telling = Telling(registry, controller, COMPONENT)
        self._owners = owners

    async def among(self, thing: Traits, above: Above) -> list[Reference]:
        """The references that lead into another namespace; of many, of the first ones only."""
        suspects = (*above.gone, *above.misplaced)[:MOST_EXPLAINED]
        return [each for each in suspects if await self._owners.is_elsewhere(each, thing.namespace)]

    async def report(self, kind: Kind, thing: Traits, references: list[Reference]) -> None:
        about = {"name": thing.name, "namespace": thing.namespace, "uid": thing.uid}
        for each in references:
            named = (
                f"[{each.api_version}/{each.kind}, namespace: {thing.namespace}, "
                f"name: {each.name}, uid: {each.uid}]"
            )
            place = gotext.quoted(thing.namespace)
            words = f"ownerRef {named} does not exist in namespace {place}"
            await self._telling.tell(kind, about, "Warning", REASON, words)
