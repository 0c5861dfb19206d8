"""Volumes of a pod."""

from typing import Annotated

from msgspec import field

from kubevirt.api.core.references import ObjectFieldSelector, ResourceFieldSelector
from kubevirt.api.core.storage import HostPathVolumeSource, NFSVolumeSource
from kubevirt.api.struct import ATOMIC, Int32, Int64, Quantity, Struct


class KeyToPath(Struct, frozen=True, kw_only=True):
    """Entry of a ConfigMap or Secret, and the file it becomes."""

    key: str
    mode: Int32 | None = None
    path: str


class ConfigMapVolumeSource(Struct, frozen=True, kw_only=True):
    """ConfigMap as files."""

    name: str | None = None
    default_mode: Int32 | None = None
    items: Annotated[tuple[KeyToPath, ...], ATOMIC] = ()
    optional: bool | None = None


class SecretVolumeSource(Struct, frozen=True, kw_only=True):
    """Secret as files."""

    default_mode: Int32 | None = None
    items: Annotated[tuple[KeyToPath, ...], ATOMIC] = ()
    optional: bool | None = None
    secret_name: str | None = None


class DownwardAPIVolumeFile(Struct, frozen=True, kw_only=True):
    """File that shows one fact about the pod; one source."""

    field_ref: ObjectFieldSelector | None = None
    """Field to show: name, namespace, uid, labels or annotations."""
    mode: Int32 | None = None
    """Permission bits of the file, 0 to 0777 octal; the volume's default if not set."""
    path: str
    """Relative path of the file, without .. in it."""
    resource_field_ref: ResourceFieldSelector | None = None
    """Resource limit or request to show."""


class DownwardAPIVolumeSource(Struct, frozen=True, kw_only=True):
    """Facts about the pod as files."""

    default_mode: Int32 | None = None
    items: Annotated[tuple[DownwardAPIVolumeFile, ...], ATOMIC] = ()


class EmptyDirVolumeSource(Struct, frozen=True, kw_only=True):
    """Directory that lives as long as the pod."""

    medium: str | None = None
    size_limit: Quantity | None = None


class PersistentVolumeClaimVolumeSource(Struct, frozen=True, kw_only=True):
    """PVC of the same namespace."""

    claim_name: str
    """Name of the PVC."""
    read_only: bool | None = None
    """Mounts it without write access; false by default."""


class ConfigMapProjection(Struct, frozen=True, kw_only=True):
    """ConfigMap in a projected volume."""

    name: str | None = None
    items: Annotated[tuple[KeyToPath, ...], ATOMIC] = ()
    optional: bool | None = None


class SecretProjection(Struct, frozen=True, kw_only=True):
    """Secret in a projected volume."""

    name: str | None = None
    items: Annotated[tuple[KeyToPath, ...], ATOMIC] = ()
    optional: bool | None = None


class DownwardAPIProjection(Struct, frozen=True, kw_only=True):
    """Facts about the pod in a projected volume."""

    items: Annotated[tuple[DownwardAPIVolumeFile, ...], ATOMIC] = ()


class ServiceAccountTokenProjection(Struct, frozen=True, kw_only=True):
    """Token of the pod's service account in a projected volume."""

    audience: str | None = None
    expiration_seconds: Int64 | None = None
    path: str


class VolumeProjection(Struct, frozen=True, kw_only=True):
    """One source of a projected volume."""

    config_map: ConfigMapProjection | None = None
    downward_api: DownwardAPIProjection | None = field(default=None, name="downwardAPI")
    secret: SecretProjection | None = None
    service_account_token: ServiceAccountTokenProjection | None = None


class ProjectedVolumeSource(Struct, frozen=True, kw_only=True):
    """Several sources in one directory."""

    default_mode: Int32 | None = None
    sources: Annotated[tuple[VolumeProjection, ...], ATOMIC] = ()


class ImageVolumeSource(Struct, frozen=True, kw_only=True):
    """Content of a container image, read-only."""

    pull_policy: str | None = None
    reference: str | None = None


class Volume(Struct, frozen=True, kw_only=True):
    """Volume of a pod; exactly one source."""

    name: str
    config_map: ConfigMapVolumeSource | None = None
    downward_api: DownwardAPIVolumeSource | None = field(default=None, name="downwardAPI")
    empty_dir: EmptyDirVolumeSource | None = None
    host_path: HostPathVolumeSource | None = None
    image: ImageVolumeSource | None = None
    nfs: NFSVolumeSource | None = None
    persistent_volume_claim: PersistentVolumeClaimVolumeSource | None = None
    projected: ProjectedVolumeSource | None = None
    secret: SecretVolumeSource | None = None
