"""What the cluster allows, as a value: the same object under the same rules is always judged alike."""

from typing import Final

import msgspec

from kubevirt.api.configuration import ArchSpecificConfiguration, KubeVirtConfiguration
from kubevirt.virt import gates
from kubevirt.virt.architecture import Architecture
from kubevirt.virt.defaults.settings import Settings

MACHINES: Final = {
    "amd64": ("q35*", "pc-q35*"),
    "arm64": ("virt*",),
    "s390x": ("s390-ccw-virtio*",),
}


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    configuration: KubeVirtConfiguration = KubeVirtConfiguration()
    built: frozenset[str] = frozenset()
    """Features of `missing.py` that are there after all, by their names."""

    @property
    def settings(self) -> Settings:
        return Settings(configuration=self.configuration)

    def gate(self, name: str) -> bool:
        return gates.is_on(self.configuration, name)

    def machines(self, architecture: Architecture) -> tuple[str, ...]:
        """Patterns of machine types that guests may have."""
        architectures = self.configuration.architecture_configuration
        specific: ArchSpecificConfiguration | None = (
            getattr(architectures, architecture.name) if architectures else None
        )
        if specific and specific.emulated_machines:
            return specific.emulated_machines
        if architecture.name == "amd64" and self.configuration.emulated_machines:
            return self.configuration.emulated_machines
        return MACHINES[architecture.name]
