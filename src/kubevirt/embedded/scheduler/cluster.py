"""The cluster as decisions need it: nodes, and what runs on them already."""

from collections.abc import Mapping, Sequence

import msgspec

from kubevirt.api.core.node import Node
from kubevirt.api.core.pod import Pod
from kubevirt.embedded.scheduler import demand
from kubevirt.embedded.scheduler.storage import Storage

ENDED = ("Succeeded", "Failed")


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """A node with the pods that are bound to it and have not ended."""

    node: Node
    pods: Sequence[Pod] = ()
    counted: demand.Amounts | None = None
    """What they take together, where somebody keeps count of it."""

    @property
    def name(self) -> str:
        return self.node.metadata.name or ""

    @property
    def taken(self) -> demand.Amounts:
        if self.counted is not None:
            return self.counted
        return demand.added(demand.of_pod(pod) for pod in self.pods)

    @property
    def offered(self) -> demand.Amounts:
        return demand.amounts(self.node.status.allocatable)


class Cluster(msgspec.Struct, frozen=True, kw_only=True):
    places: Sequence[Place] = ()
    namespaces: Mapping[str, Mapping[str, str]] = {}
    """The labels of each, for those who look for pods by them."""
    storage: Storage = Storage()


def has_ended(pod: Pod) -> bool:
    return bool(pod.status) and pod.status.phase in ENDED
