"""Images on this machine: an OCI layout, as a folder or packed into a tar file."""

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kubevirt.base.errors import FileTooLarge, UnsafePath
from kubevirt.base.files import Root
from kubevirt.host.oci.errors import CacheError, ContainerImageError, shown
from kubevirt.host.oci.manifest import (
    MANIFEST_LIMIT,
    Descriptor,
    Index,
    Platform,
    Resolved,
    chosen,
    decoded,
    digest_of,
    is_index,
    resolved,
)
from kubevirt.host.oci.reference import Reference
from kubevirt.host.oci.source import Blob, Progress, Slice
from kubevirt.host.oci.tar import Member, members_of

_FULL_NAME: Final = "io.containerd.image.name"
_NAME: Final = "org.opencontainers.image.ref.name"
"""The standard's own: a full name, or just a tag, as the writer likes."""
_DEPTH: Final = 4
"""How deep an index may lead to another index."""


_Read = Callable[[str], bytes | None]
"""Reads a small file by its path in a layout; None if there is none."""


@dataclass(frozen=True)
class Part:
    """A blob that is a file, or a piece of one."""

    path: Path
    offset: int
    size: int

    def open(self) -> io.BufferedIOBase:
        try:
            with Root.open(self.path.parent) as folder:
                return Slice(folder.open_file(self.path.name), self.offset, self.size)
        except FileNotFoundError:
            raise CacheError(f"{self.path} was there and is gone; it is fetched again") from None


class OciFolder:
    """An OCI layout as a folder."""

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)

    async def resolve(self, name: str, wanted: Platform) -> Resolved:
        return find(self._read, name, wanted, str(self._path))

    def names(self) -> Sequence[tuple[str, str]]:
        """Of all images in it, each with its digest."""
        return _names(self._read, str(self._path))

    async def fetch(self, layer: Descriptor, image: Resolved, progress: Progress) -> Blob:
        path = self._path / "blobs" / "sha256" / layer.hex
        part = Part(path, 0, _size_of(path, image.name, layer))
        progress(layer.size, layer.size)
        return part

    def release(self, image: Resolved) -> None:
        """It is not ours to remove."""

    def _read(self, path: str) -> bytes | None:
        try:
            with Root.open(self._path) as root:
                return root.read(path, limit=MANIFEST_LIMIT)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (FileTooLarge, UnsafePath) as error:
            raise ContainerImageError(
                f"the image layout {self._path} is refused: {error}"
            ) from None


class OciArchive:
    """An OCI layout in a tar file, as `skopeo copy … oci-archive:` and `docker save` write it."""

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self._members: Mapping[str, Member] | None = None

    async def resolve(self, name: str, wanted: Platform) -> Resolved:
        self._members = members_of(self._path)
        return find(self._read, name, wanted, str(self._path))

    def names(self) -> Sequence[tuple[str, str]]:
        """Of all images in it, each with its digest."""
        self._members = members_of(self._path)
        return _names(self._read, str(self._path))

    async def fetch(self, layer: Descriptor, image: Resolved, progress: Progress) -> Blob:
        member = (self._members or {}).get(f"blobs/sha256/{layer.hex}")
        if member is None:
            raise _missing(image.name, layer)
        _check_size(image.name, layer, member.size)
        progress(layer.size, layer.size)
        return Part(self._path, member.offset, member.size)

    def release(self, image: Resolved) -> None:
        """It is not ours to remove."""

    def _read(self, path: str) -> bytes | None:
        member = (self._members or {}).get(path)
        return read_member(self._path, member) if member else None


def read_member(archive: Path, member: Member) -> bytes:
    """A small file out of an archive."""
    if member.size > MANIFEST_LIMIT:
        raise ContainerImageError(
            f"the archive {archive} is refused: a manifest in it has {member.size} bytes"
        )
    with Part(archive, member.offset, member.size).open() as file:
        return file.read()


def find(read: _Read, name: str, wanted: Platform, where: str) -> Resolved:
    """Follows the index of a layout to the manifest of an image for a machine."""
    top = read("index.json")
    if top is None:
        raise ContainerImageError(f"{where} is no OCI image layout: it has no index.json")
    index = Index(manifests=_named(decoded(top, Index, where), name, where))
    name = name or where
    for _ in range(_DEPTH):
        descriptor = chosen(index, wanted, name)
        data = _verified(read, descriptor, name)
        if not is_index(data, descriptor.media_type):
            return resolved(data, descriptor.digest, name)
        index = decoded(data, Index, name)
    raise ContainerImageError(f"image {name} is refused: its indexes lead on and on")


def _names(read: _Read, where: str) -> Sequence[tuple[str, str]]:
    top = read("index.json")
    if top is None:
        raise ContainerImageError(f"{where} is no OCI image layout: it has no index.json")
    return [
        (each.annotations.get(_FULL_NAME) or each.annotations.get(_NAME, ""), each.digest)
        for each in decoded(top, Index, where).manifests
    ]


def _named(index: Index, name: str, where: str) -> tuple[Descriptor, ...]:
    """The entries of an image. An index of one image only answers to any name when none is given."""
    if not name:
        if len({each.digest for each in index.manifests}) > 1 and any(
            each.platform is None for each in index.manifests
        ):
            raise ContainerImageError(f"{where} holds several images; say which one")
        return index.manifests
    reference = Reference.parse(name)
    if reference.digest:
        found = tuple(each for each in index.manifests if each.digest == reference.digest)
    else:
        found = tuple(each for each in index.manifests if _is_called(each, reference))
    if not found:
        raise ContainerImageError(f"{where} holds no image {reference}", reason="ImageNotFound")
    return found


def _is_called(descriptor: Descriptor, wanted: Reference) -> bool:
    """By its full name if it has one; some writers know its tag only."""
    full, short = (descriptor.annotations.get(key, "") for key in (_FULL_NAME, _NAME))
    if not full and short == wanted.tag:
        return True
    try:
        return Reference.parse(full or short) == wanted
    except ContainerImageError:
        return False


def _verified(read: _Read, descriptor: Descriptor, name: str) -> bytes:
    data = read(f"blobs/sha256/{descriptor.hex}")
    if data is None:
        raise _missing(name, descriptor)
    if digest_of(data) != descriptor.digest:
        raise ContainerImageError(
            f"image {name} is damaged: its manifest does not match its digest {descriptor.digest}"
        )
    return data


def _missing(name: str, descriptor: Descriptor) -> ContainerImageError:
    return ContainerImageError(f"image {name} is not whole: blob {descriptor.digest} is missing")


def _size_of(path: Path, name: str, descriptor: Descriptor) -> int:
    try:
        size = path.lstat().st_size
    except FileNotFoundError:
        raise _missing(name, descriptor) from None
    _check_size(name, descriptor, size)
    return size


def _check_size(name: str, descriptor: Descriptor, size: int) -> None:
    if size != descriptor.size:
        raise ContainerImageError(
            f"image {name} is damaged: blob {shown(descriptor.digest)} has {size} bytes instead of "
            f"{descriptor.size}"
        )
