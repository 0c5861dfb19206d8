"""The few calls to an API server that bringing up a cluster itself needs.

A session is opened per call: these calls are rare, and so nothing here belongs to an event loop.
"""

import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import aiohttp

from clusterup import certificates, errors

_LIMIT = aiohttp.ClientTimeout(total=60, connect=30)
"""Busy machines take seconds for a TLS handshake."""
_APPLY = "application/apply-patch+yaml"
_MERGE = "application/merge-patch+json"


class Api:
    """An API server, spoken to as one user."""

    def __init__(
        self, url: str, *, authority: Path, client: certificates.Pair, folder: Path
    ) -> None:
        self.url = url
        self._tls = ssl.create_default_context(cafile=str(authority))
        # The ssl module reads certificates from files only.
        self._tls.load_cert_chain(*client.write(folder, "api-client"))

    async def is_ready(self) -> bool:
        """Ready by its own words, and by a read that goes through to the store: `readyz` keeps
        saying yes for a while after etcd has gone.
        """
        return await self.exists("/readyz") and await self.exists("/api/v1/namespaces/kube-system")

    async def exists(self, path: str) -> bool:
        return await self._status(path) == 200

    async def get(self, path: str) -> dict[str, Any]:
        return await self._json("GET", path, None)

    async def post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        return await self._json("POST", path, body)

    async def apply(self, thing: Mapping[str, Any]) -> None:
        """Create an object or bring it to what is given (server-side apply)."""
        path = f"{object_path(thing)}?fieldManager=cluster-up&force=true"
        await self._json("PATCH", path, thing, content_type=_APPLY)

    async def merge(self, path: str, patch: Mapping[str, Any]) -> None:
        await self._json("PATCH", path, patch, content_type=_MERGE)

    async def _status(self, path: str) -> int | None:
        """The code of the answer, or nothing when there is none."""
        try:
            async with self._session() as session, session.get(path) as answer:
                return answer.status
        except (aiohttp.ClientError, TimeoutError):
            return None

    async def _json(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None,
        *,
        content_type: str = "application/json",
    ) -> dict[str, Any]:
        headers = {"Content-Type": content_type}
        try:
            async with (
                self._session() as session,
                session.request(method, path, json=body, headers=headers) as answer,
            ):
                content: dict[str, Any] = await answer.json()
        except (aiohttp.ClientError, TimeoutError) as error:
            raise errors.Broken(f"{self.url} does not answer {method} {path}: {error!r}") from error
        if not answer.ok:
            raise errors.Broken(f"{method} {path}: {content.get('message', answer.status)}")
        return content

    def _session(self) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(
            self.url,
            timeout=_LIMIT,
            # Not `force_close`: such a connection is closed behind the back of the session, whose own
            # close waits for none of it.
            connector=aiohttp.TCPConnector(ssl=self._tls),
            trust_env=False,
        )


def object_path(thing: Mapping[str, Any]) -> str:
    """Where an object lives. The plural is guessed by its rule, which holds for the kinds we have."""
    version, metadata = thing["apiVersion"], thing["metadata"]
    prefix = f"/apis/{version}" if "/" in version else f"/api/{version}"
    if namespace := metadata.get("namespace"):
        prefix += f"/namespaces/{namespace}"
    return f"{prefix}/{thing['kind'].lower()}s/{metadata['name']}"
