"""DataVolume templates: claims that are filled before a guest starts."""

from typing import Annotated

from msgspec import field

from kubevirt.api.core.references import TypedLocalObjectReference, TypedObjectReference
from kubevirt.api.core.storage import PersistentVolumeClaimSpec, VolumeResourceRequirements
from kubevirt.api.meta import LabelSelector, ObjectMeta
from kubevirt.api.struct import Struct, enum


class DataVolumeBlankImage(Struct, frozen=True, kw_only=True):
    """…"""


class DataVolumeCheckpoint(Struct, frozen=True, kw_only=True):
    """…"""

    current: str
    previous: str


class DataVolumeSourceGCS(Struct, frozen=True, kw_only=True):
    """…"""

    secret_ref: str | None = None
    url: str


class DataVolumeSourceHTTP(Struct, frozen=True, kw_only=True):
    """…"""

    cert_config_map: str | None = None
    extra_headers: tuple[str, ...] = ()
    secret_extra_headers: tuple[str, ...] = ()
    secret_ref: str | None = None
    url: str


class DataVolumeSourceImageIO(Struct, frozen=True, kw_only=True):
    """…"""

    cert_config_map: str | None = None
    disk_id: str
    insecure_skip_verify: bool | None = None
    secret_ref: str | None = None
    url: str


class DataVolumeSourcePVC(Struct, frozen=True, kw_only=True):
    """…"""

    name: str
    namespace: str


class PlatformOptions(Struct, frozen=True, kw_only=True):
    """…"""

    architecture: str | None = None


class DataVolumeSourceRegistry(Struct, frozen=True, kw_only=True):
    """…"""

    cert_config_map: str | None = None
    image_stream: str | None = None
    platform: PlatformOptions | None = None
    pull_method: str | None = None
    secret_ref: str | None = None
    url: str | None = None


class DataVolumeSourceS3(Struct, frozen=True, kw_only=True):
    """…"""

    cert_config_map: str | None = None
    secret_ref: str | None = None
    url: str


class DataVolumeSourceSnapshot(Struct, frozen=True, kw_only=True):
    """…"""

    name: str
    namespace: str


class DataVolumeSourceUpload(Struct, frozen=True, kw_only=True):
    """…"""


class DataVolumeSourceVDDK(Struct, frozen=True, kw_only=True):
    """…"""

    backing_file: str | None = None
    extra_args: str | None = None
    init_image_url: str | None = field(default=None, name="initImageURL")
    secret_ref: str | None = None
    thumbprint: str | None = None
    url: str | None = None
    uuid: str | None = None


class DataVolumeSource(Struct, frozen=True, kw_only=True):
    """…"""

    blank: DataVolumeBlankImage | None = None
    gcs: DataVolumeSourceGCS | None = None
    http: DataVolumeSourceHTTP | None = None
    imageio: DataVolumeSourceImageIO | None = None
    pvc: DataVolumeSourcePVC | None = None
    registry: DataVolumeSourceRegistry | None = None
    s3: DataVolumeSourceS3 | None = None
    snapshot: DataVolumeSourceSnapshot | None = None
    upload: DataVolumeSourceUpload | None = None
    vddk: DataVolumeSourceVDDK | None = None


class DataVolumeSourceRef(Struct, frozen=True, kw_only=True):
    """…"""

    name: str
    kind: str
    namespace: str | None = None


class StorageSpec(Struct, frozen=True, kw_only=True):
    """…"""

    access_modes: tuple[
        Annotated[str, enum("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")],
        ...,
    ] = ()
    data_source: TypedLocalObjectReference | None = None
    data_source_ref: TypedObjectReference | None = None
    resources: VolumeResourceRequirements = VolumeResourceRequirements()
    selector: LabelSelector | None = None
    storage_class_name: str | None = None
    volume_mode: Annotated[str | None, enum("Block", "Filesystem", "FromStorageProfile")] = None
    volume_name: str | None = None


class DataVolumeSpec(Struct, frozen=True, kw_only=True):
    """…"""

    checkpoints: tuple[DataVolumeCheckpoint, ...] = ()
    content_type: str | None = None
    final_checkpoint: bool | None = None
    preallocation: bool | None = None
    priority_class_name: str | None = None
    pvc: PersistentVolumeClaimSpec | None = None
    source: DataVolumeSource | None = None
    source_ref: DataVolumeSourceRef | None = None
    storage: StorageSpec | None = None


class DataVolumeTemplateDummyStatus(Struct, frozen=True, kw_only=True):
    """…"""


class DataVolumeTemplateSpec(Struct, frozen=True, kw_only=True):
    """…"""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: DataVolumeSpec
    status: DataVolumeTemplateDummyStatus | None = None
