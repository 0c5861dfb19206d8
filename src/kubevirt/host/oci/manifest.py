"""Manifests and indexes: which blobs make up an image, and for which machine."""

import hashlib
import platform
from typing import Final, TypeVar

import msgspec

from kubevirt.host.oci.errors import ContainerImageError, shown
from kubevirt.host.oci.reference import is_digest

MANIFEST_LIMIT: Final = 4 << 20
LAYER_LIMIT: Final = 256

OCI_MANIFEST: Final = "application/vnd.oci.image.manifest.v1+json"
OCI_INDEX: Final = "application/vnd.oci.image.index.v1+json"
DOCKER_MANIFEST: Final = "application/vnd.docker.distribution.manifest.v2+json"
DOCKER_LIST: Final = "application/vnd.docker.distribution.manifest.list.v2+json"
INDEXES: Final = frozenset({OCI_INDEX, DOCKER_LIST})
ACCEPTED: Final = (OCI_MANIFEST, OCI_INDEX, DOCKER_MANIFEST, DOCKER_LIST)

_ARCHITECTURES: Final = {"x86_64": "amd64", "aarch64": "arm64"}


class Platform(msgspec.Struct, frozen=True, kw_only=True):
    architecture: str = ""
    os: str = ""


class Descriptor(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A blob by its digest: whoever hands it out, it is the same bytes."""

    digest: str
    size: int
    media_type: str = ""
    platform: Platform | None = None
    annotations: dict[str, str] = msgspec.field(default_factory=dict)

    def __post_init__(self) -> None:
        if not is_digest(self.digest):
            raise ValueError(f"{shown(self.digest)} is no sha256 digest")
        if self.size < 0:
            raise ValueError(f"a blob cannot have {self.size} bytes")

    @property
    def hex(self) -> str:
        return self.digest.removeprefix("sha256:")


class Index(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    manifests: tuple[Descriptor, ...]
    media_type: str = OCI_INDEX


class Manifest(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    layers: tuple[Descriptor, ...]
    config: Descriptor | None = None
    media_type: str = ""


class Resolved(msgspec.Struct, frozen=True, kw_only=True):
    """An image that was found by name."""

    name: str
    digest: str
    layers: tuple[Descriptor, ...]
    config: Descriptor | None = None
    """How it is to be run. A container disk has no use for it."""

    @property
    def size(self) -> int:
        return sum(layer.size for layer in self.layers)


def this_machine() -> Platform:
    machine = platform.machine()
    return Platform(architecture=_ARCHITECTURES.get(machine, machine), os="linux")


def digest_of(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


Document = TypeVar("Document", Index, Manifest)


def decoded(data: bytes, kind: type[Document], name: str) -> Document:
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise ContainerImageError(f"the manifest of image {name} cannot be read: {error}") from None


def is_index(data: bytes, media_type: str) -> bool:
    """By the type it came with, or else by what it holds."""
    if media_type in ACCEPTED:
        return media_type in INDEXES
    try:
        return "manifests" in msgspec.json.decode(data, type=dict[str, msgspec.Raw])
    except msgspec.DecodeError:
        return False


def chosen(index: Index, wanted: Platform, name: str) -> Descriptor:
    """The manifest for a machine. An entry that does not say its own is for any."""
    fitting = [each for each in index.manifests if each.platform in (wanted, None)] or [
        each
        for each in index.manifests
        if each.platform
        and (each.platform.os, each.platform.architecture) == (wanted.os, wanted.architecture)
    ]
    exact = [each for each in fitting if each.platform is not None] or fitting
    if not exact:
        has = sorted({f"{p.os}/{p.architecture}" for m in index.manifests if (p := m.platform)})
        raise ContainerImageError(
            f"image {name} is not made for {wanted.os}/{wanted.architecture}; it has "
            f"{shown(', '.join(has) or 'nothing')}"
        )
    return exact[0]


def resolved(data: bytes, digest: str, name: str) -> Resolved:
    manifest = decoded(data, Manifest, name)
    if not 0 < len(manifest.layers) <= LAYER_LIMIT:
        raise ContainerImageError(
            f"image {name} has {len(manifest.layers)} layers; it may have 1 to {LAYER_LIMIT}"
        )
    if any("encrypted" in layer.media_type for layer in manifest.layers):
        raise ContainerImageError(f"image {name} has encrypted layers; give it decrypted")
    return Resolved(name=name, digest=digest, layers=manifest.layers, config=manifest.config)
