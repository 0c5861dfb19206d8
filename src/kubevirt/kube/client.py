"""The client: every verb of a Kubernetes API, for any resource.

    async with Client(config) as client:
        pod = await client.get(PODS, "web-1", "default")
        await client.patch(PODS, "web-1", MergePatch({"metadata": {"labels": {"a": "b"}}}), "default")

The resource decides the type: `PODS.raw` gives plain data, `PODS.metadata_only` asks the server for
no more than metadata. Objects are changed by patches; `replace` exists for raw data only, because a
typed object has lost the fields that its type does not know.

A client holds no state but its connections. It never waits longer than its `Limits` say, makes a
call again only where the server asked for it, and raises errors of the house only (`base.errors`,
`kube.errors`). The verbs are in `http/reading.py`, `writing.py` and `pods.py`; how a request travels is
in `http/transport.py`.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from copy import copy
from types import TracebackType
from typing import Any, Self

import aiohttp

import kubevirt
from kubevirt.base.clock import Clock, SystemClock
from kubevirt.kube.access.config import Config
from kubevirt.kube.http.calls import Parameter, parameters
from kubevirt.kube.http.encoding import body_of
from kubevirt.kube.http.pods import PodCalls
from kubevirt.kube.http.reading import Reading
from kubevirt.kube.http.request import JSON, Limits, Request
from kubevirt.kube.http.traffic import Traffic
from kubevirt.kube.http.transport import Transport
from kubevirt.kube.http.warnings import OnWarning
from kubevirt.kube.http.writing import Writing


class Client(Reading, Writing, PodCalls):
    def __init__(
        self,
        config: Config,
        *,
        clock: Clock | None = None,
        user_agent: str = f"kubevirt-py/{kubevirt.__version__}",
        on_warning: OnWarning | None = None,
        limits: Limits | None = None,
    ) -> None:
        clock, limits = clock or SystemClock(), limits or Limits()
        super().__init__(
            Transport(config, clock=clock, user_agent=user_agent, limits=limits), on_warning
        )

    async def __aenter__(self) -> Self:
        await self._transport.open()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._transport.close()

    @property
    def config(self) -> Config:
        return self._transport.config

    @property
    def traffic(self) -> Traffic:
        """What was asked so far, for `metrics.py`."""
        return self._transport.traffic

    def heard_by(self, on_warning: OnWarning | None) -> Self:
        """The same client with another listener for what servers say beside their answers."""
        twin = copy(self)
        twin._on_warning = on_warning  # noqa: SLF001  # its own class
        return twin

    async def raw(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        params: Mapping[str, Parameter] | None = None,
        content_type: str = JSON,
        accept: str = JSON,
    ) -> bytes:
        """Any call: `/version`, `/openapi/v3`, a subresource that no verb knows."""
        request = Request(
            method=method,
            path=path,
            params=parameters(params or {}),
            body=None if body is None else body_of(body),
            content_type=content_type,
            accept=accept,
        )
        return await self._call(request)

    @asynccontextmanager
    async def websocket(
        self,
        path: str,
        protocols: Sequence[str],
        *,
        params: Mapping[str, Parameter] | None = None,
    ) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
        """Any connection that both sides write to: a console, a forwarded port."""
        request = Request(method="GET", path=path, params=parameters(params or {}), accept="*/*")
        async with self._transport.websocket(request, tuple(protocols)) as connection:
            yield connection
