"""The few calls to an API server that bringing up a cluster itself needs.

A session is opened per call: these calls are rare, and so nothing here belongs to an event loop.
"""

import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import aiohttp

from clusterup import certificates, errors

_LIMIT = aiohttp.ClientTimeout(total=10, connect=2)


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

    async def _status(self, path: str) -> int | None:
        """The code of the answer, or nothing when there is none."""
        try:
            async with self._session() as session, session.get(path) as answer:
                return answer.status
        except (aiohttp.ClientError, TimeoutError):
            return None

    async def _json(self, method: str, path: str, body: Mapping[str, Any] | None) -> dict[str, Any]:
        try:
            async with (
                self._session() as session,
                session.request(method, path, json=body) as answer,
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
            connector=aiohttp.TCPConnector(ssl=self._tls, force_close=True),
            trust_env=False,
        )
