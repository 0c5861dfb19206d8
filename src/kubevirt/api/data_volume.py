"""DataVolume templates: claims that are filled before a guest starts."""

from typing import Annotated, ClassVar

from msgspec import field

from kubevirt.api.core.references import TypedLocalObjectReference, TypedObjectReference
from kubevirt.api.core.storage import PersistentVolumeClaimSpec, VolumeResourceRequirements
from kubevirt.api.meta import LabelSelector, ObjectMeta
from kubevirt.api.struct import NULLABLE, Mark, Struct, enum


class DataVolumeBlankImage(Struct, frozen=True, kw_only=True):
    """An empty disk."""


class DataVolumeCheckpoint(Struct, frozen=True, kw_only=True):
    """One step of an import in stages."""

    current: str
    """Snapshot that this step copies up to."""
    previous: str
    """Snapshot of the step before; empty in the first."""


class DataVolumeSourceGCS(Struct, frozen=True, kw_only=True):
    """An image in Google Cloud Storage."""

    secret_ref: str | None = None
    """Secret with the credentials; none for public buckets."""
    url: str
    """Address of the image."""


class DataVolumeSourceHTTP(Struct, frozen=True, kw_only=True):
    """An image on a web server."""

    cert_config_map: str | None = None
    """ConfigMap with the authority that signed the server's certificate."""
    extra_headers: tuple[str, ...] = ()
    """Headers to send, each as "Name: value"."""
    secret_extra_headers: tuple[str, ...] = ()
    """Secrets with more headers, for those that must stay hidden."""
    secret_ref: str | None = None
    """Secret with accessKeyId (the user) and secretKey (the password)."""
    url: str
    """Address of the image, http or https."""


class DataVolumeSourceImageIO(Struct, frozen=True, kw_only=True):
    """A disk of oVirt."""

    cert_config_map: str | None = None
    """ConfigMap with the authority that signed the engine's certificate."""
    disk_id: str
    """ID of the disk."""
    insecure_skip_verify: bool | None = None
    """Accepts any certificate."""
    secret_ref: str | None = None
    """Secret with accessKeyId (the user) and secretKey (the password)."""
    url: str
    """Address of the engine's API."""


class DataVolumeSourcePVC(Struct, frozen=True, kw_only=True):
    """A claim to copy."""

    name: str
    """Name of the claim."""
    namespace: str
    """Its namespace; other namespaces need permission to clone."""


class PlatformOptions(Struct, frozen=True, kw_only=True):
    """Which variant of a multi-platform image."""

    architecture: str | None = None
    """Such as amd64 or arm64."""


class DataVolumeSourceRegistry(Struct, frozen=True, kw_only=True):
    """A disk image inside a container image."""

    cert_config_map: str | None = None
    """ConfigMap with the authority that signed the registry's certificate."""
    image_stream: str | None = None
    """OpenShift ImageStream instead of url; needs pullMethod node."""
    platform: PlatformOptions | None = None
    """Variant to take of a multi-platform image."""
    pull_method: str | None = None
    """Who pulls: pod (default) or node, which uses the node's image cache."""
    secret_ref: str | None = None
    """Secret with accessKeyId (the user) and secretKey (the password)."""
    url: str | None = None
    """Image with scheme, docker:// or oci-archive://."""


class DataVolumeSourceS3(Struct, frozen=True, kw_only=True):
    """An image in an S3 bucket."""

    cert_config_map: str | None = None
    """ConfigMap with the authority that signed the server's certificate."""
    secret_ref: str | None = None
    """Secret with accessKeyId and secretKey; none for public buckets."""
    url: str
    """Address of the image."""


class DataVolumeSourceSnapshot(Struct, frozen=True, kw_only=True):
    """A VolumeSnapshot to copy."""

    name: str
    """Name of the VolumeSnapshot."""
    namespace: str
    """Its namespace; other namespaces need permission to clone."""


class DataVolumeSourceUpload(Struct, frozen=True, kw_only=True):
    """Waits for a client to upload the image, as virtctl image-upload does."""


class DataVolumeSourceVDDK(Struct, frozen=True, kw_only=True):
    """A disk of a VMware machine."""

    backing_file: str | None = None
    """Path of the disk in its datastore, such as [store] vm/disk.vmdk."""
    extra_args: str | None = None
    """ConfigMap with further options of the VDDK library."""
    init_image_url: str | None = field(default=None, name="initImageURL")
    """Image that contains the VDDK library, instead of the one set for the cluster."""
    secret_ref: str | None = None
    """Secret with accessKeyId (the user) and secretKey (the password)."""
    thumbprint: str | None = None
    """SHA-1 fingerprint of the host's certificate."""
    url: str | None = None
    """Address of vCenter or of the ESXi host."""
    uuid: str | None = None
    """UUID of the machine in VMware."""


class DataVolumeSource(Struct, frozen=True, kw_only=True):
    """Where the data comes from: exactly one is set."""

    blank: DataVolumeBlankImage | None = None
    """An empty disk."""
    gcs: DataVolumeSourceGCS | None = None
    """Google Cloud Storage."""
    http: DataVolumeSourceHTTP | None = None
    """A web server."""
    imageio: DataVolumeSourceImageIO | None = None
    """A disk of oVirt."""
    pvc: DataVolumeSourcePVC | None = None
    """A copy of another claim."""
    registry: DataVolumeSourceRegistry | None = None
    """A container image with a disk in it."""
    s3: DataVolumeSourceS3 | None = None
    """An S3 bucket."""
    snapshot: DataVolumeSourceSnapshot | None = None
    """A copy of a VolumeSnapshot."""
    upload: DataVolumeSourceUpload | None = None
    """Data that a client sends."""
    vddk: DataVolumeSourceVDDK | None = None
    """A disk of a VMware machine."""


class DataVolumeSourceRef(Struct, frozen=True, kw_only=True):
    """An object that knows where the data comes from."""

    name: str
    """Name of the DataSource."""
    kind: str
    """Only DataSource."""
    namespace: str | None = None
    """Its namespace; that of the DataVolume by default."""


class StorageSpec(Struct, frozen=True, kw_only=True):
    """The claim to make; what is left out comes from the StorageProfile of its class."""

    access_modes: tuple[str, ...] = ()
    """How nodes may share the volume; live migration needs ReadWriteMany."""
    data_source: TypedLocalObjectReference | None = None
    """Claim or VolumeSnapshot that the provisioner copies."""
    data_source_ref: TypedObjectReference | None = None
    """Like dataSource, with any kind that a populator serves."""
    resources: VolumeResourceRequirements = VolumeResourceRequirements()
    """requests.storage is the size of the disk; the claim may be larger."""
    selector: LabelSelector | None = None
    """Labels of existing volumes that may be bound."""
    storage_class_name: str | None = None
    """StorageClass; else the default for virtual machines, or the cluster's."""
    volume_mode: str | None = None
    """Block, Filesystem, or FromStorageProfile to let the profile decide."""
    volume_name: str | None = None
    """PersistentVolume to bind, if it exists already."""


class DataVolumeSpec(Struct, frozen=True, kw_only=True):
    """A claim and what to fill it with."""

    checkpoints: tuple[DataVolumeCheckpoint, ...] = ()
    """Steps of an import in stages, for a short downtime at the end."""
    content_type: Annotated[str | None, enum("kubevirt", "archive")] = None
    """kubevirt (a disk image, default) or archive (a tar to unpack)."""
    final_checkpoint: bool | None = None
    """The last of checkpoints ends the import."""
    preallocation: bool | None = None
    """Writes the whole disk at once rather than as it fills."""
    priority_class_name: str | None = None
    """PriorityClass of the pods that do the work."""
    pvc: PersistentVolumeClaimSpec | None = None
    """The claim in full, without help of a StorageProfile; excludes storage."""
    source: DataVolumeSource | None = None
    """Where the data comes from; excludes sourceRef."""
    source_ref: DataVolumeSourceRef | None = None
    """DataSource that says where the data comes from."""
    storage: StorageSpec | None = None
    """The claim, completed from a StorageProfile; excludes pvc."""


class DataVolumeTemplateDummyStatus(Struct, frozen=True, kw_only=True):
    """Empty: old manifests may carry a status here."""


class DataVolumeTemplateSpec(Struct, frozen=True, kw_only=True):
    """A DataVolume that is made for a machine and deleted with it."""

    marks: ClassVar[tuple[Mark, ...]] = (NULLABLE,)

    api_version: str | None = None
    """Version of the DataVolume API; not needed."""
    kind: str | None = None
    """DataVolume; not needed."""
    metadata: ObjectMeta = ObjectMeta()
    """Name, labels and annotations of the DataVolume to create."""
    spec: DataVolumeSpec
    """The claim and what to fill it with."""
    status: Annotated[DataVolumeTemplateDummyStatus | None, NULLABLE] = None
    """Ignored."""
