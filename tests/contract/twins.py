"""The same writes on a real server and on the pure functions; every answer must be the same.

Only what a server makes up is left aside: uids, versions, and the times of managed fields, of which
only presence counts.
"""

import asyncio
from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

import msgspec
from tests.contract.pure_server import PureServer, Refusal
from tests.contract.racks import GROUP, RACK_CRD

from kubevirt.apiserver.patch import json_patch
from kubevirt.apiserver.patch import merge as merge_patch
from kubevirt.kube.client import Client
from kubevirt.kube.errors import AlreadyExists, ApiError, NoSuchResource

Object = dict[str, Any]
APPLY = "application/apply-patch+yaml"
MERGE = "application/merge-patch+json"
JSON = "application/json-patch+json"


_CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


async def define_racks(client: Client) -> None:
    """Once for each server; the next time it is there already."""
    crd = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", **RACK_CRD}
    try:
        await client.raw("POST", _CRDS, crd)
    except AlreadyExists:
        return
    async with asyncio.timeout(120):
        for version in ("v1", "v2"):
            await _wait_until_served(client, f"/apis/{GROUP}/{version}/racks")


async def _wait_until_served(client: Client, path: str) -> None:
    while True:
        try:
            await client.raw("GET", path)
        except NoSuchResource:
            await asyncio.sleep(0.05)
        else:
            return


class Twins:
    """One rack on both."""

    def __init__(self, client: Client, namespace: str, name: str) -> None:
        self._client = client
        self._namespace = namespace
        self.name = name
        self._pure = PureServer(RACK_CRD)
        self._resource_version = ""

    async def create(self, by: str, spec: Any, **metadata: Any) -> None:
        rack = self._object("v1", spec=spec, metadata=metadata)
        await self._compare(
            self._real("POST", self._path("v1", name=""), rack, fieldManager=by),
            lambda: self._pure.write(rack, by=by, api_version=f"{GROUP}/v1"),
        )

    async def update(
        self,
        by: str,
        change: Callable[[Object], object],
        version: str = "v1",
        subresource: str = "",
    ) -> None:
        """Replaces the object by what `change` makes of it."""
        path = self._path(version, subresource)
        live = msgspec.json.decode(await self._client.raw("GET", path))
        assert self._pure.live is not None
        twin = {**deepcopy(self._pure.live), "apiVersion": f"{GROUP}/{version}"}
        change(live)
        change(twin)
        await self._compare(
            self._real("PUT", path, live, fieldManager=by),
            lambda: self._pure.write(
                twin, by=by, api_version=f"{GROUP}/{version}", subresource=subresource
            ),
        )

    async def apply(
        self,
        by: str,
        spec: Any = None,
        *,
        force: bool = False,
        version: str = "v1",
        subresource: str = "",
        status: Any = None,
        **metadata: Any,
    ) -> None:
        said = self._object(version, spec=spec, status=status, metadata=metadata)
        flags = {"force": "true"} if force else {}
        await self._compare(
            self._real(
                "PATCH", self._path(version, subresource), said, APPLY, fieldManager=by, **flags
            ),
            lambda: self._pure.apply(
                said,
                by=by,
                api_version=f"{GROUP}/{version}",
                force=force,
                subresource=subresource,
            ),
        )

    async def merge_patch(
        self, by: str, patch: Any, version: str = "v1", subresource: str = ""
    ) -> None:
        await self._compare(
            self._real("PATCH", self._path(version, subresource), patch, MERGE, fieldManager=by),
            lambda: self._pure.patch(
                lambda live: merge_patch.merge(live, patch),
                by=by,
                api_version=f"{GROUP}/{version}",
                subresource=subresource,
            ),
        )

    async def json_patch(self, by: str, *operations: Any, version: str = "v1") -> None:
        patch = list(operations)
        await self._compare(
            self._real("PATCH", self._path(version), patch, JSON, fieldManager=by),
            lambda: self._pure.patch(
                lambda live: json_patch.apply(live, json_patch.parse(patch)),
                by=by,
                api_version=f"{GROUP}/{version}",
                subresource="",
            ),
        )

    async def _compare(self, real: Any, pure: Callable[[], Object]) -> None:
        """Both answer, or both refuse in the same words; both change something, or neither."""
        expected = await self._outcome_of(real)
        found = self._outcome(pure)
        assert found == expected, f"\nfound    {found}\nexpected {expected}"

    def _outcome(self, pure: Callable[[], Object]) -> Object:
        try:
            made = pure()
        except Refusal as refusal:
            return refused(refusal.message, refusal.causes)
        return {"changed": self._pure.changed, **seen(made)}

    async def _outcome_of(self, real: Any) -> Object:
        try:
            made = await real
        except ApiError as error:
            causes = {(cause.reason, cause.field, cause.message) for cause in error.causes}
            return refused(error.status.message, causes)
        before, self._resource_version = self._resource_version, made["metadata"]["resourceVersion"]
        return {"changed": self._resource_version != before, **seen(made)}

    async def _real(
        self, method: str, path: str, body: Any, content_type: str = "", **params: str
    ) -> Object:
        answer = await self._client.raw(
            method, path, body, params=params, content_type=content_type or "application/json"
        )
        decoded: Object = msgspec.json.decode(answer)
        return decoded

    def _path(self, version: str, subresource: str = "", name: str | None = None) -> str:
        parts = [f"/apis/{GROUP}/{version}/namespaces/{self._namespace}/racks"]
        parts += [self.name] if name is None else []
        parts += [subresource] if subresource else []
        return "/".join(parts)

    def _object(self, version: str, **parts: Any) -> Object:
        metadata = {"name": self.name, "namespace": self._namespace, **parts.pop("metadata")}
        said = {name: value for name, value in parts.items() if value is not None}
        return {"apiVersion": f"{GROUP}/{version}", "kind": "Rack", "metadata": metadata, **said}


def refused(message: str, causes: set[tuple[str, str, str]]) -> Object:
    """Causes come in no order, and the message lists them."""
    listed = message.partition(" is invalid: ")
    return {"refused": listed[0] if listed[1] else message, "causes": causes}


_COMPARED = ("labels", "annotations", "finalizers", "ownerReferences")


def seen(object_: Mapping[str, Any]) -> Object:
    """What must be the same of an object."""
    metadata = object_["metadata"]
    return {
        **{name: object_[name] for name in ("spec", "status") if name in object_},
        **{name: metadata[name] for name in _COMPARED if name in metadata},
        "owners": sorted(map(_entry, metadata.get("managedFields") or []), key=_order),
    }


def _entry(entry: Mapping[str, Any]) -> Object:
    return {**entry, "time": "time" in entry}


def _order(entry: Object) -> tuple[str, ...]:
    return tuple(
        str(entry.get(name, "")) for name in ("operation", "manager", "apiVersion", "subresource")
    )
