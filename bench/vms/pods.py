"""The launcher's pod of an instance, from outside: its processes, their memory, what it has left on the disk."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.launcher.processes import DNSMASQ, MANAGER, Process, by_role, pss_bytes
from bench.vms.living import NAMESPACE
from kubevirt.api import scheme
from kubevirt.kube.client import Client
from kubevirt.testing.home import TrialHome

NODE: Final = "nodes/node01"
TICKS_PER_S: Final = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class LauncherPod:
    uid: str
    name: str
    home: Path
    address: str

    @property
    def attempt(self) -> Path:
        return self.home / NODE / "pods" / self.uid / "containers/compute/0"

    def volume(self, name: str) -> Path:
        volumes = self.home / NODE / "root/var/lib/kubelet/pods" / self.uid / "volumes"
        return volumes / "kubernetes.io~empty-dir" / name

    def processes(self) -> dict[str, Process]:
        """By role; the guest's DHCP server among them, which runs in its network."""
        found = by_role(_in_group(f"pod{self.uid}"))
        network = _network(found[MANAGER].pid) if MANAGER in found else ""
        beside = by_role(pid for pid in _all_pids() if network and _network(pid) == network)
        return found | {role: each for role, each in beside.items() if role == DNSMASQ}

    def memory(self) -> dict[str, int]:
        """PSS in bytes, by role."""
        return {role: pss_bytes(each.pid) for role, each in self.processes().items()}

    def cpu_s(self) -> dict[str, float]:
        """Of each process and of those that it has outlived, by role."""
        return {role: cpu_s(each.pid) for role, each in self.processes().items()}


async def pods(client: Client, home: TrialHome) -> dict[str, LauncherPod]:
    """Of all instances, by their names."""
    listed = await client.list(scheme.PODS.raw, NAMESPACE)
    return {
        each["metadata"]["labels"]["vmi.kubevirt.io/id"]: LauncherPod(
            uid=each["metadata"]["uid"],
            name=each["metadata"]["name"],
            home=home.path,
            address=each.get("status", {}).get("podIP", ""),
        )
        for each in listed.items
    }


def cpu_s(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / TICKS_PER_S


def _all_pids() -> Iterator[int]:
    return (int(each.name) for each in Path("/proc").iterdir() if each.name.isdigit())


def _in_group(name: str) -> Iterator[int]:
    return (pid for pid in _all_pids() if name in _read(pid, "cgroup"))


def _network(pid: int) -> str:
    try:
        return str(Path(f"/proc/{pid}/ns/net").readlink())
    except OSError:
        return ""


def _read(pid: int, name: str) -> str:
    try:
        return Path(f"/proc/{pid}/{name}").read_text()
    except OSError:
        return ""
