"""A node: the files of its own root, then containerd, kubelet and kube-proxy in it."""

import json
import os
import shutil
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clusterup import (
    binaries,
    controlplane,
    images,
    machines,
    network,
    pki,
    registry,
)

PROGRAMS = ("containerd", "containerd-shim-runc-v2", "ctr", "kubelet", "kube-proxy", "pause")
CNI_FOLDERS = (Path("/usr/lib/cni"), Path("/opt/cni/bin"))
"""Where distributions put the network plugins."""

# What a node's programs read of the host's /etc. Secrets of the host are not among it.
_FROM_HOST = (
    *("passwd", "group", "nsswitch.conf", "ld.so.cache", "ld.so.conf", "ld.so.conf.d"),
    *("alternatives", "protocols", "services", "ethertypes", "localtime", "ssl", "iproute2"),
    *(
        "login.defs",
        "os-release",
        "debian_version",
        "gai.conf",
        "host.conf",
        "bash.bashrc",
        "profile",
    ),
)

# kubelet wants these and would set them for the whole machine; see inits/node.sh.
_TUNABLES = {
    "vm.overcommit_memory": "1",
    "vm.panic_on_oom": "0",
    "kernel.panic": "10",
    "kernel.panic_on_oops": "1",
    "kernel.keys.root_maxkeys": "1000000",
    "kernel.keys.root_maxbytes": "25000000",
}


@dataclass(frozen=True, kw_only=True)
class Node:
    """One node of a cluster and all it has to know of the rest."""

    index: int
    machine: machines.Machine
    plan: network.Plan
    trust: pki.Pki
    programs: binaries.Binaries
    server: str
    """The API server's address, as a URL."""

    @property
    def name(self) -> str:
        return self.machine.name

    @property
    def address(self) -> str:
        return self.plan.node(self.index)

    def write_files(self) -> None:
        """Make what becomes /etc, /var and /tmp of the node."""
        folder = self.machine.folder
        for path in ("var/lib", "var/log", "var/tmp", "tmp", "tunables", "etc/kubernetes"):
            (folder / path).mkdir(parents=True, exist_ok=True)
        for path in ("var/tmp", "tmp"):
            (folder / path).chmod(0o1777)
        for name, value in _TUNABLES.items():
            (folder / "tunables" / name).write_text(f"{value}\n")
        _copy_from_host(folder / "etc")
        for path, content in self._settings().items():
            target = folder / "etc" / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(content)
        self._write_identity(folder / "etc/kubernetes")

    def start_runtime(self) -> machines.Running:
        """Start the container runtime, which kubelet will not wait for."""
        return self.machine.spawn("containerd", ["containerd"], self._path())

    async def has_runtime(self) -> bool:
        return self.machine.file("/run/containerd/containerd.sock").exists()

    def start(self) -> list[machines.Running]:
        """Start the rest; they find the API server by themselves."""
        proxy = ["kube-proxy", "--config=/etc/kubernetes/proxy.json"]
        return [
            self.machine.spawn("kubelet", self._kubelet(), self._path()),
            self.machine.spawn("kube-proxy", proxy, self._path()),
        ]

    def _path(self) -> list[Path]:
        return [self.programs.path("containerd").parent, self.programs.path("kubelet").parent]

    def _kubelet(self) -> list[str]:
        return [
            "kubelet",
            "--config=/etc/kubernetes/kubelet.json",
            "--kubeconfig=/etc/kubernetes/kubelet.kubeconfig",
            f"--node-ip={self.address}",
            f"--hostname-override={self.name}",
        ]

    def _write_identity(self, folder: Path) -> None:
        authority = self.trust.authority()
        authority.server(self.name, [self.name, self.address]).write(folder, "kubelet")
        shutil.copy(self.trust.ca_file, folder / "ca.crt")
        self.trust.kubeconfig(
            folder / "kubelet.kubeconfig",
            server=self.server,
            user=f"system:node:{self.name}",
            groups=["system:nodes"],
        )
        self.trust.kubeconfig(
            folder / "proxy.kubeconfig", server=self.server, user="system:kube-proxy"
        )

    def _settings(self) -> dict[str, str]:
        mirror = registry.address(self.plan)
        return {
            "hostname": f"{self.name}\n",
            "machine-id": f"{uuid.uuid4().hex}\n",
            "hosts": f"127.0.0.1 localhost\n{self.address} {self.name}\n",
            "resolv.conf": f"nameserver {self.plan.control_plane}\n",
            "containerd/config.toml": containerd_settings(_cni_folder()),
            # A registry of any name is this one, and there is no other to fall back to.
            "containerd/certs.d/_default/hosts.toml": (
                f'server = "http://{mirror}"\n\n'
                f'[host."http://{mirror}"]\n  capabilities = ["pull", "resolve"]\n'
            ),
            "cni/net.d/10-cluster.conflist": json.dumps(self._cni(), indent=2),
            "kubernetes/kubelet.json": json.dumps(self._kubelet_settings(), indent=2),
            "kubernetes/proxy.json": json.dumps(self._proxy_settings(), indent=2),
        }

    def _cni(self) -> dict[str, Any]:
        # A link per pod, routed by the node, and no bridge: an answer between two pods of one node
        # then passes the node's address translation without the kernel module br_netfilter.
        point_to_point = {
            "type": "ptp",
            "ipMasq": False,
            "ipam": {
                "type": "host-local",
                "dataDir": "/run/cni-ipam",
                "ranges": [[{"subnet": self.plan.node_pods(self.index)}]],
                "routes": [{"dst": "0.0.0.0/0"}],
            },
        }
        return {
            "cniVersion": "1.0.0",
            "name": "cluster",
            "plugins": [
                point_to_point,
                {"type": "portmap", "capabilities": {"portMappings": True}},
            ],
        }

    def _kubelet_settings(self) -> dict[str, Any]:
        return {
            "apiVersion": "kubelet.config.k8s.io/v1beta1",
            "kind": "KubeletConfiguration",
            "address": "0.0.0.0",  # noqa: S104  # within the node's own network namespace
            "authentication": {
                "anonymous": {"enabled": False},
                "webhook": {"enabled": True},
                "x509": {"clientCAFile": "/etc/kubernetes/ca.crt"},
            },
            "authorization": {"mode": "Webhook"},
            "tlsCertFile": "/etc/kubernetes/kubelet.crt",
            "tlsPrivateKeyFile": "/etc/kubernetes/kubelet.key",
            "cgroupDriver": "cgroupfs",
            "cgroupRoot": self.machine.tree.path_of(self.name),
            "clusterDNS": [controlplane.SERVICE_DNS],
            "clusterDomain": controlplane.DOMAIN,
            "containerRuntimeEndpoint": "unix:///run/containerd/containerd.sock",
            "failSwapOn": False,
            "featureGates": {"ImageVolume": True},
            "serializeImagePulls": False,
            # The disk is the developer's: that it is nearly full is no reason to evict tests.
            "evictionHard": {"nodefs.available": "0%", "imagefs.available": "0%"},
            "imageGCHighThresholdPercent": 100,
        }

    def _proxy_settings(self) -> dict[str, Any]:
        return {
            "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
            "kind": "KubeProxyConfiguration",
            "mode": "nftables",
            # Tests wait for it, and there are few rules to write.
            "nftables": {"minSyncPeriod": "200ms"},
            "clusterCIDR": self.plan.pods,
            "hostnameOverride": self.name,
            "clientConnection": {"kubeconfig": "/etc/kubernetes/proxy.kubeconfig"},
            # The size of the table is the machine's, and not to be set from a namespace.
            "conntrack": {"maxPerCore": 0, "min": 0},
        }


def containerd_settings(cni: Path) -> str:
    """The container runtime's settings, in its own file format."""
    cri = "plugins.'io.containerd.cri.v1"
    return f"""\
version = 3

[{cri}.images'.pinned_images]
sandbox = "{images.PAUSE}"

[{cri}.images'.registry]
config_path = "/etc/containerd/certs.d"

[{cri}.runtime']
# Without CAP_SYS_RESOURCE nothing may have a lower score than its parent, and asking for one
# makes every pod fail.
restrict_oom_score_adj = true
# Devices of pods belong to the pod's user, so that a launcher which is not root may open them.
device_ownership_from_security_context = true

[{cri}.runtime'.cni]
bin_dirs = ["{cni}"]
conf_dir = "/etc/cni/net.d"
use_internal_loopback = true

[plugins.'io.containerd.nri.v1.nri']
disable = true

[plugins.'io.containerd.transfer.v1.local']
config_path = "/etc/containerd/certs.d"
"""


def _cni_folder() -> Path:
    return next(folder for folder in CNI_FOLDERS if (folder / "ptp").exists())


def _copy_from_host(target: Path) -> None:
    for name in _FROM_HOST:
        source = Path("/etc") / name
        if source.is_dir() and not source.is_symlink():
            shutil.copytree(source, target / name, symlinks=True, dirs_exist_ok=True)
        elif os.path.lexists(source):
            shutil.copy2(source, target / name, follow_symlinks=False)


def all_ready(listing: dict[str, Any], names: Sequence[str]) -> bool:
    """Whether a NodeList says that each of these nodes is Ready."""
    ready = {
        item["metadata"]["name"]
        for item in listing["items"]
        for condition in item.get("status", {}).get("conditions", [])
        if condition["type"] == "Ready" and condition["status"] == "True"
    }
    return set(names) <= ready
