"""What a node is told about itself."""

from pathlib import Path

import msgspec


class NodeSettings(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    folder: Path
    """`nodes/<node>` of the home: its records, and the root that components know."""
    addresses: tuple[str, ...] = ("127.0.0.1",)
    """Of the node itself, the first one first."""
    endpoint_port: int = 0
    """Where logs and terminals are asked for; 0 for a node that has no endpoint."""
    cluster_domain: str = "cluster.local"
    most_pods: int = 110
    """A kubelet's number."""
    lease_s: int = 40
    """For how long others take it for alive after it has shown itself."""
    heartbeat_s: float = 10.0
    """Between two times that it shows itself."""
    status_s: float = 300.0
    """How old its status may become although nothing changes."""
    coalescing_s: float = 0.5
    """How long a change of a pod's status that nobody waits for may wait for the next one."""

    @property
    def pods(self) -> Path:
        """Our own records, one folder for each pod."""
        return self.folder / "pods"

    @property
    def root(self) -> Path:
        return self.folder / "root"

    def pod_folder(self, uid: str) -> Path:
        """Where components look for what belongs to a pod, under a kubelet's name."""
        return self.root / "var/lib/kubelet/pods" / uid
