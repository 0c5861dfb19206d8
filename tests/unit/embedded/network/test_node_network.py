"""Whom a pod asks for names where the machine's resolver is on its loopback; which settings a pod may have."""

from pathlib import Path
from typing import cast

import pytest

from kubevirt.api.core.pod import Pod, PodSecurityContext, PodSpec, Sysctl
from kubevirt.api.meta import ObjectMeta
from kubevirt.embedded.network import node as subject
from kubevirt.embedded.network.node import NodeNetwork
from kubevirt.embedded.network.settings import NetworkSettings
from kubevirt.embedded.network.switchboard import Switchboard


class Board:
    """A switchboard as far as nothing is connected to it."""

    def __init__(self, settings: NetworkSettings) -> None:
        self.settings = settings

    def node_path(self, node: str) -> Path | None:
        return None if node == "node01" else Path("/namespace")


def a_pod(policy: str) -> Pod:
    spec = PodSpec(containers=(), dns_policy=policy, host_network=True)
    return Pod(metadata=ObjectMeta(name="pod", namespace="default", uid="uid"), spec=spec)


def network(tmp_path: Path, node: str, *files: str) -> NodeNetwork:
    paths = []
    for number, text in enumerate(files):
        path = tmp_path / str(number)
        path.write_text(text)
        paths.append(path)
    settings = NetworkSettings(
        folder=tmp_path,
        api_port=6443,
        nodes=("node01", "node02"),
        resolver_files=(*paths, tmp_path / "none"),
    )
    return NodeNetwork(cast("Switchboard", Board(settings)), node, str)


STUB = "nameserver 127.0.0.53\noptions edns0\nsearch lab.example\n"


@pytest.mark.parametrize(
    ("node", "files", "server"),
    [
        ("node01", [STUB], "127.0.0.53"),
        ("node02", [STUB, "nameserver 192.0.2.53\n"], "192.0.2.53"),
        ("node02", [STUB], "10.96.0.10"),
        ("node02", [], "10.96.0.10"),
        ("node02", ["nameserver 127.0.0.1\nnameserver 192.0.2.54\n"], "192.0.2.54"),
    ],
)
async def test_a_resolver_on_the_loopback_is_the_machines_alone(
    tmp_path: Path, node: str, files: list[str], server: str
) -> None:
    found = await network(tmp_path, node, *files).set_up(a_pod("Default"))
    servers = [line for line in found.resolver.splitlines() if line.startswith("nameserver")]
    assert servers == [f"nameserver {server}"]


async def test_a_pod_of_the_hosts_network_has_the_nodes_namespace(tmp_path: Path) -> None:
    for node, path, address in (
        ("node01", "", "10.244.0.1"),
        ("node02", "/namespace", "10.244.0.2"),
    ):
        found = await network(tmp_path, node, STUB).set_up(a_pod("ClusterFirst"))
        assert (found.namespace, found.addresses) == (path, (address,))


def test_a_pod_has_settings_of_its_own_only_where_they_reach_nobody_else() -> None:
    asked = (
        Sysctl(name="net.ipv4.ip_unprivileged_port_start", value="1024"),
        Sysctl(name="net.ipv4.tcp_syncookies", value="0"),
        Sysctl(name="net.ipv4.ip_forward", value="1"),
        Sysctl(name="kernel.shm_rmid_forced", value="1"),
    )
    context = PodSecurityContext(sysctls=asked)
    pod = Pod(spec=PodSpec(containers=(), security_context=context))
    assert subject._switches(pod) == {
        "net/ipv4/ip_unprivileged_port_start": "1024",
        "net/ipv4/ping_group_range": "0 2147483647",
        "net/ipv4/tcp_syncookies": "0",
    }
