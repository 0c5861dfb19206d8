"""What can be set of virt-controller, beside what the KubeVirt object says."""

import socket
import uuid
from typing import Final

import msgspec

from kubevirt.base.errors import ConfigError
from kubevirt.kube.leader import ElectionSettings

LEASE: Final = "virt-controller"


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    launcher_image: str
    """Of the pods in which guests run."""
    namespace: str = "kubevirt"
    """Of the lease by which one of several leads."""
    machine_workers: int = 3
    """Machines that are looked at at the same time. Upstream's number."""
    instance_workers: int = 10
    """Instances that are looked at at the same time. Upstream's number."""
    identity: str = msgspec.field(default_factory=lambda: f"{socket.gethostname()}_{uuid.uuid4()}")
    """Who stands for election: this process and no other."""
    election: ElectionSettings = ElectionSettings()

    def __post_init__(self) -> None:
        if not self.launcher_image:
            raise ConfigError("virt-controller needs --launcher-image: what guests run in")
        if min(self.machine_workers, self.instance_workers) < 1:
            raise ConfigError("a controller needs at least one worker; give 1 or more")
