"""What is kept of objects in memory: the fields that decisions are made by, and no others.

There may be thousands of each. Annotations of a machine repeat its whole manifest, and most of a pod is for the node.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from msgspec import field

from kubevirt.api import scheme
from kubevirt.api.core.container import Container
from kubevirt.api.core.pod import Pod, PodReadinessGate, PodSpec, PodStatus
from kubevirt.api.core.references import ObjectReference
from kubevirt.api.machine import VirtualMachine, VirtualMachineSpec, VirtualMachineStatus
from kubevirt.api.meta import ObjectMeta, OwnerReference
from kubevirt.api.scheme import (
    CONTROLLER_REVISIONS,
    PERSISTENT_VOLUME_CLAIMS,
    PODS,
    VIRTUAL_MACHINES,
)
from kubevirt.api.struct import NO_ENTRIES, Int64, Quantity, Struct
from kubevirt.virt.nodes import HEARTBEAT
from kubevirt.virt.pod.names import SCHEDULABLE


class KeptMetadata(Struct, frozen=True, kw_only=True):
    """Without labels and annotations."""

    name: str = ""
    namespace: str | None = None
    uid: str = ""
    resource_version: str | None = None
    generation: Int64 | None = None
    creation_timestamp: datetime | None = None
    deletion_timestamp: datetime | None = None
    owner_references: tuple[OwnerReference, ...] = ()
    finalizers: tuple[str, ...] = ()

    @property
    def whole(self) -> ObjectMeta:
        return ObjectMeta(
            name=self.name,
            namespace=self.namespace,
            uid=self.uid,
            resource_version=self.resource_version,
            generation=self.generation,
            creation_timestamp=self.creation_timestamp,
            deletion_timestamp=self.deletion_timestamp,
            owner_references=self.owner_references,
            finalizers=self.finalizers,
        )


class KeptMachine(Struct, frozen=True, kw_only=True):
    metadata: KeptMetadata = KeptMetadata()
    spec: VirtualMachineSpec
    status: VirtualMachineStatus = VirtualMachineStatus()

    @property
    def whole(self) -> VirtualMachine:
        return VirtualMachine(metadata=self.metadata.whole, spec=self.spec, status=self.status)


class KeptContainer(Struct, frozen=True, kw_only=True):
    name: str
    image: str | None = None


class KeptPodSpec(Struct, frozen=True, kw_only=True):
    node_name: str | None = None
    containers: tuple[KeptContainer, ...] = ()
    readiness_gates: tuple[PodReadinessGate, ...] = ()


class KeptPod(Struct, frozen=True, kw_only=True):
    metadata: KeptMetadata = KeptMetadata()
    spec: KeptPodSpec = KeptPodSpec()
    status: PodStatus = PodStatus()

    @property
    def whole(self) -> Pod:
        spec = PodSpec(
            node_name=self.spec.node_name,
            containers=tuple(
                Container(name=each.name, image=each.image) for each in self.spec.containers
            ),
            readiness_gates=self.spec.readiness_gates,
        )
        return Pod(metadata=self.metadata.whole, spec=spec, status=self.status)


class KeptNodeLabels(Struct, frozen=True, kw_only=True):
    schedulable: str | None = field(default=None, name=SCHEDULABLE)


class KeptNodeAnnotations(Struct, frozen=True, kw_only=True):
    heartbeat: str | None = field(default=None, name=HEARTBEAT)


class KeptNodeMetadata(KeptMetadata, frozen=True, kw_only=True):
    labels: KeptNodeLabels = KeptNodeLabels()
    annotations: KeptNodeAnnotations = KeptNodeAnnotations()


class KeptNodeStatus(Struct, frozen=True, kw_only=True):
    allocatable: Mapping[str, Quantity] = NO_ENTRIES


class KeptNode(Struct, frozen=True, kw_only=True):
    """What virt-handler says of it, and what it has for guests."""

    metadata: KeptNodeMetadata = KeptNodeMetadata()
    status: KeptNodeStatus = KeptNodeStatus()

    @property
    def said(self) -> tuple[KeptNodeLabels, KeptNodeAnnotations]:
        return self.metadata.labels, self.metadata.annotations

    @property
    def is_open(self) -> bool:
        return self.metadata.labels.schedulable == "true"

    @property
    def resources(self) -> frozenset[str]:
        """Those of which it has any: a kubelet counts none of a plugin that is away."""
        return frozenset(name for name, many in self.status.allocatable.items() if str(many) != "0")


class KeptRequirements(Struct, frozen=True, kw_only=True):
    requests: Mapping[str, Quantity] = NO_ENTRIES


class KeptClaimSpec(Struct, frozen=True, kw_only=True):
    access_modes: tuple[str, ...] = ()
    volume_mode: str | None = None
    resources: KeptRequirements = KeptRequirements()


class KeptClaimStatus(Struct, frozen=True, kw_only=True):
    phase: str | None = None
    capacity: Mapping[str, Quantity] = NO_ENTRIES


class KeptClaim(Struct, frozen=True, kw_only=True):
    metadata: KeptMetadata = KeptMetadata()
    spec: KeptClaimSpec = KeptClaimSpec()
    status: KeptClaimStatus = KeptClaimStatus()

    @property
    def is_bound(self) -> bool:
        return self.status.phase == "Bound"


class KeptEvent(Struct, frozen=True, kw_only=True):
    metadata: KeptMetadata = KeptMetadata()
    involved_object: ObjectReference = ObjectReference()
    last_timestamp: datetime | None = None
    message: str = ""


MACHINES: Final = VIRTUAL_MACHINES.read_as(KeptMachine)
NODES: Final = scheme.NODES.read_as(KeptNode)
LAUNCHER_PODS: Final = PODS.read_as(KeptPod)
EVENTS: Final = scheme.EVENTS.read_as(KeptEvent)
CLAIMS: Final = PERSISTENT_VOLUME_CLAIMS.read_as(KeptClaim)
REVISIONS: Final = CONTROLLER_REVISIONS.metadata_only
"""The content of one is asked for when it matters: when a guest runs that was made from another template."""
