"""Volumes of a pod."""

from typing import Annotated

from msgspec import field

from kubevirt.api.core.references import ObjectFieldSelector, ResourceFieldSelector
from kubevirt.api.core.storage import HostPathVolumeSource, NFSVolumeSource
from kubevirt.api.struct import ATOMIC, Int32, Int64, Quantity, Struct


class KeyToPath(Struct, frozen=True, kw_only=True):
    """…"""

    key: str
    mode: Int32 | None = None
    path: str


class ConfigMapVolumeSource(Struct, frozen=True, kw_only=True):
    """…"""

    name: str | None = None
    default_mode: Int32 | None = None
    items: Annotated[tuple[KeyToPath, ...], ATOMIC] = ()
    optional: bool | None = None


class SecretVolumeSource(Struct, frozen=True, kw_only=True):
    """…"""

    default_mode: Int32 | None = None
    items: Annotated[tuple[KeyToPath, ...], ATOMIC] = ()
    optional: bool | None = None
    secret_name: str | None = None


class DownwardAPIVolumeFile(Struct, frozen=True, kw_only=True):
    """…"""

    field_ref: ObjectFieldSelector | None = None
    mode: Int32 | None = None
    path: str
    resource_field_ref: ResourceFieldSelector | None = None


class DownwardAPIVolumeSource(Struct, frozen=True, kw_only=True):
    """…"""

    default_mode: Int32 | None = None
    items: Annotated[tuple[DownwardAPIVolumeFile, ...], ATOMIC] = ()


class EmptyDirVolumeSource(Struct, frozen=True, kw_only=True):
    """…"""

    medium: str | None = None
    size_limit: Quantity | None = None


class PersistentVolumeClaimVolumeSource(Struct, frozen=True, kw_only=True):
    """…"""

    claim_name: str
    read_only: bool | None = None


class ConfigMapProjection(Struct, frozen=True, kw_only=True):
    """…"""

    name: str | None = None
    items: Annotated[tuple[KeyToPath, ...], ATOMIC] = ()
    optional: bool | None = None


class SecretProjection(Struct, frozen=True, kw_only=True):
    """…"""

    name: str | None = None
    items: Annotated[tuple[KeyToPath, ...], ATOMIC] = ()
    optional: bool | None = None


class DownwardAPIProjection(Struct, frozen=True, kw_only=True):
    """…"""

    items: Annotated[tuple[DownwardAPIVolumeFile, ...], ATOMIC] = ()


class ServiceAccountTokenProjection(Struct, frozen=True, kw_only=True):
    """…"""

    audience: str | None = None
    expiration_seconds: Int64 | None = None
    path: str


class VolumeProjection(Struct, frozen=True, kw_only=True):
    """…"""

    config_map: ConfigMapProjection | None = None
    downward_api: DownwardAPIProjection | None = field(default=None, name="downwardAPI")
    secret: SecretProjection | None = None
    service_account_token: ServiceAccountTokenProjection | None = None


class ProjectedVolumeSource(Struct, frozen=True, kw_only=True):
    """…"""

    default_mode: Int32 | None = None
    sources: Annotated[tuple[VolumeProjection, ...], ATOMIC] = ()


class ImageVolumeSource(Struct, frozen=True, kw_only=True):
    """…"""

    pull_policy: str | None = None
    reference: str | None = None


class Volume(Struct, frozen=True, kw_only=True):
    """…"""

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
