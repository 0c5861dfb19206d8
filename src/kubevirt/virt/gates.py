"""Which features are on: those of beta quality until somebody switches them off, others when somebody asks for them."""

from typing import Final

from kubevirt.api.configuration import DeveloperConfiguration, KubeVirtConfiguration

HOST_DISK: Final = "HostDisk"
IMAGE_VOLUME: Final = "ImageVolume"
NODE_RESTRICTION: Final = "NodeRestriction"
PORT_RANGES: Final = "PortRangesSpec"
ASKED_FOR: Final = frozenset({HOST_DISK, IMAGE_VOLUME, NODE_RESTRICTION, PORT_RANGES})
"""Those that something is behind. Of others it may be asked whether they are closed, in order to refuse in upstream's
words; open, they lead to another refusal.
"""
ON_BY_DEFAULT: Final = frozenset({NODE_RESTRICTION, IMAGE_VOLUME})
"""Of these."""


def is_on(configuration: KubeVirtConfiguration, name: str) -> bool:
    developer = configuration.developer_configuration or DeveloperConfiguration()
    if name in developer.disabled_feature_gates:
        return False
    return name in ON_BY_DEFAULT or name in developer.feature_gates
