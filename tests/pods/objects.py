"""Objects as a user writes them, with no more than a test is about."""

from collections.abc import Mapping
from typing import Any

Object = dict[str, Any]

WAIT = "exec sleep 100000"
"""A program that does nothing and is deaf to SIGTERM, as the first process of a container is."""


def when_told(action: str) -> str:
    """A program that does nothing until it is told to end, and then this. Before it listens, it is deaf:
    wait for it with `Place.until_listening`.
    """
    return f"trap '{action}; exit 0' TERM; touch /tmp/listening; sleep 100000 & wait"


GATE = "until [ -e /tmp/open ]; do sleep 0.1; done"
"""Where a program waits for `Place.open_gate`: what takes as long as a test wants takes no guess."""

POLITE = when_told(":")
"""A program that does nothing and ends when it is told to."""


def a_container(name: str, script: str, **more: Any) -> Object:
    """One that runs a shell script in the test image."""
    return {"name": name, "command": ["/bin/sh", "-c", script], **more}


def a_pod(name: str, script: str = WAIT, **spec: Any) -> Object:
    """A pod of one container `main`; `container` changes it. Its label `app` is its name."""
    container = a_container("main", script) | spec.pop("container", {})
    metadata = {"name": name, "labels": {"app": name}} | spec.pop("metadata", {})
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"containers": [container], "terminationGracePeriodSeconds": 1, **spec},
    }


def a_web_server(name: str, *, port: int = 80, **spec: Any) -> Object:
    """A pod that answers HTTP with its name."""
    container = {
        "ports": [{"name": "web", "containerPort": port}],
        "readinessProbe": {"tcpSocket": {"port": port}, "periodSeconds": 1},
    }
    script = (
        f"mkdir -p /tmp/www; echo {name} >/tmp/www/index.html;"
        f" exec busybox httpd -f -p {port} -h /tmp/www"
    )
    return a_pod(name, script, container=container | spec.pop("container", {}), **spec)


def a_service(name: str, app: str | None = None, **spec: Any) -> Object:
    """For the pods of a label `app`, on port 80."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name},
        "spec": {"selector": {"app": app or name}, "ports": [{"port": 80}], **spec},
    }


def a_config_map(name: str, **data: str) -> Object:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def a_secret(name: str, **data: str) -> Object:
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "stringData": data}


def a_budget(name: str, app: str, **spec: Any) -> Object:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name},
        "spec": {"selector": {"matchLabels": {"app": app}}, **spec},
    }


def status_of(pod: Mapping[str, Any], container: str = "main") -> Object:
    """Of a container, an init container too; empty before there is any."""
    status = pod.get("status", {})
    for one in (*status.get("containerStatuses", ()), *status.get("initContainerStatuses", ())):
        if one["name"] == container:
            found: Object = one
            return found
    return {}


def state_of(pod: Mapping[str, Any], container: str = "main") -> Object:
    state: Object = status_of(pod, container).get("state", {})
    return state


def ended(pod: Mapping[str, Any], container: str = "main") -> Object:
    """How a container has ended; empty if it has not."""
    terminated: Object = state_of(pod, container).get("terminated", {})
    return terminated


def waits_for(pod: Mapping[str, Any], container: str = "main") -> str:
    """Why a container is not started."""
    return str(state_of(pod, container).get("waiting", {}).get("reason", ""))


def ended_before(pod: Mapping[str, Any], container: str = "main") -> Object:
    """How the run before this one has ended."""
    last: Object = status_of(pod, container).get("lastState", {}).get("terminated", {})
    return last


def restarts(pod: Mapping[str, Any], container: str = "main") -> int:
    return int(status_of(pod, container).get("restartCount", 0))


def condition(pod: Mapping[str, Any], kind: str) -> Object:
    for one in pod.get("status", {}).get("conditions", ()):
        if one["type"] == kind:
            found: Object = one
            return found
    return {}


def is_true(pod: Mapping[str, Any], kind: str) -> bool:
    return bool(condition(pod, kind).get("status") == "True")


def phase(pod: Mapping[str, Any]) -> str:
    return str(pod.get("status", {}).get("phase", ""))
