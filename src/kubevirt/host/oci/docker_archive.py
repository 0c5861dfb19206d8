"""Images as `docker save` and `podman save` write them: a tar file with a manifest.json.

Such an archive says no digest of its layers as they are; the image's configuration, whose own digest
is the image's identity, has those of their content.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from kubevirt.host.oci.errors import ContainerImageError
from kubevirt.host.oci.layout import Part, read_member
from kubevirt.host.oci.manifest import Descriptor, Platform, Resolved, digest_of
from kubevirt.host.oci.reference import Reference
from kubevirt.host.oci.source import Blob, Progress
from kubevirt.host.oci.tar import Member, members_of

_MANIFEST: Final = "manifest.json"


class _Entry(msgspec.Struct, frozen=True, kw_only=True, rename="pascal"):
    config: str
    layers: tuple[str, ...]
    repo_tags: tuple[str, ...] | None = None


class _RootFs(msgspec.Struct, frozen=True, kw_only=True):
    diff_ids: tuple[str, ...]


class _Config(msgspec.Struct, frozen=True, kw_only=True):
    rootfs: _RootFs
    architecture: str = ""
    os: str = ""


class DockerArchive:
    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self._layers = dict[str, Member]()

    async def resolve(self, name: str, wanted: Platform) -> Resolved:
        members = members_of(self._path)
        entry = self._entry(members, name)
        configuration = self._member(members, entry.config)
        data = read_member(self._path, configuration)
        config = _decoded(data, _Config, self._path)
        if (config.os, config.architecture) not in ((wanted.os, wanted.architecture), ("", "")):
            raise ContainerImageError(
                f"image {name or self._path} is not made for {wanted.os}/{wanted.architecture}"
            )
        if len(config.rootfs.diff_ids) != len(entry.layers) or not entry.layers:
            raise ContainerImageError(
                f"the image archive {self._path} lists {len(entry.layers)} layers, its "
                f"configuration {len(config.rootfs.diff_ids)}"
            )
        layers = []
        for digest, path in zip(config.rootfs.diff_ids, entry.layers, strict=True):
            member = self._member(members, path)
            try:
                layers.append(Descriptor(digest=digest, size=member.size))
            except ValueError as error:
                raise ContainerImageError(
                    f"the image archive {self._path} is damaged: {error}"
                ) from None
            self._layers[digest] = member
        digest = digest_of(data)
        self._layers[digest] = configuration
        return Resolved(
            name=name or str(self._path),
            digest=digest,
            layers=tuple(layers),
            config=Descriptor(digest=digest, size=len(data)),
        )

    def names(self) -> Sequence[tuple[str, str]]:
        """Of all images in it, each with its digest; empty where that takes more to know."""
        members = members_of(self._path)
        data = read_member(self._path, self._member(members, _MANIFEST))
        found = _decoded(data, tuple[_Entry, ...], self._path)
        return [(tag, "") for entry in found for tag in entry.repo_tags or ()]

    async def fetch(self, layer: Descriptor, image: Resolved, progress: Progress) -> Blob:
        del image
        progress(layer.size, layer.size)
        member = self._layers[layer.digest]
        return Part(self._path, member.offset, member.size)

    def release(self, image: Resolved) -> None:
        """It is not ours to remove."""

    def _entry(self, members: dict[str, Member], name: str) -> _Entry:
        data = read_member(self._path, self._member(members, _MANIFEST))
        found = _decoded(data, tuple[_Entry, ...], self._path)
        if not name:
            if len(found) != 1:
                raise ContainerImageError(
                    f"the image archive {self._path} holds {len(found)} images; say which one"
                )
            return found[0]
        wanted = Reference.parse(name)
        for entry in found:
            if any(Reference.parse(tag) == wanted for tag in entry.repo_tags or ()):
                return entry
        raise ContainerImageError(f"{self._path} holds no image {wanted}", reason="ImageNotFound")

    def _member(self, members: dict[str, Member], path: str) -> Member:
        found = members.get(path)
        if found is None:
            raise ContainerImageError(
                f"the image archive {self._path} is not whole: {path!r} is missing"
            )
        return found


Decoded = TypeVar("Decoded")


def _decoded(data: bytes, kind: type[Decoded], path: Path) -> Decoded:
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise ContainerImageError(f"the image archive {path} cannot be read: {error}") from None
