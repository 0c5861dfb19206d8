"""Volumes of the cluster and the claims on them."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated

from kubevirt.api.core.references import (
    ObjectReference,
    TypedLocalObjectReference,
    TypedObjectReference,
)
from kubevirt.api.core.scheduling import NodeSelector
from kubevirt.api.meta import LabelSelector, ObjectMeta
from kubevirt.api.struct import ATOMIC, NO_ENTRIES, Quantity, Struct, list_map


class VolumeResourceRequirements(Struct, frozen=True, kw_only=True):
    """How much storage to ask for."""

    limits: Mapping[str, Quantity] = NO_ENTRIES
    """Largest acceptable size, under key storage."""
    requests: Mapping[str, Quantity] = NO_ENTRIES
    """Smallest acceptable size, under key storage."""


class PersistentVolumeClaimSpec(Struct, frozen=True, kw_only=True):
    """The storage that is wanted."""

    access_modes: Annotated[tuple[str, ...], ATOMIC] = ()
    """ReadWriteOnce, ReadOnlyMany, ReadWriteMany or ReadWriteOncePod; live migration needs
    ReadWriteMany.
    """
    data_source: TypedLocalObjectReference | None = None
    """VolumeSnapshot or PVC in this namespace that gives the initial content."""
    data_source_ref: TypedObjectReference | None = None
    """Like dataSource, but also for populators and, where enabled, other namespaces."""
    resources: VolumeResourceRequirements | None = None
    """Size wanted."""
    selector: LabelSelector | None = None
    """Labels of volumes that may be bound."""
    storage_class_name: str | None = None
    """StorageClass; the default one if not set, none if empty."""
    volume_attributes_class_name: str | None = None
    """VolumeAttributesClass for settings such as IOPS; can be changed later."""
    volume_mode: str | None = None
    """Filesystem (default) or Block."""
    volume_name: str | None = None
    """PersistentVolume to bind."""


class PersistentVolumeClaimCondition(Struct, frozen=True, kw_only=True):
    """One aspect of a claim's state, such as Resizing."""

    type: str
    last_probe_time: datetime | None = None
    last_transition_time: datetime | None = None
    message: str | None = None
    reason: str | None = None
    status: str


class PersistentVolumeClaimStatus(Struct, frozen=True, kw_only=True):
    """What a claim has got."""

    access_modes: Annotated[tuple[str, ...], ATOMIC] = ()
    allocated_resource_statuses: Mapping[str, str] = NO_ENTRIES
    allocated_resources: Mapping[str, Quantity] = NO_ENTRIES
    capacity: Mapping[str, Quantity] = NO_ENTRIES
    conditions: Annotated[tuple[PersistentVolumeClaimCondition, ...], list_map("type")] = ()
    current_volume_attributes_class_name: str | None = None
    phase: str | None = None


class PersistentVolumeClaim(Struct, frozen=True, kw_only=True):
    """Request for storage, and what came of it."""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()
    status: PersistentVolumeClaimStatus = PersistentVolumeClaimStatus()


class VolumeNodeAffinity(Struct, frozen=True, kw_only=True):
    """Nodes that can reach a volume."""

    required: NodeSelector | None = None


class SecretReference(Struct, frozen=True, kw_only=True):
    """Secret in any namespace."""

    name: str | None = None
    namespace: str | None = None


class CSIPersistentVolumeSource(Struct, frozen=True, kw_only=True):
    """Volume of a CSI driver."""

    controller_expand_secret_ref: SecretReference | None = None
    controller_publish_secret_ref: SecretReference | None = None
    driver: str
    fs_type: str | None = None
    node_expand_secret_ref: SecretReference | None = None
    node_publish_secret_ref: SecretReference | None = None
    node_stage_secret_ref: SecretReference | None = None
    read_only: bool | None = None
    volume_attributes: Mapping[str, str] = NO_ENTRIES
    volume_handle: str


class LocalVolumeSource(Struct, frozen=True, kw_only=True):
    """Directory or device of one node."""

    fs_type: str | None = None
    path: str


class HostPathVolumeSource(Struct, frozen=True, kw_only=True):
    """Path on the node where the pod runs."""

    type: str | None = None
    path: str


class NFSVolumeSource(Struct, frozen=True, kw_only=True):
    """Export of an NFS server."""

    path: str
    read_only: bool | None = None
    server: str


class PersistentVolumeSpec(Struct, frozen=True, kw_only=True):
    """Where a volume is, and who may use it."""

    access_modes: Annotated[tuple[str, ...], ATOMIC] = ()
    capacity: Mapping[str, Quantity] = NO_ENTRIES
    claim_ref: ObjectReference | None = None
    csi: CSIPersistentVolumeSource | None = None
    host_path: HostPathVolumeSource | None = None
    local: LocalVolumeSource | None = None
    mount_options: Annotated[tuple[str, ...], ATOMIC] = ()
    nfs: NFSVolumeSource | None = None
    node_affinity: VolumeNodeAffinity | None = None
    persistent_volume_reclaim_policy: str | None = None
    storage_class_name: str | None = None
    volume_attributes_class_name: str | None = None
    volume_mode: str | None = None


class PersistentVolumeStatus(Struct, frozen=True, kw_only=True):
    """State of a volume."""

    last_phase_transition_time: datetime | None = None
    message: str | None = None
    phase: str | None = None
    reason: str | None = None


class PersistentVolume(Struct, frozen=True, kw_only=True):
    """Piece of storage in the cluster."""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: PersistentVolumeSpec = PersistentVolumeSpec()
    status: PersistentVolumeStatus = PersistentVolumeStatus()


class TopologySelectorLabelRequirement(Struct, frozen=True, kw_only=True):
    """Values that a node label may have."""

    key: str
    values: Annotated[tuple[str, ...], ATOMIC]


class TopologySelectorTerm(Struct, frozen=True, kw_only=True):
    """Conditions on node labels that must all hold."""

    match_label_expressions: Annotated[tuple[TopologySelectorLabelRequirement, ...], ATOMIC] = ()


class StorageClass(Struct, frozen=True, kw_only=True):
    """Way of providing volumes: provisioner and parameters."""

    allow_volume_expansion: bool | None = None
    allowed_topologies: Annotated[tuple[TopologySelectorTerm, ...], ATOMIC] = ()
    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    mount_options: Annotated[tuple[str, ...], ATOMIC] = ()
    parameters: Mapping[str, str] = NO_ENTRIES
    provisioner: str
    reclaim_policy: str | None = None
    volume_binding_mode: str | None = None
