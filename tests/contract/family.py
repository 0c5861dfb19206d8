"""Owners and dependants on a server under test."""

from collections.abc import Iterable
from typing import Any

from tests.contract.lamps import CONFIG_MAPS

from clusterup import waiting
from kubevirt.api.resource import Resource
from kubevirt.kube.client import Client
from kubevirt.kube.errors import NotFound
from kubevirt.kube.patches import MergePatch

Object = dict[str, Any]
Kind = Resource[Object]

HOLD = "example.org/hold"
LIMIT_S = 120.0


def reference(owner: Object, **more: Any) -> Object:
    """To an owner, from one of its dependants."""
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        **more,
    }


class Family:
    def __init__(self, client: Client, namespace: str) -> None:
        self.client = client
        self.namespace = namespace

    def home(self, kind: Kind) -> str | None:
        return self.namespace if kind.namespaced else None

    async def create(
        self,
        name: str,
        *owners: Object,
        kind: Kind = CONFIG_MAPS,
        finalizers: Iterable[str] = (),
        blocks: bool = True,
        **body: Any,
    ) -> Object:
        """An object that belongs to those owners, each an object or a reference."""
        references = [
            each if "uid" in each else reference(each, blockOwnerDeletion=blocks) for each in owners
        ]
        metadata = {"name": name, "ownerReferences": references, "finalizers": list(finalizers)}
        made = await self.client.create(kind, {"metadata": metadata, **body}, self.home(kind))
        group = kind.group
        named = {"apiVersion": f"{group}/{kind.version}" if group else kind.version}
        return {**named, "kind": kind.kind, **made}

    async def delete(self, name: str, policy: Any = "Background", kind: Kind = CONFIG_MAPS) -> None:
        await self.client.delete(kind, name, self.home(kind), propagation=policy)

    async def patch(self, name: str, metadata: Object, kind: Kind = CONFIG_MAPS) -> None:
        patch = MergePatch({"metadata": metadata})
        await self.client.patch(kind, name, patch, self.home(kind))

    async def get(self, name: str, kind: Kind = CONFIG_MAPS) -> Object | None:
        try:
            return await self.client.get(kind, name, self.home(kind))
        except NotFound:
            return None

    async def has_gone(
        self, *names: str, kind: Kind = CONFIG_MAPS, limit_s: float = LIMIT_S
    ) -> None:
        async def are_gone() -> bool:
            return not any([await self.get(name, kind) for name in names])

        await waiting.until(are_gone, limit_s=limit_s, what=f"{', '.join(names)} gone")

    async def appears(self, name: str, kind: Kind = CONFIG_MAPS, uid: str = "") -> Object:
        """Once it is there and is not the one with that uid."""
        found: Object = {}

        async def is_there() -> bool:
            found.update(await self.get(name, kind) or {})
            return bool(found) and found["metadata"]["uid"] != uid

        await waiting.until(is_there, limit_s=LIMIT_S, what=f"{name} in {self.namespace}")
        return found

    async def is_marked(self, name: str, kind: Kind = CONFIG_MAPS) -> Object:
        """Once its deletion has begun."""
        found: Object = {}

        async def is_going() -> bool:
            found.update((await self.get(name, kind) or {}).get("metadata", {}))
            return bool(found.get("deletionTimestamp"))

        await waiting.until(is_going, limit_s=LIMIT_S, what=f"{name} marked")
        return found

    async def has_owners(self, name: str, *owners: str, kind: Kind = CONFIG_MAPS) -> None:
        async def has() -> bool:
            metadata = (await self.get(name, kind) or {})["metadata"]
            found = metadata.get("ownerReferences") or ()
            return [each["name"] for each in found] == list(owners)

        await waiting.until(has, limit_s=LIMIT_S, what=f"{name} belongs to {owners or 'nobody'}")

    async def looked_at(self, kind: Kind = CONFIG_MAPS, limit_s: float = LIMIT_S) -> None:
        """Once the collector has dealt with all that was there before: a dependant of an owner that
        never was, made now, is gone.
        """
        nobody = {"apiVersion": "v1", "kind": "ConfigMap", "name": "nobody", "uid": "none"}
        if not kind.namespaced:
            nobody |= {"apiVersion": "v1", "kind": "Namespace"}
        made = await self.client.create(
            kind,
            {"metadata": {"generateName": "stray-", "ownerReferences": [nobody]}},
            self.home(kind),
        )
        await self.has_gone(made["metadata"]["name"], kind=kind, limit_s=limit_s)
