"""What must exist before a guest starts: one value for each volume, told apart by type.

The host side carries them out in any order, and may do so twice. Formats are always stated: nobody
guesses what is in a file that a guest has written to.
"""

from collections.abc import Mapping

import msgspec


class Overlay(msgspec.Struct, frozen=True, kw_only=True, tag="overlay"):
    """A qcow2 file that takes the writes, above an image that stays as it is."""

    volume: str
    path: str
    backing: str
    """Image below; opened read-only, through a path that no symlink leaves."""
    backing_format: str | None = None
    """raw or qcow2; None means: look at the image under limits, and refuse one that has a backing
    file, a data file or encryption of its own.
    """
    backing_is_block: bool = False


class BlankDisk(msgspec.Struct, frozen=True, kw_only=True, tag="blank"):
    """A sparse qcow2 file; one that exists already, after a restart of the launcher, is kept."""

    volume: str
    path: str
    size_bytes: int


class IsoImage(msgspec.Struct, frozen=True, kw_only=True, tag="iso"):
    """An ISO 9660 image with Rock Ridge and Joliet names; equal contents give equal bytes."""

    volume: str
    path: str
    label: str
    files: Mapping[str, bytes]
    """Content by path inside the image, with forward slashes."""


class ExistingDisk(msgspec.Struct, frozen=True, kw_only=True, tag="existing"):
    """A claim that is mounted already, as file system or as block device."""

    volume: str
    path: str
    is_block: bool = False
    read_only: bool = False


class HostImage(msgspec.Struct, frozen=True, kw_only=True, tag="host"):
    """A raw file in a folder of the node."""

    volume: str
    path: str
    create: bool = False
    """Whether to make it, sparse, if it is missing; a file that is there keeps its owner."""
    size_bytes: int | None = None
    shared: bool = False


class MetricsDisk(msgspec.Struct, frozen=True, kw_only=True, tag="metrics"):
    """A small disk that the handler fills with host metrics."""

    volume: str
    path: str


VolumePlan = Overlay | BlankDisk | IsoImage | ExistingDisk | HostImage | MetricsDisk
