"""What a pod is taken to say, and the service that it is promised."""

from typing import Any

import pytest

from kubevirt.apiserver.registry.rules.pods.defaults import aggregate, defaulted, pull_policy
from kubevirt.apiserver.registry.rules.pods.qos import qos_class

Object = dict[str, Any]
BOTH = {"cpu": "1", "memory": "1Gi"}


@pytest.mark.parametrize(
    ("image", "policy"),
    [
        ("tool", "Always"),
        ("tool:latest", "Always"),
        ("tool:1", "IfNotPresent"),
        ("registry.example:5000/tool", "Always"),
        ("registry.example:5000/tool:1", "IfNotPresent"),
        ("tool@sha256:0", "IfNotPresent"),
        ("tool:latest@sha256:0", "Always"),
        ("", "Always"),
    ],
)
def test_the_latest_image_is_pulled_always(image: str, policy: str) -> None:
    assert pull_policy(image) == policy


def asks(limits: Object | None = None, requests: Object | None = None, **more: Any) -> Object:
    return {"name": "a", "resources": {"limits": limits or {}, "requests": requests or {}}, **more}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"containers": [asks()]}, "BestEffort"),
        ({"containers": [asks(BOTH, BOTH)]}, "Guaranteed"),
        ({"containers": [asks(BOTH, {**BOTH, "cpu": "500m"})]}, "Burstable"),
        ({"containers": [asks(requests={"cpu": "1"})]}, "Burstable"),
        ({"containers": [asks(BOTH, BOTH), asks()]}, "Burstable"),
        ({"containers": [asks(BOTH, BOTH)], "initContainers": [asks()]}, "Burstable"),
        ({"containers": [asks(BOTH, BOTH)], "initContainers": [asks(BOTH, BOTH)]}, "Guaranteed"),
        ({"containers": [asks({"cpu": "0"}, {"cpu": "0"})]}, "BestEffort"),
        ({"containers": [asks({"a.example/b": "1"}, {"a.example/b": "1"})]}, "BestEffort"),
        ({"containers": [asks()], "resources": {"limits": BOTH, "requests": BOTH}}, "Guaranteed"),
        ({"containers": [asks(BOTH, BOTH)], "resources": {}}, "BestEffort"),
    ],
)
def test_the_quality_of_service_is_what_is_asked_for(spec: Object, expected: str) -> None:
    assert qos_class(spec) == expected


def test_what_containers_ask_for_is_counted_at_its_most() -> None:
    spec = {
        "containers": [asks(requests={"cpu": "1"}), asks(requests={"cpu": "500m"})],
        "initContainers": [
            asks(requests={"cpu": "100m"}, restartPolicy="Always"),
            asks(requests={"cpu": "3"}),
        ],
    }
    # The second init container runs beside the sidecar, before the others.
    assert str(aggregate(spec, "requests")["cpu"]) == "3100m"


def test_filling_in_twice_changes_nothing_more() -> None:
    pod = {
        "metadata": {"name": "one"},
        "spec": {
            "containers": [
                {
                    "name": "a",
                    "image": "x",
                    "resources": {"limits": BOTH},
                    "livenessProbe": {"httpGet": {"port": 80}},
                    "ports": [{"containerPort": 80}],
                }
            ],
            "volumes": [{"name": "v"}, {"name": "s", "secret": {"secretName": "s"}}],
            "hostNetwork": True,
        },
    }
    once = defaulted(pod)
    assert defaulted(once) == once
