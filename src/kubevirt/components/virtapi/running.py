"""virt-api as a whole, in either home.

    async with running(Settings(...), client=..., clock=..., configuration=...) as port:
        ...                                     # it answers from the first line of the body on

On Kubernetes `main.py` gives it a TLS port; in the embedded home it has a private socket, which only the API
server of the same process can open. It cannot tell which.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from kubevirt.api.configuration import KubeVirtConfiguration
from kubevirt.base.clock import Clock
from kubevirt.components.virtapi import identity
from kubevirt.components.virtapi.front import Front
from kubevirt.components.virtapi.identity import FrontProxy
from kubevirt.components.virtapi.node_handlers import PORT, NodeHandlers, Tls
from kubevirt.components.virtapi.parts import Parts
from kubevirt.components.virtapi.serving import Doors, serving
from kubevirt.kube.client import Client
from kubevirt.kube.http.health import Health
from kubevirt.kube.metrics import Metrics
from kubevirt.virt.install.options import NAMESPACE


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    doors: Doors
    handler_tls: Tls
    """How to speak to virt-handlers: whom to believe, and what to show; asked for each connection."""
    handler_port: int = PORT
    namespace: str = NAMESPACE
    proxy: Callable[[], FrontProxy | None] = lambda: identity.DEFAULT
    """Who may say who asks, at the port."""
    built: frozenset[str] = frozenset()
    metrics: Metrics = field(default_factory=Metrics)
    health: Health = field(default_factory=Health)


@asynccontextmanager
async def running(
    settings: Settings,
    *,
    client: Client,
    clock: Clock,
    configuration: Callable[[], KubeVirtConfiguration],
) -> AsyncIterator[int]:
    """Gives the port; 0 if it has none."""
    handlers = NodeHandlers.connecting(
        client,
        settings.handler_tls,
        clock,
        namespace=settings.namespace,
        port=settings.handler_port,
    )
    async with handlers as found:
        parts = Parts(
            client=client,
            clock=clock,
            configuration=configuration,
            handlers=found,
            proxy=settings.proxy,
            namespace=settings.namespace,
            built=settings.built,
            metrics=settings.metrics,
            health=settings.health,
        )
        parts.metrics.add(parts.tunnels.families)
        async with serving(Front(parts), settings.doors, clock) as port:
            yield port
