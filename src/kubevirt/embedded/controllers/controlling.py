"""The controllers of an embedded home, running.

async with controlling(client, clock, acting=client_of_node_controller):
    ...
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from kubevirt.api.core.lease import Lease
from kubevirt.api.core.node import Node
from kubevirt.api.scheme import LEASES, NODES
from kubevirt.base.clock import Clock
from kubevirt.base.tasks import background
from kubevirt.embedded.controllers.nodes.bound import BOUND_PODS, BoundPod
from kubevirt.embedded.controllers.nodes.evictions import Evictions
from kubevirt.embedded.controllers.nodes.lifecycle import LEASES_OF_NODES, Lifecycle
from kubevirt.embedded.controllers.nodes.orphans import Orphans
from kubevirt.embedded.controllers.nodes.settings import NodeSettings
from kubevirt.kube.client import Client
from kubevirt.kube.events import EventRecorder
from kubevirt.kube.informer import Informer


@asynccontextmanager
async def controlling(
    client: Client,
    clock: Clock,
    *,
    acting: Client | None = None,
    settings: NodeSettings | None = None,
) -> AsyncIterator[None]:
    """As in Kubernetes, who watches and who acts have different names: `client` is the controller manager,
    which may see everything, `acting` its node controller, which may write to nodes and pods. Without
    `acting` the first one does both.
    """
    acting, settings = acting or client, settings or NodeSettings()
    nodes: Informer[Node] = Informer(client, NODES, clock=clock)
    leases: Informer[Lease] = Informer(client, LEASES, clock=clock, namespace=LEASES_OF_NODES)
    pods: Informer[BoundPod] = Informer(
        client, BOUND_PODS, clock=clock, indexes={"node": lambda pod: pod.spec.node_name or None}
    )
    recorder = EventRecorder(acting, component="node-controller", clock=clock)
    told = EventRecorder(acting, component="taint-eviction-controller", clock=clock)
    lifecycle = Lifecycle(acting, clock, recorder, settings, nodes=nodes, leases=leases, pods=pods)
    evictions = Evictions(acting, clock, told, nodes=nodes, pods=pods)
    orphans = Orphans(acting, clock, settings, nodes=nodes, pods=pods)
    parts = (nodes, leases, pods, recorder, told, lifecycle, evictions, orphans)
    async with background(*(each.run() for each in parts)):
        yield
