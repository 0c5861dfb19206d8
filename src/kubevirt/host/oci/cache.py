"""Images that are unpacked already: once for each digest, whoever asks, however many at once.

    <folder>/images/<digest>/        the files of an image; it appears when it is whole
    <folder>/work/<digest>/          what is being made, by the one who holds the lock
    <folder>/locks/<digest>

Several processes share a folder. The first one who wants an image unpacks it, the others wait and
find it. An image that is there is never changed, so a reader needs no lock. One who dies at work
leaves a folder that the next one clears away.
"""

import asyncio
import errno
import os
import shutil
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kubevirt.base.clock import Clock
from kubevirt.base.files import Root
from kubevirt.host.oci import zstd
from kubevirt.host.oci.errors import CacheError, ContainerImageError
from kubevirt.host.oci.layers import ZSTD, Budget, Hashed, uncompressed
from kubevirt.host.oci.layout import Part
from kubevirt.host.oci.limits import LIMITS, UnpackLimits
from kubevirt.host.oci.lock import locked
from kubevirt.host.oci.manifest import Descriptor, Platform, Resolved, this_machine
from kubevirt.host.oci.source import Blob, Progress, Source, no_progress
from kubevirt.host.oci.tar import STEP
from kubevirt.host.oci.unpacked import UnpackedImage
from kubevirt.host.oci.unpacking import LayerUnpacker

_READABLE: Final = 0o755


@dataclass(frozen=True, slots=True)
class Layer:
    blob: Blob
    digest: str | None
    """None if it was checked before."""


class ImageCache:
    def __init__(
        self,
        folder: str | Path,
        clock: Clock,
        *,
        limits: UnpackLimits = LIMITS,
        platform: Platform | None = None,
    ) -> None:
        """`folder` is ours alone, and made if it is missing."""
        self._folder = Path(folder)
        self._clock = clock
        self._limits = limits
        self._platform = platform or this_machine()

    async def unpacked(
        self, source: Source, name: str = "", *, progress: Progress = no_progress
    ) -> UnpackedImage:
        """The image of that name, unpacked now if nobody did so before.

        A source that holds one image only needs no name.
        """
        image = await source.resolve(name, self._platform)
        if image.size > self._limits.packed_bytes:
            raise ContainerImageError(
                f"image {image.name} is refused: it has {image.size} bytes; "
                f"{self._limits.packed_bytes} are the most"
            )
        if found := self.find(image.digest, image.name):
            return found
        with self._told_when_full(image):
            self._make_folders()
            async with locked(self._path("locks", image.digest), self._clock):
                found = self.find(image.digest, image.name)
                return found or await self._make(source, image, progress)

    def find(self, digest: str, name: str = "") -> UnpackedImage | None:
        """The image of that digest, if it is here already."""
        folder = self._path("images", digest)
        return UnpackedImage(name or digest, digest, folder) if folder.is_dir() else None

    def _path(self, kind: str, digest: str) -> Path:
        return self._folder / kind / digest.replace(":", "-")

    def _make_folders(self) -> None:
        for kind in ("images", "locks", "work"):
            (self._folder / kind).mkdir(parents=True, exist_ok=True)
        for folder in (self._folder, self._folder / "images"):
            folder.chmod(_READABLE)  # a guest's launcher is somebody else; the umask may be strict

    async def _make(self, source: Source, image: Resolved, progress: Progress) -> UnpackedImage:
        work = self._path("work", image.digest)
        await asyncio.to_thread(shutil.rmtree, work, ignore_errors=True)
        try:
            work.mkdir(mode=0o700)
            layers = await self._fetch(source, image, progress, work)
            files = work / "files"
            files.mkdir()
            files.chmod(_READABLE)
            await self._unpack(image, layers, files)
            place = self._path("images", image.digest)
            files.rename(place)
            source.release(image)
        finally:
            await asyncio.to_thread(shutil.rmtree, work, ignore_errors=True)
        return UnpackedImage(image.name, image.digest, place)

    async def _fetch(
        self, source: Source, image: Resolved, progress: Progress, work: Path
    ) -> list[Layer]:
        layers = []
        before = 0
        for number, descriptor in enumerate(image.layers):
            blob = await source.fetch(descriptor, image, _shifted(progress, before, image.size))
            before += descriptor.size
            layers.append(await self._prepared(image, descriptor, blob, work / str(number)))
        return layers

    async def _prepared(
        self, image: Resolved, descriptor: Descriptor, blob: Blob, draft: Path
    ) -> Layer:
        """A layer that Python can read. One in zstd is checked first and then unpacked to a file."""
        budget = Budget(image.name, self._limits, threading.Event())
        packed = draft.with_suffix(".zst")
        if not await asyncio.to_thread(_copied_if_zstd, blob, descriptor.digest, packed, budget):
            return Layer(blob, descriptor.digest)
        size = await zstd.decompress(packed, draft, descriptor.size, image.name, self._limits)
        return Layer(Part(draft, 0, size), None)

    async def _unpack(self, image: Resolved, layers: Sequence[Layer], files: Path) -> None:
        stop = threading.Event()
        budget = Budget(image.name, self._limits, stop)
        loop = asyncio.get_running_loop()
        work = loop.run_in_executor(None, _unpack_all, layers, files, budget)
        try:
            async with self._clock.timeout(self._limits.timeout_s):
                await asyncio.shield(work)
        except TimeoutError:
            raise ContainerImageError(
                f"image {image.name} is refused: it was not unpacked within "
                f"{self._limits.timeout_s:g} s"
            ) from None
        finally:
            stop.set()
            # The thread sees it at its next read. Until it ends, the folder is not ours to clear.
            await asyncio.wait([work])
            work.exception()

    @contextmanager
    def _told_when_full(self, image: Resolved) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EROFS):
                raise
            raise CacheError(
                f"image {image.name} cannot be kept in {self._folder}: {error.strerror}; make room "
                f"there"
            ) from None


def _shifted(progress: Progress, before: int, total: int) -> Progress:
    def report(done: int, _: int) -> None:
        progress(before + done, total)

    return report


def _copied_if_zstd(blob: Blob, digest: str, target: Path, budget: Budget) -> bool:
    with blob.open() as file:
        hashed = Hashed(file, budget)
        chunk = hashed.read(len(ZSTD))
        if chunk != ZSTD:
            return False
        with target.open("xb") as copy:
            while chunk:
                copy.write(chunk)
                chunk = hashed.read(STEP)
        hashed.check(digest)
    return True


def _unpack_all(layers: Sequence[Layer], files: Path, budget: Budget) -> None:
    """In a thread: the layers, lowest first."""
    with Root.open(files) as root:
        for layer in layers:
            with layer.blob.open() as file:
                hashed = Hashed(file, budget)
                LayerUnpacker(root, budget).unpack(uncompressed(hashed, budget))
                if layer.digest is not None:
                    hashed.check(layer.digest)
    _reach_the_disk(files)


def _reach_the_disk(folder: Path) -> None:
    """An image that has its name must be whole, also after a power loss: nobody looks again."""
    for path in (*folder.rglob("*"), folder):
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)
