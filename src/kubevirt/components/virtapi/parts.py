"""What virt-api works with, given by whoever starts it."""

from collections.abc import Callable
from dataclasses import dataclass, field

from kubevirt.api.configuration import KubeVirtConfiguration
from kubevirt.base.clock import Clock
from kubevirt.components.virtapi.identity import FrontProxy
from kubevirt.components.virtapi.node_handlers import NodeHandlers
from kubevirt.components.virtapi.tunnels import Tunnels
from kubevirt.kube.client import Client
from kubevirt.kube.http.health import Health
from kubevirt.kube.metrics import Metrics
from kubevirt.virt.install.options import NAMESPACE
from kubevirt.virt.validate.rules import Rules


@dataclass(frozen=True, kw_only=True, slots=True)
class Parts:
    client: Client
    clock: Clock
    configuration: Callable[[], KubeVirtConfiguration]
    """Asked for each request."""
    handlers: NodeHandlers
    proxy: Callable[[], FrontProxy | None]
    """The front proxy of the moment; None while it is not known."""
    namespace: str = NAMESPACE
    """Where the components are installed."""
    built: frozenset[str] = frozenset()
    """Features of `virt.validate.missing` that are there after all."""
    metrics: Metrics = field(default_factory=Metrics)
    health: Health = field(default_factory=Health)
    tunnels: Tunnels = field(default_factory=Tunnels)

    @property
    def rules(self) -> Rules:
        return Rules(configuration=self.configuration(), built=self.built)
