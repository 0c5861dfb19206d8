"""Which features are on: those of beta quality until somebody switches them off, others when somebody asks for them."""

from typing import Final

from kubevirt.api.configuration import DeveloperConfiguration, KubeVirtConfiguration

HOST_DISK: Final = "HostDisk"
IMAGE_VOLUME: Final = "ImageVolume"
ON_BY_DEFAULT: Final = frozenset({"NodeRestriction", IMAGE_VOLUME, "PasstBinding", "RebootPolicy"})
"""Of those that are asked for here."""


def is_on(configuration: KubeVirtConfiguration, name: str) -> bool:
    developer = configuration.developer_configuration or DeveloperConfiguration()
    if name in developer.disabled_feature_gates:
        return False
    return name in ON_BY_DEFAULT or name in developer.feature_gates
