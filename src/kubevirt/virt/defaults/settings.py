"""The cluster's configuration, as far as it decides what an unspoken wish means."""

import msgspec

from kubevirt.api.configuration import ArchSpecificConfiguration, KubeVirtConfiguration
from kubevirt.base.quantity import Quantity
from kubevirt.virt.architecture import AMD64, Architecture, architecture_of


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """One value for each question that a default asks."""

    configuration: KubeVirtConfiguration = KubeVirtConfiguration()

    @property
    def architecture(self) -> str:
        architectures = self.configuration.architecture_configuration
        return (architectures and architectures.default_architecture) or AMD64.name

    def machine_type(self, architecture: Architecture) -> str:
        specific = self._specific(architecture)
        old = self.configuration.machine_type if architecture is AMD64 else None
        return (specific and specific.machine_type) or old or architecture.machine_type

    def cpu_model(self, architecture: Architecture) -> str:
        # What a cluster's administrator wrote is meant for its x86 nodes, as upstream has it.
        own = architecture.cpu_model
        return own if architecture.name == "arm64" else (self.configuration.cpu_model or own)

    @property
    def cpu_request(self) -> str | int | None:
        return self.configuration.cpu_request

    @property
    def interface_binding(self) -> str:
        network = self.configuration.network
        return (network and network.default_network_interface) or "bridge"

    @property
    def bridge_on_pod_network(self) -> bool:
        network = self.configuration.network
        return not network or network.permit_bridge_interface_on_pod_network is not False

    @property
    def grows_live(self) -> bool:
        """Whether running guests can be given more CPUs and memory."""
        return self.configuration.vm_rollout_strategy in (None, "LiveUpdate")

    @property
    def hotplug_ratio(self) -> int:
        update = self.configuration.live_update_configuration
        return (update and update.max_hotplug_ratio) or 4

    @property
    def max_sockets(self) -> int | None:
        update = self.configuration.live_update_configuration
        return update.max_cpu_sockets if update else None

    @property
    def max_guest(self) -> Quantity | None:
        update = self.configuration.live_update_configuration
        return Quantity.from_json(update.max_guest) if update and update.max_guest else None

    def _specific(self, architecture: Architecture) -> ArchSpecificConfiguration | None:
        architectures = self.configuration.architecture_configuration
        found: ArchSpecificConfiguration | None = (
            getattr(architectures, architecture.name) if architectures else None
        )
        return found


def architecture_for(name: str | None, settings: Settings) -> Architecture:
    return architecture_of(name or settings.architecture)
