"""What can be set of virt-controller, beside what the KubeVirt object says."""

import socket
import uuid
from typing import Final

import msgspec

from kubevirt.base.errors import ConfigError
from kubevirt.kube.leader import ElectionSettings
from kubevirt.virt.install.options import NAMESPACE

LEASE: Final = "virt-controller"
MACHINE_WORKERS: Final = 12
INSTANCE_WORKERS: Final = 24
"""Workers are tasks that mostly wait for the server, and no threads: more than upstream's 3 and 10 cost nothing, and a
server that takes its time does not hold up everybody."""
NODE_WORKERS: Final = 2
"""A node is written to when its virt-handler falls silent, and else not."""


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    launcher_image: str
    """Of the pods in which guests run."""
    namespace: str = NAMESPACE
    """Of the lease by which one of several leads."""
    machine_workers: int = MACHINE_WORKERS
    """Machines that are looked at at the same time."""
    instance_workers: int = INSTANCE_WORKERS
    """Instances that are looked at at the same time."""
    node_workers: int = NODE_WORKERS
    """Nodes that are looked at at the same time."""
    identity: str = msgspec.field(default_factory=lambda: f"{socket.gethostname()}_{uuid.uuid4()}")
    """Who stands for election: this process and no other."""
    election: ElectionSettings = ElectionSettings()

    def __post_init__(self) -> None:
        if not self.launcher_image:
            raise ConfigError("virt-controller needs --launcher-image: what guests run in")
        if min(self.machine_workers, self.instance_workers, self.node_workers) < 1:
            raise ConfigError("a controller needs at least one worker; give 1 or more")
