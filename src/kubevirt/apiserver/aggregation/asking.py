"""Questions of our own to a callee: is it there, and what does it serve. Small answers, within limits."""

from collections.abc import Mapping
from typing import Final

import aiohttp
import msgspec
from yarl import URL

from kubevirt.apiserver.aggregation import description
from kubevirt.apiserver.aggregation.description import CURRENT, STALE, Description
from kubevirt.apiserver.aggregation.registration import Registration
from kubevirt.apiserver.auth.front_proxy import headers_for
from kubevirt.apiserver.callees import words
from kubevirt.apiserver.callees.callee import Callee, ClientFiles
from kubevirt.apiserver.callees.callees import Callees
from kubevirt.apiserver.callees.errors import CalleeAway
from kubevirt.apiserver.registry.identity import MASTERS, Identity
from kubevirt.base.clock import Clock

ANSWER_S: Final = 5.0
ANSWER_LIMIT: Final = 8 << 20
"""Bytes of one answer."""
AGGREGATED: Final = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
JSON: Final = "application/json"
_US: Final = Identity(user="system:kube-aggregator", groups=(MASTERS,))
"""Who may look at everything, so that a probe does not depend on anybody's rights."""
_READER: Final = Identity(user="system:aggregator")


class _Answer(msgspec.Struct, frozen=True):
    status: int
    media: str = ""
    etag: str = ""
    body: bytes = b""


_NONE: Final = _Answer(status=0)


class Questions:
    def __init__(self, callees: Callees, client: ClientFiles | None, clock: Clock) -> None:
        self._callees = callees
        self._client = client
        self._clock = clock

    async def problem(self, registration: Registration, address: str) -> str:
        """Why there is no good answer; empty if there is one. Whose certificate it is does not matter
        here: nothing is told that others may not know. `address` is for the words.
        """
        callee = msgspec.structs.replace(
            registration.callee(self._client), authority=b"", is_unverified=True
        )
        url = f"https://{address}{registration.path}"
        try:
            found = await self._get(callee, registration.path, _US)
        except (aiohttp.ClientError, OSError) as error:
            cause = f'Get "{url}": {words.of(error, callee)}'
        except CalleeAway as error:
            cause = str(error)
        else:
            if 200 <= found.status < 300:
                return ""
            cause = f"bad status from {url}: {found.status}"
        return f"failing or missing response from {url}: {cause}"

    async def describe(self, registration: Registration, known: Description) -> Description:
        """What it serves by now."""
        found = await self._discovered(registration, known)
        if found.freshness == STALE:
            return found
        callee = registration.callee(self._client)
        index = await self._try(callee, "/openapi/v3", _READER)
        older = await self._try(
            callee, "/openapi/v2", _READER, {"If-None-Match": known.open_api_v2_etag}
        )
        is_same = older.status == 304
        return msgspec.structs.replace(
            found,
            open_api_paths=description.open_api_paths(index.body, registration.path),
            open_api_v2=known.open_api_v2 if is_same else older.body,
            open_api_v2_etag=known.open_api_v2_etag if is_same else older.etag,
        )

    async def _discovered(self, registration: Registration, known: Description) -> Description:
        callee = registration.callee(self._client)
        asked = {"Accept": AGGREGATED, "If-None-Match": known.etag}
        found = await self._try(callee, "/apis", _US, asked)
        if found.status == 304:
            return msgspec.structs.replace(known, freshness=CURRENT)
        if found.status in (0, 503):
            return Description()
        if found.status == 200 and "APIGroupDiscoveryList" in found.media:
            group, version = registration.group, registration.version
            resources = description.of_aggregated(found.body, group, version)
            etag = found.etag
        else:
            found = await self._try(callee, registration.path, _US, {"Accept": JSON})
            resources = description.of_legacy(found.body)
            etag = ""  # of another document than the one that is asked for first
        if resources is None:
            return Description()
        return Description(resources=resources, freshness=CURRENT, etag=etag)

    async def _try(
        self,
        callee: Callee,
        path: str,
        identity: Identity,
        said: Mapping[str, str] | None = None,
    ) -> _Answer:
        """Status 0 if there is no answer; without a body unless all is well."""
        try:
            found = await self._get(callee, path, identity, said)
        except (aiohttp.ClientError, OSError, CalleeAway):
            return _NONE
        return found if found.status == 200 else _Answer(status=found.status)

    async def _get(
        self,
        callee: Callee,
        path: str,
        identity: Identity,
        said: Mapping[str, str] | None = None,
    ) -> _Answer:
        given = [(name, value) for name, value in (said or {}).items() if value]
        pairs = [*given, *headers_for(identity)]
        async with self._clock.timeout(ANSWER_S), self._callees.reached(callee) as way:
            url = URL(f"{way.origin}{path}", encoded=True)
            async with way.session.get(
                url, headers=pairs, allow_redirects=False, skip_auto_headers=("Accept-Encoding",)
            ) as answer:
                return _Answer(
                    status=answer.status,
                    media=answer.headers.get("Content-Type", ""),
                    etag=answer.headers.get("ETag", ""),
                    body=await _bounded(answer),
                )


async def _bounded(answer: aiohttp.ClientResponse) -> bytes:
    """Nothing of what is too large: half of it would be no document."""
    parts: list[bytes] = []
    size = 0
    async for part in answer.content.iter_any():
        size += len(part)
        if size > ANSWER_LIMIT:
            return b""
        parts.append(part)
    return b"".join(parts)
