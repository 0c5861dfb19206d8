"""Whether a node takes a pod."""

from typing import Any

import msgspec
import pytest
from tests.unit.embedded.node.objects import a_pod, container

from kubevirt.api.core.node import Node
from kubevirt.api.core.pod import Pod
from kubevirt.embedded.node import admission, unsupported
from kubevirt.embedded.node.admission import Place, judge

NODE = msgspec.convert(
    {
        "metadata": {"name": "node01", "labels": {"disk": "fast"}},
        "status": {"allocatable": {"cpu": "2", "memory": "1Gi", "pods": "3", "x.io/gpu": "1"}},
    },
    Node,
)


def asking(requests: dict[str, str], **more: Any) -> Pod:
    return a_pod(container("main", resources={"requests": requests}), **more)


def port(number: int, **more: Any) -> Pod:
    return a_pod(
        container("main", ports=[{"containerPort": number, "hostPort": number}]),
        hostNetwork=True,
        **more,
    )


def test_a_pod_that_fits_may_come_in() -> None:
    pod = asking({"cpu": "1500m", "memory": "1Gi", "x.io/gpu": "1"}, nodeSelector={"disk": "fast"})

    assert judge(pod, Place(node=NODE)) is None


@pytest.mark.parametrize(
    ("pod", "reason", "words"),
    [
        (
            asking({"cpu": "1500m"}),
            "OutOfcpu",
            "Node didn't have enough resource: cpu, requested: 1500, used: 1000, capacity: 2000",
        ),
        (
            asking({"memory": "2Gi"}),
            "OutOfmemory",
            (
                "Node didn't have enough resource: memory, requested: 2147483648, used: 0,"
                " capacity: 1073741824"
            ),
        ),
        (
            asking({"x.io/tpu": "1"}),
            "OutOfx.io/tpu",
            "Node didn't have enough resource: x.io/tpu, requested: 1, used: 0, capacity: 0",
        ),
        (
            a_pod(nodeSelector={"disk": "slow"}),
            "NodeAffinity",
            "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
        ),
        (
            port(80),
            "NodePorts",
            "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports",
        ),
        (
            port(22),
            "NodePorts",
            (
                "Predicate NodePorts failed: port 22/TCP of the node is in use by a program outside of"
                " the cluster"
            ),
        ),
    ],
    ids=["cpu", "memory", "device", "elsewhere", "port of a pod", "port of the machine"],
)
def test_a_pod_that_does_not_fit_is_refused_in_a_kubelets_words(
    pod: Pod, reason: str, words: str
) -> None:
    place = Place(
        node=NODE,
        pods=[asking({"cpu": "1"}), port(80)],
        ports_in_use=frozenset({("TCP", 22)}),
    )

    found = judge(pod, place)

    assert found is not None
    assert (found.reason, found.message, found.is_refusal) == (reason, words, True)


def test_a_node_takes_no_more_pods_than_it_can() -> None:
    found = judge(a_pod(), Place(node=NODE, pods=[a_pod()] * 3))

    assert found is not None
    assert found.reason == "OutOfpods"
    assert found.message == (
        "Node didn't have enough resource: pods, requested: 1, used: 3, capacity: 3"
    )


@pytest.mark.parametrize(
    "more",
    [
        {"hostPID": True},
        {"hostIPC": True},
        {"shareProcessNamespace": True},
        {"hostUsers": False},
        {"resourceClaims": [{"name": "gpu"}]},
    ],
    ids=lambda more: next(iter(more)),
)
def test_what_the_home_does_not_do_is_named(more: dict[str, Any]) -> None:
    found = judge(a_pod(**more), Place(node=NODE))

    assert found is not None
    assert found.reason == "PodFeatureUnsupported"
    assert next(iter(more)) in found.message


def test_a_container_with_all_rights_is_named() -> None:
    for context in ({"privileged": True}, {"procMount": "Unmasked"}):
        pod = a_pod(inits=(container("first", securityContext=context),))
        (said,) = unsupported.of(pod)
        assert "container first asks" in said


def test_a_port_of_the_machine_is_to_be_had_in_its_network_only() -> None:
    ports = [{"containerPort": 80, "hostPort": 8080}]

    found = judge(a_pod(container("main", ports=ports)), Place(node=NODE))

    assert found is not None
    assert "asks for port 8080 of the machine (hostPort)" in found.message
    assert judge(a_pod(container("main", ports=ports), hostNetwork=True), Place(node=NODE)) is None


def test_switches_of_the_kernel_are_for_the_pods_own_namespaces_only() -> None:
    safe = {"sysctls": [{"name": "net.ipv4.ip_unprivileged_port_start", "value": "0"}]}
    other = {"sysctls": [{"name": "kernel.msgmax", "value": "1"}]}

    assert judge(a_pod(securityContext=safe), Place(node=NODE)) is None
    for pod in (a_pod(securityContext=other), a_pod(securityContext=safe, hostNetwork=True)):
        found = judge(pod, Place(node=NODE))
        assert found is not None
        assert found.reason == "SysctlForbidden"


def test_ports_are_read_as_the_kernel_writes_them() -> None:
    head = "  sl  local_address rem_address   st tx_queue\n"
    tcp = head + (
        "   0: 0100007F:0016 00000000:0000 0A 00000000:00000000\n"
        "   1: 0100007F:1F90 0100007F:9C40 01 00000000:00000000\n"
    )
    udp = head + "   5: 00000000:0044 00000000:0000 07 00000000:00000000\nnonsense\n"

    assert admission.listening([("tcp", tcp), ("udp", udp), ("tcp6", "")]) == {
        ("TCP", 22),
        ("UDP", 68),
    }
