"""What a server must know of each KubeVirt kind besides its schema: names, versions, columns.

`generate.py` joins these facts with the schemas of the types and writes the CRDs.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from kubevirt.api import scheme
from kubevirt.api.resource import Resource

V1ALPHA3_WARNING = "kubevirt.io/v1alpha3 is now deprecated and will be removed in a future release."
PRESET_WARNING = (
    "kubevirt.io/{} VirtualMachineInstancePresets is now deprecated and will be removed in v2."
)
EXPORT_WARNING = (
    "export.kubevirt.io/v1beta1 VirtualMachineExport is now deprecated"
    " and will be removed in a future version."
)


class Column(msgspec.Struct, frozen=True):
    """A column of `kubectl get`. Priority 1 shows only with `-o wide`."""

    name: str
    path: str
    type: str = "string"
    priority: int = 0


class Version(msgspec.Struct, frozen=True):
    name: str
    storage: bool = False
    deprecated: str | None = None
    """The warning that every use of a deprecated version gets."""


class Scale(msgspec.Struct, frozen=True):
    """Where `kubectl scale` finds its numbers."""

    spec: str = ".spec.replicas"
    status: str = ".status.replicas"
    selector: str = ".status.labelSelector"


class Definition(msgspec.Struct, frozen=True, kw_only=True):
    """One CRD, less its schema."""

    resource: Resource[Any]
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ("all",)
    """`kubectl get all` lists what lives in a namespace; cluster-wide kinds would drown it."""
    versions: tuple[Version, ...]
    columns: tuple[Column, ...] = ()
    has_status: bool = True
    """Whether status is a subresource. A VMI's is not: every client of KubeVirt relies on that."""
    scale: Scale | None = None

    @property
    def name(self) -> str:
        return self.resource.group_resource

    @property
    def labels(self) -> Mapping[str, str]:
        # The operator owns its own kind; everything else belongs to the installation it makes.
        key = "operator.kubevirt.io" if self.resource is scheme.KUBEVIRTS else "kubevirt.io"
        return {key: ""}


def _condition(type_: str) -> str:
    return f".status.conditions[?(@.type=='{type_}')].status"


AGE = Column("Age", ".metadata.creationTimestamp", "date")
PHASE = Column("Phase", ".status.phase")
READY = Column("Ready", _condition("Ready"))
SOURCE = (
    Column("SourceKind", ".spec.source.kind"),
    Column("SourceName", ".spec.source.name"),
)
SNAPSHOT_STATE = (
    Column("ReadyToUse", ".status.readyToUse", "boolean"),
    Column("CreationTime", ".status.creationTime", "date"),
    Column("Error", ".status.error.message"),
)
REPLICAS = (
    Column("Desired", ".spec.replicas", "integer"),
    Column("Current", ".status.replicas", "integer"),
    Column("Ready", ".status.readyReplicas", "integer"),
    AGE,
)

CORE_VERSIONS = (Version("v1", storage=True), Version("v1alpha3", deprecated=V1ALPHA3_WARNING))
GROWN_VERSIONS = (Version("v1alpha1"), Version("v1beta1", storage=True))
ALPHA = (Version("v1alpha1", storage=True),)
BETA = (Version("v1beta1", storage=True),)

DEFINITIONS = (
    Definition(
        resource=scheme.VIRTUAL_MACHINES,
        short_names=("vm", "vms"),
        versions=CORE_VERSIONS,
        columns=(AGE, Column("Status", ".status.printableStatus"), READY),
    ),
    Definition(
        resource=scheme.VIRTUAL_MACHINE_INSTANCES,
        short_names=("vmi", "vmis"),
        versions=CORE_VERSIONS,
        has_status=False,
        columns=(
            AGE,
            PHASE,
            Column("IP", ".status.interfaces[0].ipAddress"),
            Column("NodeName", ".status.nodeName"),
            READY,
            Column("Live-Migratable", _condition("LiveMigratable"), priority=1),
            Column("Paused", _condition("Paused"), priority=1),
        ),
    ),
    Definition(
        resource=scheme.REPLICA_SETS,
        short_names=("vmirs", "vmirss"),
        versions=CORE_VERSIONS,
        columns=REPLICAS,
        scale=Scale(),
    ),
    Definition(
        resource=scheme.MIGRATIONS,
        short_names=("vmim", "vmims"),
        versions=CORE_VERSIONS,
        columns=(PHASE, Column("VMI", ".spec.vmiName")),
    ),
    Definition(
        resource=scheme.PRESETS,
        short_names=("vmipreset", "vmipresets"),
        versions=(
            Version("v1", deprecated=PRESET_WARNING.format("v1")),
            Version("v1alpha3", storage=True, deprecated=PRESET_WARNING.format("v1alpha3")),
        ),
        has_status=False,
    ),
    Definition(
        resource=scheme.KUBEVIRTS,
        short_names=("kv", "kvs"),
        versions=CORE_VERSIONS,
        columns=(AGE, PHASE),
    ),
    Definition(
        resource=scheme.POOLS,
        short_names=("vmpool", "vmpools"),
        versions=GROWN_VERSIONS,
        columns=REPLICAS,
        scale=Scale(),
    ),
    Definition(
        resource=scheme.SNAPSHOTS,
        short_names=("vmsnapshot", "vmsnapshots"),
        versions=GROWN_VERSIONS,
        columns=(*SOURCE, PHASE, *SNAPSHOT_STATE),
    ),
    Definition(
        resource=scheme.SNAPSHOT_CONTENTS,
        short_names=("vmsnapshotcontent", "vmsnapshotcontents"),
        versions=GROWN_VERSIONS,
        columns=SNAPSHOT_STATE,
    ),
    Definition(
        resource=scheme.RESTORES,
        short_names=("vmrestore", "vmrestores"),
        versions=GROWN_VERSIONS,
        columns=(
            Column("TargetKind", ".spec.target.kind"),
            Column("TargetName", ".spec.target.name"),
            Column("Complete", ".status.complete", "boolean"),
            Column("RestoreTime", ".status.restoreTime", "date"),
        ),
    ),
    Definition(
        resource=scheme.EXPORTS,
        short_names=("vmexport", "vmexports"),
        versions=(Version("v1beta1", deprecated=EXPORT_WARNING), Version("v1", storage=True)),
        columns=(*SOURCE, PHASE),
    ),
    Definition(
        resource=scheme.BACKUPS,
        short_names=("vmbackup", "vmbackups"),
        versions=ALPHA,
        columns=(
            *SOURCE,
            Column("Type", ".status.type"),
            Column("CheckpointName", ".status.checkpointName"),
        ),
    ),
    Definition(
        resource=scheme.BACKUP_TRACKERS,
        short_names=("vmbackuptracker", "vmbackuptrackers"),
        versions=ALPHA,
        columns=(
            *SOURCE,
            Column("LatestCheckpoint", ".status.latestCheckpoint.name"),
            Column("CheckpointTime", ".status.latestCheckpoint.creationTime", "date"),
        ),
    ),
    Definition(
        resource=scheme.INSTANCETYPES,
        short_names=("vminstancetype", "vminstancetypes", "vmf", "vmfs"),
        versions=BETA,
        has_status=False,
    ),
    Definition(
        resource=scheme.CLUSTER_INSTANCETYPES,
        categories=(),
        short_names=("vmclusterinstancetype", "vmclusterinstancetypes", "vmcf", "vmcfs"),
        versions=BETA,
        has_status=False,
    ),
    Definition(
        resource=scheme.PREFERENCES,
        short_names=("vmpref", "vmprefs", "vmp", "vmps"),
        versions=BETA,
        has_status=False,
    ),
    Definition(
        resource=scheme.CLUSTER_PREFERENCES,
        categories=(),
        short_names=("vmcp", "vmcps"),
        versions=BETA,
        has_status=False,
    ),
    Definition(resource=scheme.MIGRATION_POLICIES, categories=(), versions=ALPHA),
    Definition(
        resource=scheme.CLONES,
        short_names=("vmclone", "vmclones"),
        versions=GROWN_VERSIONS,
        columns=(
            PHASE,
            Column("SourceVirtualMachine", ".spec.source.name"),
            Column("TargetVirtualMachine", ".spec.target.name"),
        ),
    ),
    Definition(resource=scheme.PLUGINS, categories=(), versions=ALPHA, has_status=False),
)
