"""A small server that tells how a program is: /metrics for Prometheus, /healthz and /readyz for who keeps it alive.

    health = Health()
    health.add("informers", lambda: "" if informer.is_synced else "the cache is not complete yet")
    async with telling(metrics, health, clock, host="0.0.0.0", port=8443, tls=context) as port:
        ...

It tells nothing that would need a secret to be kept, so everybody may ask.
"""

import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from types import MappingProxyType
from typing import Any, Final

from aiohttp import web

from kubevirt.base.clock import Clock
from kubevirt.base.entrance import Entrance
from kubevirt.kube.metrics import CONTENT_TYPE, Metrics

SHUTDOWN_S: Final = 1.0

Check = Callable[[], str]
"""Quick, without waiting: what is wrong, or nothing."""


class Health:
    """What there is to complain of; each part of a program adds its own."""

    def __init__(self) -> None:
        self._checks: dict[str, Check] = {}

    def add(self, name: str, check: Check) -> None:
        self._checks[name] = check

    @property
    def trouble(self) -> str:
        """Line by line; empty when all is well."""
        found = ((name, check()) for name, check in self._checks.items())
        return "\n".join(f"{name}: {what}" for name, what in found if what)


Page = Callable[[], Any]
"""What there is to say at a path of a program's own; it is said in JSON."""


@asynccontextmanager
async def telling(
    metrics: Metrics,
    health: Health,
    clock: Clock,
    *,
    host: str,
    port: int,
    tls: ssl.SSLContext | None = None,
    pages: Mapping[str, Page] = MappingProxyType({}),
) -> AsyncIterator[int]:
    """The port, which the system chooses if it is 0. `pages` are more paths, such as /leader; they may be added later."""

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        if request.method not in ("GET", "HEAD"):
            return web.Response(status=405)
        return _answer(request.path, metrics, health, pages)

    server = web.Server(answer, access_log=None)
    runner = web.ServerRunner(server, shutdown_timeout=SHUTDOWN_S)
    entrance = Entrance(server, clock)
    await runner.setup()
    try:
        yield await entrance.open(host, port, tls=tls)
    finally:
        await entrance.close(runner.cleanup)


def _answer(
    path: str, metrics: Metrics, health: Health, pages: Mapping[str, Page]
) -> web.StreamResponse:
    if path == "/metrics":
        return web.Response(body=metrics.text(), headers={"Content-Type": CONTENT_TYPE})
    if path in ("/healthz", "/readyz"):
        trouble = health.trouble
        return web.Response(text=trouble or "ok", status=500 if trouble else 200)
    if page := pages.get(path):
        return web.json_response(page())
    return web.Response(status=404)
