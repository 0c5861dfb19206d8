"""What a pod's resolver is told, by its policy."""

from typing import Any

import pytest

from kubevirt.api.core.dns import PodDNSConfig, PodDNSConfigOption
from kubevirt.api.core.pod import Pod, PodSpec
from kubevirt.api.meta import ObjectMeta
from kubevirt.embedded.network.resolv_conf import Cluster, Machine, text

CLUSTER = Cluster(server="10.96.0.10", domain="cluster.local")
MACHINE = Machine(servers=("192.0.2.53",), domains=("lab.example",), options=("edns0",))


def told(policy: str | None = None, **spec: Any) -> str:
    pod = Pod(
        metadata=ObjectMeta(name="pod", namespace="shop"),
        spec=PodSpec(containers=(), dns_policy=policy, **spec),
    )
    return text(pod, CLUSTER, MACHINE)


OF_CLUSTER = (
    "search shop.svc.cluster.local svc.cluster.local cluster.local lab.example\n"
    "nameserver 10.96.0.10\n"
    "options ndots:5\n"
)
OF_MACHINE = "search lab.example\nnameserver 192.0.2.53\noptions edns0\n"


@pytest.mark.parametrize(
    ("policy", "host_network", "expected"),
    [
        (None, False, OF_CLUSTER),
        ("ClusterFirst", False, OF_CLUSTER),
        ("ClusterFirst", True, OF_MACHINE),
        ("ClusterFirstWithHostNet", True, OF_CLUSTER),
        ("ClusterFirstWithHostNet", False, OF_CLUSTER),
        ("Default", False, OF_MACHINE),
        ("Default", True, OF_MACHINE),
        ("None", False, ""),
    ],
)
def test_a_policy_says_whom_to_ask(policy: str | None, host_network: bool, expected: str) -> None:  # noqa: FBT001
    assert told(policy, host_network=host_network) == expected


def test_what_the_pod_adds_comes_after_and_its_options_win() -> None:
    config = PodDNSConfig(
        nameservers=("192.0.2.1", "10.96.0.10"),
        searches=("mine.example", "cluster.local"),
        options=(PodDNSConfigOption(name="ndots", value="2"), PodDNSConfigOption(name="edns0")),
    )
    assert told(dns_config=config) == (
        "search shop.svc.cluster.local svc.cluster.local cluster.local lab.example mine.example\n"
        "nameserver 10.96.0.10\n"
        "nameserver 192.0.2.1\n"
        "options ndots:2 edns0\n"
    )


def test_a_pod_may_say_all_of_it_itself() -> None:
    config = PodDNSConfig(nameservers=("192.0.2.1",), searches=("mine.example",))
    assert told("None", dns_config=config) == "search mine.example\nnameserver 192.0.2.1\n"


def test_there_are_no_more_servers_and_domains_than_libc_reads() -> None:
    config = PodDNSConfig(
        nameservers=tuple(f"192.0.2.{each}" for each in range(5)),
        searches=tuple(f"{'x' * 60}{each}.example" for each in range(50)),
    )
    lines = told(dns_config=config).splitlines()
    assert sum(line.startswith("nameserver") for line in lines) == 3
    search = next(line for line in lines if line.startswith("search"))
    assert len(search) <= 2048 + len("search ")
