"""The few calls to an API server that bringing up a cluster itself needs, by the house's own client.

One is opened per call: these calls are rare, and so nothing here belongs to an event loop.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from clusterup import errors
from kubevirt.api import scheme
from kubevirt.base.errors import KubevirtError
from kubevirt.kube.access import kubeconfig
from kubevirt.kube.client import Client
from kubevirt.kube.http.request import JSON, Limits
from kubevirt.kube.patches import Apply, MergePatch

_LIMITS = Limits(call_s=60, connect_s=30)
"""Busy machines take seconds for a TLS handshake."""
_MANAGER = "cluster-up"
_APPLIED = {
    (each.api_version, each.kind): each.raw
    for each in (
        scheme.CLUSTER_ROLES,
        scheme.CLUSTER_ROLE_BINDINGS,
        scheme.SERVICES,
        scheme.ENDPOINT_SLICES,
    )
}


class Api:
    """An API server, spoken to as the one whose kubeconfig it is."""

    def __init__(self, config: Path) -> None:
        self._config = config

    async def is_ready(self) -> bool:
        """Ready by its own words, and by a read that goes through to the store: `readyz` keeps
        saying yes for a while after etcd has gone.
        """
        return await self.exists("/readyz") and await self.exists("/api/v1/namespaces/kube-system")

    async def exists(self, path: str) -> bool:
        try:
            async with self._client() as client:
                await client.raw("GET", path)
        except KubevirtError:
            return False
        return True

    async def get(self, path: str) -> dict[str, Any]:
        return await self._json("GET", path, None)

    async def post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        return await self._json("POST", path, body)

    async def merge(self, path: str, patch: Mapping[str, Any]) -> None:
        await self._json("PATCH", path, patch, MergePatch.content_type)

    async def apply(self, thing: Mapping[str, Any]) -> None:
        """Create an object or bring it to what is given (server-side apply)."""
        resource = _APPLIED[thing["apiVersion"], thing["kind"]]
        name, namespace = thing["metadata"]["name"], thing["metadata"].get("namespace")
        try:
            async with self._client() as client:
                await client.patch(
                    resource, name, Apply(thing), namespace, field_manager=_MANAGER, force=True
                )
        except KubevirtError as error:
            raise errors.Broken(f"{thing['kind']} {name} cannot be applied: {error}") from error

    async def _json(
        self, method: str, path: str, body: Mapping[str, Any] | None, content_type: str = JSON
    ) -> dict[str, Any]:
        try:
            async with self._client() as client:
                answer = await client.raw(method, path, body, content_type=content_type)
        except KubevirtError as error:
            raise errors.Broken(f"{method} {path}: {error}") from error
        content: dict[str, Any] = msgspec.json.decode(answer)
        return content

    def _client(self) -> Client:
        # Without an environment: whoever has a proxy there has it for elsewhere.
        return Client(kubeconfig.load([self._config], {}), limits=_LIMITS)
