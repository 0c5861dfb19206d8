"""What may differ from one installation to the next."""

from typing import Final

import msgspec

from kubevirt.api.configuration import DeveloperConfiguration, KubeVirtConfiguration
from kubevirt.virt import gates

NAMESPACE: Final = "kubevirt"
NAME: Final = "kubevirt"
"""Of the KubeVirt object."""
LABELS: Final = {"kubevirt.io": ""}
"""On everything that is ours."""


def configuration(*, is_emulated: bool, has_image_volumes: bool = False) -> KubeVirtConfiguration:
    """As it is when nobody has an opinion. What has no value here has the default of its reader.

    Image volumes are switched off where nodes have none, and not switched on where they have: whoever names the gates
    that they want would switch them off by forgetting them.

    Whether guests are emulated is said either way: an apply that takes the last field out of a map leaves null in its
    place, which no schema takes.
    """
    disabled = () if has_image_volumes else (gates.IMAGE_VOLUME,)
    developer = DeveloperConfiguration(use_emulation=is_emulated, disabled_feature_gates=disabled)
    return KubeVirtConfiguration(developer_configuration=developer)


class Options(msgspec.Struct, frozen=True, kw_only=True):
    authority: bytes
    """Who signs virt-api's certificate, PEM: the API server believes nobody else to be virt-api."""
    namespace: str = NAMESPACE
    configuration: KubeVirtConfiguration = configuration(is_emulated=False)
    """Of the KubeVirt object when it is made. What a user changes in it afterwards stays."""
    aggregates: bool = True
    """Whether the roles add to Kubernetes' own admin, edit and view."""
