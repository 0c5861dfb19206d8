"""Settings of a virt-handler: one value, given by whoever starts it."""

from pathlib import Path
from typing import Final

import msgspec

LAUNCHER: Final = 107
PORT: Final = 8186
CLIENT: Final = "kubevirt.io:system:client:virt-handler"


class HandlerSettings(msgspec.Struct, frozen=True, kw_only=True):
    node: str
    """The name of the node whose guests are looked after."""
    kubelet: Path = Path("/var/lib/kubelet")
    """Where the kubelet keeps the folders of pods."""
    device_plugins: Path = Path("/var/lib/kubelet/device-plugins")
    """Where the kubelet's socket for device plugins is, and theirs beside it."""
    records: Path = Path("/var/run/kubevirt-private/launchers")
    """A folder of our own, for what must outlive us as long as the node runs."""
    devices: Path = Path("/dev")
    launcher_user: int = LAUNCHER
    """As whom launchers run. A socket of anybody else is nobody's."""
    places: int = 1000
    """How many guests may have a device at once; KubeVirt's number."""
    workers: int = 10
    """Guests that are looked after at the same time; KubeVirt's number."""
    address: str = "0.0.0.0"  # noqa: S104  # virt-api calls from anywhere in the cluster
    port: int = PORT
    """For virt-api; 0 is any that is free."""
    clients: frozenset[str] = frozenset({CLIENT})
    """Common names of certificates that may call. Another handler's is not among them: who owns one node
    shall not own the guests of all."""

    @property
    def nodes(self) -> Path:
        """What is known of devices, and nodes of our own for them."""
        return self.records / "devices"
