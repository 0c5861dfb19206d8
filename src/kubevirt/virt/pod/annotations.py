"""Annotations of the pod: those of the instance, and what other programs want to know of it."""

from collections.abc import Mapping
from typing import Final

from kubevirt.virt.network.names import PRIMARY_LINK, bridge
from kubevirt.virt.pod import names
from kubevirt.virt.pod.launch import Launch

KUBECTL: Final = "kubectl.kubernetes.io/"
"""Notes of kubectl on the instance, such as what was applied last; of the pod they would be wrong."""
OBSERVED: Final = (
    "kubevirt.io/latest-observed-api-version",
    "kubevirt.io/storage-observed-api-version",
)
"""Notes of the controllers on the instance's own versions."""


def annotations(launch: Launch, overhead_bytes: int) -> Mapping[str, str]:
    return {
        **{
            key: value
            for key, value in launch.vmi.metadata.annotations.items()
            if not key.startswith(KUBECTL) and key not in OBSERVED
        },
        names.DOMAIN: launch.name,
        names.DEFAULT_CONTAINER: names.COMPUTE,
        names.MEMORY_OVERHEAD: str(overhead_bytes),
        **_for_a_proxy(launch),
    }


def _for_a_proxy(launch: Launch) -> Mapping[str, str]:
    """A mesh's proxy in the pod must take what comes from the guest for traffic from inside."""
    is_hidden = any(
        each.masquerade is not None and each.state != "absent" for each in launch.devices.interfaces
    )
    return {names.ISTIO_INTERFACES: bridge(PRIMARY_LINK)} if is_hidden else {}
