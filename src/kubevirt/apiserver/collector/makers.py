"""Makers: who controls the pods of a budget, and how many of them each wants there to be."""

from collections.abc import Sequence
from typing import Any

import msgspec

from kubevirt.apiserver.kinds.kind import Kind
from kubevirt.apiserver.registry import scaling
from kubevirt.apiserver.registry.registry import Registry
from kubevirt.apiserver.registry.stored import object_of

Object = dict[str, Any]


class NoScale(Exception):  # noqa: N818  # an answer, in the words of Kubernetes' controller
    """Nobody can say how many pods there should be."""


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    count: int = 0
    """By all makers together."""
    unmade: Sequence[str] = ()
    """Pods that nobody controls: they are not counted."""


class Makers:
    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    async def wanted(self, pods: Sequence[Object]) -> Wanted:
        """Raises `NoScale`."""
        scales: dict[str, int] = {}
        unmade = []
        for pod in pods:
            metadata = pod["metadata"]
            owners = metadata.get("ownerReferences") or []
            maker = next((each for each in owners if each.get("controller")), None)
            if maker is None:
                unmade.append(metadata["name"])
            elif maker["uid"] not in scales:
                scales[maker["uid"]] = await self._scale(metadata, maker)
        return Wanted(count=sum(scales.values()), unmade=unmade)

    async def _scale(self, pod: Object, maker: Object) -> int:
        kind = self._kind(maker)
        group, _, version = maker["apiVersion"].rpartition("/")
        found = kind.version(version)
        paths = self._registry.catalog.scale(kind, found) if found else None
        if paths is None:
            name = f"{kind.names.plural}.{group}" if group else kind.names.plural
            raise NoScale(f"{name} does not implement the scale subresource")
        entry = await self._registry.store.get(kind.key(pod["namespace"], maker["name"]))
        object_ = object_of(entry, maker["apiVersion"]) if entry else None
        if object_ is None or object_["metadata"]["uid"] != maker["uid"]:
            raise NoScale(f'found no controllers for pod "{pod["name"]}"')
        return scaling.wanted(object_, paths)

    def _kind(self, maker: Object) -> Kind:
        group, _, version = maker["apiVersion"].rpartition("/")
        for kind in self._registry.catalog.kinds:
            is_it = (kind.group, kind.names.kind) == (group, maker["kind"])
            if is_it and kind.version(version):
                return kind
        words = f'no matches for kind "{maker["kind"]}" in version "{maker["apiVersion"]}"'
        raise NoScale(words)
