"""Images that are unpacked to run programs in, once for each digest.

    roots = RootCache(folder, clock)
    image = await roots.unpacked(OciArchive("busybox.tar"), "docker.io/library/busybox")
    root, config = root_of(image), config_of(image)

    <folder>/images/<digest>/rootfs         its files, as the image has them
    <folder>/images/<digest>/config.json    how it is to be run

It is the cache of container disks with another way of unpacking. Programs that belong to root and give its
rights to whoever runs them lie here as they are, so nobody but root comes in.
"""

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, cast

import msgspec

from kubevirt.base import commands
from kubevirt.base.errors import CommandFailed, CommandTimedOut
from kubevirt.host.oci.cache import ImageCache, Layer
from kubevirt.host.oci.errors import CacheError, ContainerImageError
from kubevirt.host.oci.layout import Part
from kubevirt.host.oci.limits import UnpackLimits
from kubevirt.host.oci.manifest import MANIFEST_LIMIT, Resolved, digest_of
from kubevirt.host.oci.root_process import Answer, LayerFile, Request
from kubevirt.host.oci.source import Progress, Source, no_progress
from kubevirt.host.oci.unpacked import UnpackedImage

ROOT_LIMITS: Final = UnpackLimits(entries=500_000, depth=64, timeout_s=1800.0)
_MEMORY_BYTES: Final = 2 << 30
"""Address space: the names of half a million files and Python itself."""
_OPEN_FILES: Final = 1024
_CONFIG: Final = "config.json"
_ROOT: Final = "rootfs"


def root_of(image: UnpackedImage) -> Path:
    return image.folder / _ROOT


def config_of(image: UnpackedImage) -> bytes:
    """The image's own JSON; empty if it has none."""
    try:
        return (image.folder / _CONFIG).read_bytes()
    except FileNotFoundError:
        return b""


class RootCache(ImageCache):
    def _make_folders(self) -> None:
        super()._make_folders()
        self._folder.chmod(0o700)

    async def _fetch(
        self, source: Source, image: Resolved, progress: Progress, work: Path
    ) -> list[Layer]:
        if image.config:
            (work / _CONFIG).write_bytes(await _config(source, image))
        return await super()._fetch(source, image, progress, work)

    async def _unpack(self, image: Resolved, layers: Sequence[Layer], files: Path) -> None:
        (files / _ROOT).mkdir(mode=0o755)
        if (files.parent / _CONFIG).exists():
            shutil.move(files.parent / _CONFIG, files / _CONFIG)
        request = Request(
            name=image.name,
            folder=str(files / _ROOT),
            layers=[_layer_file(each) for each in layers],
            limits=self._limits,
        )
        try:
            done = await commands.run(
                *(sys.executable, "-I", "-m", "kubevirt.host.oci.root_process"),
                stdin=msgspec.json.encode(request),
                timeout_s=self._limits.timeout_s,
                limits=commands.Limits(
                    cpu_s=int(self._limits.timeout_s),
                    memory_bytes=_MEMORY_BYTES,
                    open_files=_OPEN_FILES,
                ),
            )
        except CommandTimedOut:
            raise ContainerImageError(
                f"image {image.name} is refused: it was not unpacked within "
                f"{self._limits.timeout_s:g} s"
            ) from None
        except CommandFailed as error:
            raise CacheError(f"image {image.name} cannot be unpacked now: {error}") from None
        _check(msgspec.json.decode(done.stdout, type=Answer), image, self._folder)


def _check(answer: Answer, image: Resolved, folder: Path) -> None:
    if answer.refused:
        raise ContainerImageError(answer.refused)
    if answer.no_room:
        raise CacheError(
            f"image {image.name} cannot be kept in {folder}: {answer.no_room}; make room there"
        )


async def _config(source: Source, image: Resolved) -> bytes:
    if image.config is None or image.config.size > MANIFEST_LIMIT:
        raise ContainerImageError(f"image {image.name} is refused: its configuration is too large")
    blob = await source.fetch(image.config, image, no_progress)
    with blob.open() as file:
        data = file.read(MANIFEST_LIMIT + 1)
    if digest_of(data) != image.config.digest:
        raise ContainerImageError(
            f"image {image.name} is damaged: its configuration does not match its digest"
        )
    return data


def _layer_file(layer: Layer) -> LayerFile:
    part = cast("Part", layer.blob)  # all sources bring files
    return LayerFile(path=str(part.path), offset=part.offset, size=part.size, digest=layer.digest)
