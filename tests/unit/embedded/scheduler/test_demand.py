"""What a pod asks for, counted as Kubernetes counts it."""

from typing import Any

from tests.unit.embedded.scheduler.objects import a_pod

from kubevirt.embedded.scheduler import demand


def container(name: str, cpu: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "resources": {"requests": {"cpu": cpu}}, **more}


def cpu(**spec: Any) -> str:
    return str(demand.of_pod(a_pod(**spec))["cpu"])


def test_containers_add_up() -> None:
    assert cpu(containers=[container("a", "300m"), container("b", "1")]) == "1300m"


def test_of_init_containers_only_the_largest_counts() -> None:
    inits = [container("x", "500m"), container("y", "2")]
    assert cpu(containers=[container("a", "1")], initContainers=inits) == "2"


def test_a_sidecar_counts_beside_what_comes_after_it() -> None:
    inits = [
        container("before", "1"),
        container("sidecar", "500m", restartPolicy="Always"),
        container("after", "2"),
    ]
    assert cpu(containers=[container("a", "1")], initContainers=inits) == "2500m"


def test_a_sidecar_counts_beside_the_containers() -> None:
    inits = [container("sidecar", "500m", restartPolicy="Always")]
    assert cpu(containers=[container("a", "1")], initContainers=inits) == "1500m"


def test_what_is_said_for_the_whole_pod_replaces_the_sum_and_overhead_is_added() -> None:
    asked = cpu(
        containers=[container("a", "1")],
        resources={"requests": {"cpu": "3"}},
        overhead={"cpu": "100m"},
    )
    assert asked == "3100m"


def test_ports_of_containers_and_sidecars_are_the_nodes_only_if_they_say_so() -> None:
    pod = a_pod(
        containers=[
            {"name": "a", "ports": [{"containerPort": 80}, {"containerPort": 81, "hostPort": 81}]}
        ],
        initContainers=[
            {
                "name": "s",
                "restartPolicy": "Always",
                "ports": [
                    {"containerPort": 53, "hostPort": 53, "protocol": "UDP", "hostIP": "10.0.0.1"}
                ],
            },
            {"name": "i", "ports": [{"containerPort": 1, "hostPort": 1}]},
        ],
    )
    assert demand.host_ports(pod) == {("0.0.0.0", "TCP", 81), ("10.0.0.1", "UDP", 53)}
