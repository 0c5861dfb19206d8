"""Who is where: nodes, the pods on them, and those that were just given one.

Between the decision for a node and the server's word that the pod is there, the pod counts as being there
(it is assumed), so that nothing of the node is given away twice. What a pod takes is counted once, when it
comes.
"""

from collections.abc import Mapping

import msgspec

from kubevirt.api.core.node import Node
from kubevirt.api.core.pod import Pod
from kubevirt.embedded.scheduler import demand
from kubevirt.embedded.scheduler.cluster import Cluster, Place
from kubevirt.embedded.scheduler.storage import Storage


class _Resident(msgspec.Struct, frozen=True):
    pod: Pod
    takes: demand.Amounts


class Ledger:
    def __init__(self) -> None:
        self._nodes: dict[str, Node] = {}
        self._residents: dict[str, dict[str, _Resident]] = {}
        """By node, then by uid. Of nodes that are not known too: a pod may be heard of first."""
        self._taken: dict[str, demand.Amounts] = {}
        """By node, what its residents take together."""
        self._homes: dict[str, str] = {}
        """Node by uid."""
        self._assumed: set[str] = set()
        self._places: dict[str, Place] = {}
        """As last counted; what has changed since is not in it."""

    # Nodes

    def put_node(self, node: Node) -> None:
        name = node.metadata.name
        self._nodes[name] = node
        self._places.pop(name, None)

    def drop_node(self, name: str) -> None:
        self._nodes.pop(name, None)
        self._places.pop(name, None)

    def node(self, name: str) -> Node | None:
        return self._nodes.get(name)

    # Pods

    def put(self, pod: Pod, node: str) -> bool:
        """The server says that a pod is there. Whether it is news that the pod is."""
        uid = pod.metadata.uid
        was_known = self._homes.get(uid) == node
        self._leave(uid)
        self._arrive(pod, node)
        return not was_known

    def assume(self, pod: Pod, node: str) -> None:
        self._leave(pod.metadata.uid)
        self._arrive(pod, node)
        self._assumed.add(pod.metadata.uid)

    def is_assumed(self, uid: str) -> bool:
        return uid in self._assumed

    def unassume(self, uid: str) -> bool:
        """Whether it was assumed only, and is nowhere now."""
        if uid not in self._assumed:
            return False
        self._leave(uid)
        return True

    def drop(self, uid: str) -> bool:
        """Whether it was anywhere."""
        return self._leave(uid)

    def _arrive(self, pod: Pod, node: str) -> None:
        uid = pod.metadata.uid
        takes = demand.of_pod(pod)
        self._residents.setdefault(node, {})[uid] = _Resident(pod, takes)
        self._taken[node] = demand.added((self._taken.get(node, {}), takes))
        self._homes[uid] = node
        self._places.pop(node, None)

    def _leave(self, uid: str) -> bool:
        self._assumed.discard(uid)
        node = self._homes.pop(uid, None)
        if node is None:
            return False
        gone = self._residents[node].pop(uid)
        self._taken[node] = demand.without(self._taken[node], gone.takes)
        if not self._residents[node]:
            del self._residents[node], self._taken[node]
        self._places.pop(node, None)
        return True

    # Reading

    def cluster(self, namespaces: Mapping[str, Mapping[str, str]], storage: Storage) -> Cluster:
        places = [self._place(name) for name in self._nodes]
        return Cluster(places=places, namespaces=namespaces, storage=storage)

    def _place(self, name: str) -> Place:
        place = self._places.get(name)
        if place is None:
            residents = self._residents.get(name, {}).values()
            place = self._places[name] = Place(
                node=self._nodes[name],
                pods=[each.pod for each in residents],
                counted=self._taken.get(name, {}),
            )
        return place
