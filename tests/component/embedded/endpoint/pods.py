"""Pods that a test has put onto a node by hand, as the node's own would find them."""

from collections.abc import Sequence
from typing import Any

import msgspec

from kubevirt.api.core.pod import Pod
from kubevirt.embedded.node.endpoint.finding import Located
from kubevirt.embedded.runtime.attempt import Attempt


def a_pod(name: str, *containers: str, namespace: str = "default", **status: Any) -> Pod:
    return msgspec.convert(
        {
            "metadata": {"name": name, "namespace": namespace, "uid": f"uid-{name}"},
            "spec": {"containers": [{"name": each, "image": "x"} for each in containers]},
            "status": status,
        },
        Pod,
    )


class Pods:
    """A finder."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], tuple[Pod, dict[str, list[Attempt]]]] = {}

    def add(self, pod: Pod, **attempts: list[Attempt]) -> None:
        self._known[pod.metadata.namespace or "", pod.metadata.name] = (pod, attempts)

    def find(self, namespace: str, pod: str, container: str, uid: str = "") -> Located | None:
        found = self._known.get((namespace, pod))
        if found is None or uid not in ("", found[0].metadata.uid):
            return None
        return Located(pod=found[0], attempts=found[1].get(container, ()))

    def pods(self) -> Sequence[Pod]:
        return [pod for pod, _ in self._known.values()]
